import CallCore
import ScenarioJudge
import Testing

@testable import ScenarioRun

/// Messages and events that a fault holds: what counts as met, and what the end of the run cuts short.
@Suite struct HeldMessageTests {
  private func lateEvents(_ event: String) -> String {
    """
    callsim: 1
    id: test
    peers: { alice: { profile: knotos, network: internet }, bob: { profile: knotos, network: internet } }
    timeline:
      - { at: 0s, fault: device.events-late, peer: bob, event: \(event), by: 2s, for: 20s }
      - { at: 0s, do: alice.call, to: bob }
      - { id: accept, when: bob.call.state == ringing, do: bob.accept }
      - { mark: late, after: 1900ms, of: accept }
      - { at: 22s, do: alice.hangup }
    expect:
      - { eventually: alice.call.state == connected, within: 1s, of: accept }
      - { never: bob.call.state == connected, between: [accept, late] }
      - { eventually: bob.call.state == connected, within: 2500ms, of: accept }
    """
  }

  @Test func `an event of a connection that is late reaches the app after others`() throws {
    let result = try play(lateEvents("connectionstatechange"))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `only the named event is late`() throws {
    let result = try play(lateEvents("iceconnectionstatechange"))
    #expect(result.verdict == .fail, "\(result.findings)")
  }

  @Test func `a late event that never comes meets nothing`() throws {
    let result = try play(lateEvents("removetrack"))
    #expect(result.findings.contains { $0.actual == "it met nothing: no such event came while it lasted" })
  }

  /// Alice calls Bob at 1 s, who accepts.
  private func call(
    with entries: String, ending: String = "run: 20s",
    expect: String = "{ eventually: bob.call.state == ringing, within: 5s, of: start }"
  ) throws -> RunResult {
    try play(
      """
      callsim: 1
      id: test
      peers: { alice: { profile: knotos, network: home }, bob: { profile: knotos, network: home } }
      \(ending)
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
      \(entries)
      expect: [\(expect)]
      """)
  }

  @Test func `an event that has not come is not made up for by another fault's`() throws {
    let result = try call(
      with: """
          - { id: short, at: 0s, fault: device.events-late, peer: bob, event: icecandidate, by: 1ms }
          - { id: long, at: 0s, fault: device.events-late, peer: bob, event: connectionstatechange, by: 18500ms }
        """)
    #expect(result.findings.map(\.title) == ["timeline entry 'long'"])
    #expect(result.findings.allSatisfy { $0.actual.hasPrefix("connectionstatechange was to come at ") })
  }

  @Test func `an event that the app did not get before it gave up was late`() throws {
    let result = try call(
      with: """
          - { id: late, at: 0s, fault: device.events-late, peer: bob, event: connectionstatechange, by: 18500ms }
          - { at: 15s, do: alice.hangup }
        """)
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `a delayed message that has not come is not made up for by another`() throws {
    let result = try call(
      with: """
          - { id: delay, at: 0s, fault: signal.delay, message: call_hangup, by: 5s }
          - { at: 4s, send: call_hangup, from: alice, to: bob, fields: { callId: other } }
          - { at: 18s, do: alice.hangup }
        """)
    #expect(result.findings.map(\.title) == ["timeline entry 'delay'"])
  }

  @Test func `an event of an older fault that is as long does not count for a younger one`() throws {
    let result = try call(
      with: """
          - { id: A, at: 0s, fault: device.events-late, peer: bob, event: connectionstatechange, by: 3s, for: 8s }
          - { id: B, at: 2s, fault: device.events-late, peer: bob, event: connectionstatechange, by: 3s }
          - { at: 10s, do: bob.hangup }
        """)
    #expect(result.findings.map(\.title) == ["timeline entry 'B'"], "\(result.findings)")
  }

  @Test(arguments: ["satellite, ice: { policy: relay }", "home"])
  func `candidates that come too late are not put into the description`(network: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      run: 20s
      topology: { turn: true }
      peers: { alice: { profile: knotos, network: \(network) }, bob: { profile: knotos, network: home } }
      timeline:
        - { id: call, at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { id: inline, at: 0s, fault: signal.corrupt, message: call_offer, mutation: inline-candidates }
      expect: [{ eventually: bob.call.state == ringing, within: 5s, of: call }]
      """)
    #expect(result.findings.map(\.title) == (network == "home" ? [] : ["timeline entry 'inline'"]))
  }

  @Test func `a delay that holds pings alone, and releases none, is cut short`() throws {
    // The server pings at 25 s.
    let result = try play(
      """
      callsim: 1
      id: test
      run: 40s
      peers: { alice: { profile: knotos, network: home } }
      timeline: [{ id: delay, at: 10s, fault: signal.delay, by: 25s }]
      expect: [{ never: alice.call.state == calling }]
      """)
    #expect(result.findings.map(\.title) == ["timeline entry 'delay'"], "\(result.findings)")
  }

  @Test func `a firing that met nothing does not make up for one that the end cuts short`() throws {
    let result = try call(
      with: """
          - { id: delay, every: 8s, times: 2, fault: signal.delay, message: call_hangup, by: 3s, for: 2s }
          - { id: bye, at: 16500ms, do: alice.hangup }
        """, ending: "run: 19200ms", expect: "{ eventually: alice.call.state == ended, within: 1s, of: bye }")
    #expect(result.findings.map(\.title) == ["timeline entry 'delay'"], "\(result.findings)")
  }

  @Test func `a reordering whose message is passed after its end is met`() throws {
    let result = try call(
      with: """
          - { at: 5s, fault: signal.reorder, message: call_hangup, from: alice, for: 5500ms }
          - { at: 10s, do: alice.hangup }
          - { at: 10600ms, send: call_decline, from: alice, to: bob, fields: { callId: alice-1 } }
        """)
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `a run does not wait for what is held while it waits`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: home, settings: { ice-restart: true } }
        bob: { profile: knotos, network: home, settings: { ice-restart: true } }
      timeline:
        - { id: call, at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { at: 5s, fault: signal.delay, by: 15s, message: ice_candidate }
        - { at: 6s, fault: link.flap, link: alice/home, down: 6500ms, up: 4s }
        - { mark: m, at: 20s }
      expect: [{ eventually: bob.call.state == ringing, within: 5s, of: call }]
      """)
    #expect(result.virtualDuration < .seconds(60))
  }

  @Test(arguments: ["signal.blackhole, to: bob", "signal.drop, message: call_hangup", "signal.blackhole"])
  func `what a fault has held meets the faults that have begun since`(fault: String) throws {
    let result = try call(
      with: """
          - { at: 0s, fault: signal.delay, message: call_hangup, by: 2s }
          - { at: 11s, fault: \(fault), for: 2s }
          - { id: bye, at: 10s, do: alice.hangup }
        """, expect: "{ never: bob.call.state == ended, between: [bye, end] }")
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `without an end that the file sets, a run waits for two delays of one message`() throws {
    let result = try call(
      with: """
          - { at: 0s, fault: signal.delay, message: call_hangup, by: 3s }
          - { at: 0s, fault: signal.delay, message: call_hangup, by: 4s }
          - { at: 8s, do: alice.hangup }
        """, ending: "")
    #expect(result.findings.isEmpty, "\(result.findings)")
    #expect(result.virtualDuration > .seconds(15))
  }

  @Test func `without an end that the file sets, a run waits for a message that equals a released one`() throws {
    let result = try call(
      with: """
          - { at: 0s, fault: signal.delay, message: call_hangup, by: 2s }
          - { at: 7s, do: alice.hangup }
          - { at: 11s, send: call_hangup, from: alice, to: bob, like: call_hangup }
        """, ending: "")
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `a limit cuts the second of two delays short`() throws {
    let result = try call(
      with: """
          - { at: 0s, fault: signal.delay, message: call_hangup, by: 3s }
          - { id: second, at: 0s, fault: signal.delay, message: call_hangup, by: 6s }
          - { at: 8s, do: alice.hangup }
        """, ending: "limits: { virtual: 15s }")
    #expect(result.findings.map(\.title) == ["timeline entry 'second'"], "\(result.findings)")
  }

  @Test func `what is held after the run has stopped waiting is not cut short`() throws {
    let result = try call(
      with: """
          - { at: 0s, fault: signal.delay, message: call_hangup, by: 30s }
          - { at: 7s, do: alice.hangup }
        """, ending: "")
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `an event that becomes late after the run has stopped waiting is not cut short`() throws {
    let result = try call(
      with: """
          - { at: 0s, fault: device.events-late, peer: bob, by: 2s }
          - { at: 0s, fault: signal.delay, message: ice_candidate, by: 3s }
        """, ending: "")
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `a held message counts as cut short although it was damaged`() throws {
    let result = try call(
      with: """
          - { at: 0s, fault: signal.corrupt, message: call_hangup, to: bob, mutation: truncated }
          - { id: delay, at: 0s, fault: signal.delay, message: call_hangup, by: 5s }
          - { at: 4s, send: call_hangup, from: alice, to: bob, fields: { callId: other } }
          - { at: 18s, do: alice.hangup }
        """)
    #expect(result.findings.map(\.title) == ["timeline entry 'delay'"], "\(result.findings)")
  }

  @Test func `a black hole that hides only a closing is met`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      run: 12s
      peers: { alice: { profile: knotos, network: home }, bob: { profile: knotos, network: home } }
      timeline:
        - { at: 4s, fault: signal.blackhole, for: 3s }
        - { id: cut, at: 5s, fault: signal.disconnect, peer: bob, for: 1s }
        - { mark: over, at: 7s }
      expect: [{ always: bob.socket.state == connected, between: [cut, over] }]
      """)
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `candidates of an earlier generation are not put into a description`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      run: 30s
      topology: { turn: true }
      peers:
        alice: { profile: knotos, network: satellite, ice: { policy: relay }, settings: { ice-restart: true } }
        bob: { profile: knotos, network: home, settings: { ice-restart: true } }
      timeline:
        - { id: call, at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { at: 12s, do: alice.ice-restart }
        - { id: inline, at: 11s, fault: signal.corrupt, message: call_offer, mutation: inline-candidates }
      expect: [{ eventually: bob.call.state == connected, within: 9s, of: call }]
      """)
    #expect(result.findings.map(\.title) == ["timeline entry 'inline'"], "\(result.findings)")
  }

  @Test func `forged packets that arrive after their fault has ended are met`() throws {
    let result = try call(
      with: """
          - { at: 4s, fault: link.set, link: bob/home, delay: 100ms }
          - { at: 5s, fault: packet.forge, protocol: rtp, to: bob, for: 50ms }
        """)
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `a connection that ends in the middle of what has arrived hears no more`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers: { alice: { profile: knotos, network: internet } }
      run: 5s
      timeline:
        - { at: 0s, fault: signal.duplicate }
        - { at: 0s, fault: signal.disconnect, peer: alice, for: 2s }
      expect:
        - { never: alice.call.state == calling }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: ["connectionstatechange", "iceconnectionstatechange"])
  func `events that are late beyond the call leave no timer behind`(event: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      run: 30s
      peers: { alice: { profile: knotos, network: wifi }, bob: { profile: knotos, network: wifi } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 2s, do: bob.accept }
        - { at: 0s, fault: device.events-late, peer: alice, event: \(event), by: 29s, for: 5s }
        - { at: 10s, do: alice.hangup }
      expect:
        - { eventually: bob.call.state == connected, within: 5s }
      """)
    #expect(!result.findings.contains { $0.kind == .invariant }, "\(result.findings)")
  }
}
