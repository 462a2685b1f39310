/// Tiny scenarios.
enum Fixture {
  static func scenario(_ id: String, more: String = "", code: String = "local-hangup", entry: String = "")
    -> String
  {
    """
    callsim: 1
    id: \(id)
    \(more)
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifi }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
      - { id: bye, after: 3s, of: bob.connected, do: alice.hangup }\(entry.isEmpty ? "" : "\n  " + entry)
    expect:
      - { ends: alice, code: \(code), within: 1s, of: bye, why: hanging up must end the call }

    """
  }

  /// Two mistakes, on lines that the tests name.
  static let broken = """
    callsim: 1
    id: broken
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifii }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { id: drop, at: 5s, fault: link.dwon, link: wifi }
    expect:
      - { ends: alice, code: ring-timeout, within: 70s, of: start }
    """
}
