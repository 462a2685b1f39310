/// Advice about keys of audio that lack what they work on.
enum MediaChecks {
  /// Only a real encoder reads them.
  private static let ofEncoder = ["complexity", "packet_loss_hint"]

  /// - Parameter root: the scenario with its peers as they are, whatever file their keys stand in.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for peer in scenario.peers {
      let audio = root["peers"]?[peer.name]?["audio"]
      for key in ofEncoder {
        // A peer of another file may be used with real media elsewhere.
        guard let span = audio?.entry(key)?.keySpan, span.file == 0 else { continue }
        let problem = "'\(key)' changes nothing: synthetic media have no encoder; write media: real"
        reading.note(fault: scenario.media == .synthetic ? problem : nil, key: key, at: span)
      }
      checkFEC(of: peer, audio, scenario, &reading)
    }
  }

  /// It is sent to who asks for it, by who wants it: without the key everybody does both.
  private static func checkFEC(
    of peer: Scenario.Peer, _ audio: YAMLNode?, _ scenario: Scenario, _ reading: inout Reading
  ) {
    guard peer.audio.fec == true, let span = audio?.entry("fec")?.keySpan, span.file == 0 else { return }
    let others = scenario.peers.filter { $0.name != peer.name && $0.hasCallStack }
    let isAlone = !others.isEmpty && others.allSatisfy { $0.audio.fec == false }
    let problem = "'fec' changes nothing: it needs both sides, and no other peer has it on"
    reading.note(fault: isAlone ? problem : nil, key: "fec", at: span)
  }
}
