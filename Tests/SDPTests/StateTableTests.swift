import Testing

@testable import SDP

/// Every method in every state: allowed, or refused with `wrongState` and without effect (RFC 9429 §3.2, figure 2).
struct StateTableTests {
  enum Method: String, CaseIterable, Sendable {
    case createOffer, createAnswer, rollback
    case localOffer, localPranswer, localAnswer, remoteOffer, remotePranswer, remoteAnswer
  }

  private static let table: [SignalingState: [Method: SignalingState]] = [
    .stable: [.createOffer: .stable, .localOffer: .haveLocalOffer, .remoteOffer: .haveRemoteOffer],
    .haveLocalOffer: [
      .createOffer: .haveLocalOffer, .localOffer: .haveLocalOffer, .rollback: .stable,
      .remotePranswer: .haveRemotePranswer, .remoteAnswer: .stable,
    ],
    .haveRemoteOffer: [
      .createAnswer: .haveRemoteOffer, .remoteOffer: .haveRemoteOffer, .rollback: .stable,
      .localPranswer: .haveLocalPranswer, .localAnswer: .stable,
    ],
    .haveLocalPranswer: [
      .createAnswer: .haveLocalPranswer, .localPranswer: .haveLocalPranswer, .localAnswer: .stable,
    ],
    .haveRemotePranswer: [.remotePranswer: .haveRemotePranswer, .remoteAnswer: .stable],
    .closed: [:],
  ]

  /// A session in the state, and the last offer and answer that are about.
  private struct Prepared: ~Copyable {
    var side = Side("A")
    var far = Side("B")
    var own = SessionDescription(origin: Origin(sessionID: "0", version: 0))
    var foreign = SessionDescription(origin: Origin(sessionID: "0", version: 0))

    init(_ state: SignalingState) throws {
      try side.add(.audio, "mic")
      try far.add(.audio, "mic")
      switch state {
      case .stable, .closed:
        own = try side.session.createOffer(side.parameters)
        foreign = try far.offer()
      case .haveLocalOffer, .haveRemotePranswer:
        own = try side.offer()
        try far.session.setRemoteDescription(.offer, own)
        foreign = try far.answer()
        if state == .haveRemotePranswer { try side.session.setRemoteDescription(.pranswer, foreign) }
      case .haveRemoteOffer, .haveLocalPranswer:
        foreign = try far.offer()
        try side.session.setRemoteDescription(.offer, foreign)
        own = try side.session.createAnswer(side.parameters)
        if state == .haveLocalPranswer { try side.session.setLocalDescription(.pranswer, own) }
      }
      if state == .closed { side.session.close() }
    }

    mutating func call(_ method: Method) throws(JSEPError) {
      switch method {
      case .createOffer: _ = try side.session.createOffer(side.parameters)
      case .createAnswer: _ = try side.session.createAnswer(side.parameters)
      case .rollback: try side.session.rollback()
      case .localOffer: try side.session.setLocalDescription(.offer, own)
      case .localPranswer: try side.session.setLocalDescription(.pranswer, own)
      case .localAnswer: try side.session.setLocalDescription(.answer, own)
      case .remoteOffer: try side.session.setRemoteDescription(.offer, foreign)
      case .remotePranswer: try side.session.setRemoteDescription(.pranswer, foreign)
      case .remoteAnswer: try side.session.setRemoteDescription(.answer, foreign)
      }
    }
  }

  @Test(arguments: SignalingState.allCases, Method.allCases)
  func `a method leads where the table says or is refused`(_ state: SignalingState, _ method: Method) throws {
    var prepared = try Prepared(state)
    let before = prepared.side.session.signalingState
    #expect(before == state)
    let expected = Self.table[state]?[method]
    var refusal: JSEPError?
    do throws(JSEPError) { try prepared.call(method) } catch { refusal = error }
    let after = prepared.side.session.signalingState
    #expect(refusal == (expected == nil ? .wrongState(state) : nil))
    #expect(after == expected ?? state)
  }

  @Test func `a closed session takes no transceiver, candidate or restart`() throws {
    var side = Side("A")
    side.session.close()
    #expect(throws: JSEPError.wrongState(.closed)) { try side.add(.audio, "mic") }
    #expect(throws: JSEPError.wrongState(.closed)) { try side.session.restartICE() }
    #expect(throws: JSEPError.wrongState(.closed)) { try side.session.addRemoteCandidate("", mid: "0") }
  }

  @Test func `only the description created last can be set`() throws {
    var side = Side("A")
    try side.add(.audio, "mic")
    var munged = try side.session.createOffer(side.parameters)
    munged.media[0].attributes.append("x-munged")
    #expect(throws: JSEPError.modifiedDescription) { try side.session.setLocalDescription(.offer, munged) }
    let state = side.session.signalingState
    #expect(state == .stable)
  }

  @Test func `an offer needs something to offer`() {
    var side = Side("A")
    #expect(throws: JSEPError.nothingToNegotiate) { try side.session.createOffer(side.parameters) }
  }
}
