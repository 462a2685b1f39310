import CallCore
import PeerSession
import Testing

@testable import LivePeer

/// Two live calls of one machine, and how they end.
@Suite struct LiveCallTests {
  private final class Calls {
    let loop = SocketLoop()
    let caller: LiveCall
    let callee: LiveCall
    private var described: String?

    init(_ adjust: (inout CallSettings) -> Void = { _ in }) throws {
      var settings = CallSettings()
      settings.interfaces = .loopback
      adjust(&settings)
      (caller, callee) = (try LiveCall(settings, loop: loop), try LiveCall(settings, loop: loop))
      for call in [caller, callee] { call.onLocalDescription = { [unowned self] in described = $0.sdp } }
    }

    private func description() throws -> String {
      #expect(loop.turn { described != nil })
      defer { described = nil }
      return try #require(described)
    }

    func offer() throws -> String {
      try caller.offer()
      return try description()
    }

    func answer(_ offer: String) throws -> String {
      try callee.answer(offer)
      return try description()
    }

    /// Turns for so long.
    func pass(_ time: Interval) {
      let timer = loop.makeTimer {}
      timer.deadline = loop.now + time
      #expect(loop.turn { timer.deadline == nil })
      loop.remove(timer)
    }
  }

  @Test(arguments: ["hello", "", "v=0\r\n", "of another call"])
  func `an answer that cannot be used ends the call as protocol-violation`(text: String) throws {
    let calls = try Calls()
    var answer = text
    if text == "of another call" {
      let others = try Calls()
      answer = try others.answer(try others.offer()).replacing("a=mid:0", with: "a=mid:7")
    }
    _ = try calls.offer()
    let error = #expect(throws: SessionError.self) { try calls.caller.accept(answer: answer) }
    calls.caller.fail(try #require(error))
    #expect(calls.caller.end?.code == .protocolViolation && calls.caller.end?.wasUp == false)
  }

  @Test(arguments: ["hello", "", "v=0\r\n"])
  func `an offer that cannot be used ends the call as protocol-violation`(text: String) throws {
    let calls = try Calls()
    let error = #expect(throws: SessionError.self) { try calls.callee.answer(text) }
    calls.callee.fail(try #require(error))
    #expect(calls.callee.end?.code == .protocolViolation && calls.callee.end?.wasUp == false)
  }

  /// The same with another first byte in its fingerprint.
  private static func forged(_ sdp: String) throws -> String {
    var sdp = sdp
    let start = try #require(sdp.firstRange(of: "a=fingerprint:sha-256 ")).upperBound
    let byte = start..<sdp.index(start, offsetBy: 2)
    sdp.replaceSubrange(byte, with: sdp[byte] == "00" ? "01" : "00")
    return sdp
  }

  @Test func `a caller whose answer announces another certificate ends the call as fingerprint-mismatch`() throws {
    let calls = try Calls()
    let answer = try calls.answer(try calls.offer())
    try calls.caller.accept(answer: try Self.forged(answer))
    #expect(calls.loop.turn { calls.caller.end != nil && calls.callee.end != nil })
    #expect(calls.caller.end == CallEnd(.fingerprintMismatch, wasUp: false))
    #expect(calls.callee.end?.code == .dtlsFailed)
  }

  @Test func `a callee whose offer announces another certificate ends the call as fingerprint-mismatch`() throws {
    let calls = try Calls()
    let answer = try calls.answer(try Self.forged(try calls.offer()))
    try calls.caller.accept(answer: answer)
    #expect(calls.loop.turn { calls.caller.end != nil && calls.callee.end != nil })
    #expect(calls.callee.end == CallEnd(.fingerprintMismatch, wasUp: false))
    #expect(calls.caller.end?.code == .dtlsFailed)
  }

  @Test func `an answer that somebody has to carry may take longer than the connection`() throws {
    // Longer than a connection takes on a busy machine.
    let calls = try Calls { $0.setupTimeout = .seconds(1) }
    let answer = try calls.answer(try calls.offer())
    calls.callee.limitSetupOnceAnswerArrives()
    // What our checks say of a caller who does not know of us yet.
    calls.callee.connection.onEvent?(.connectionStateChange(.failed))
    calls.pass(.milliseconds(1_200))
    #expect(calls.callee.end == nil)
    calls.caller.connection.onEvent = nil
    try calls.caller.connection.setRemoteDescription(SessionDescriptionText(.answer, sdp: answer))
    #expect(calls.loop.turn { calls.callee.connection.connectionState == .connected })
    #expect(calls.callee.end == nil)
    calls.callee.hangUp()
    #expect(calls.callee.end == CallEnd(.localHangup, wasUp: true))
  }

  @Test func `an answerer whose call was up and has no pair left ends it as ice-failed`() throws {
    let calls = try Calls()
    let answer = try calls.answer(try calls.offer())
    calls.callee.limitSetupOnceAnswerArrives()
    try calls.caller.accept(answer: answer)
    #expect(calls.loop.turn { calls.callee.connection.connectionState == .connected })
    // What is left once every candidate is gone.
    let tell = try #require(calls.callee.connection.onEvent)
    calls.callee.connection.close()
    tell(.connectionStateChange(.failed))
    #expect(calls.callee.end == CallEnd(.iceFailed, wasUp: true))
  }

  @Test func `without a candidate there is no description to carry, and no call`() throws {
    let calls = try Calls { $0.interfaces.names = ["none"] }
    try calls.caller.offer()
    #expect(calls.loop.turn { calls.caller.end != nil })
    #expect(calls.caller.end == CallEnd(.iceFailed, wasUp: false, detail: "this side has no candidate to offer"))
  }

  @Test func `an answer that nobody carries is given up`() throws {
    let calls = try Calls { $0.carryingTimeout = .milliseconds(20) }
    _ = try calls.answer(try calls.offer())
    calls.callee.limitSetupOnceAnswerArrives()
    #expect(calls.loop.turn { calls.callee.end != nil })
    #expect(calls.callee.end == CallEnd(.setupTimeout, wasUp: false))
  }
}
