import CallCore
import ExternalRecords
import ICE
import PeerSession
import SDP
import Statistics
import Testing
import VirtualPeer

@testable import ExternalPeer

@Suite struct ConnectionStatesTests {
  private static func event(_ name: String, _ state: String) -> JSON {
    ["event": .string(name), "state": .string(state)]
  }

  @Test func `a state that the call has brought is not told again by the event that comes later`() {
    var states = ConnectionStates()
    let first = states.enter(signaling: .haveLocalOffer)
    let second = states.take(Self.event("signalingstatechange", "have-local-offer"))
    #expect(first != nil && second == nil)
    #expect(states.signaling == .haveLocalOffer)
  }

  @Test func `a state that the event has told is not told again by the call`() {
    var states = ConnectionStates()
    let first = states.take(Self.event("signalingstatechange", "have-remote-offer"))
    let second = states.enter(signaling: .haveRemoteOffer)
    #expect(first != nil && second == nil)
  }

  @Test func `states follow the program, and words that are none change nothing`() {
    var states = ConnectionStates()
    let names = ["checking", "connected", "connected", "sleepy", "disconnected"]
    let changes = names.map { states.take(Self.event("iceconnectionstatechange", $0)) != nil }
    #expect(changes == [true, true, false, false, true])
    #expect(states.ice == .disconnected)
    _ = states.take(Self.event("connectionstatechange", "failed"))
    #expect(states.connection == .failed)
    #expect(states.take(Self.event("somethingelse", "new")) == nil)
  }

  @Test func `closing closes every state`() {
    var states = ConnectionStates()
    _ = states.take(Self.event("connectionstatechange", "connected"))
    states.close()
    #expect((states.signaling, states.connection, states.ice) == (.closed, .closed, .closed))
  }

  @Test func `an empty candidate is the end of candidates`() throws {
    var states = ConnectionStates()
    for event: JSON in [["event": "icecandidate", "candidate": .null], ["event": "icecandidate", "candidate": ""]] {
      guard case .iceCandidate(let text, _, _)? = states.take(event) else { throw ExternalError(.harness, "no event") }
      #expect(text == nil)
    }
  }

  @Test func `descriptions lead where webrtc-pc says`() {
    #expect(SignalingState.stable.after(.offer, isLocal: true) == .haveLocalOffer)
    #expect(SignalingState.haveLocalOffer.after(.pranswer, isLocal: false) == .haveRemotePranswer)
    #expect(SignalingState.haveRemoteOffer.after(.answer, isLocal: true) == .stable)
    #expect(SignalingState.haveLocalOffer.after(.rollback, isLocal: true) == .stable)
  }

  @Test func `a local description is posted where its state allows it`() {
    let allowed = [SignalingState.stable, .haveLocalOffer, .haveRemoteOffer].map { $0.allowsLocal(.offer) }
    #expect(allowed == [true, true, false])
    #expect(SignalingState.haveRemoteOffer.allowsLocal(.answer) && !SignalingState.stable.allowsLocal(.answer))
    #expect(!SignalingState.haveLocalOffer.allowsLocal(.rollback))
  }
}

@Suite struct RestartDetectorTests {
  private static func description(_ kind: SessionDescriptionText.Kind, _ fragment: String) -> SessionDescriptionText {
    SessionDescriptionText(kind, sdp: "v=0\r\na=ice-ufrag:\(fragment)\r\n")
  }

  @Test func `new credentials in an offer are a restart of our own`() {
    var detector = RestartDetector()
    let restarts = [("aaaa"), ("aaaa"), ("bbbb")].map { detector.applied(Self.description(.offer, $0), isLocal: true) }
    #expect(restarts == [nil, nil, false])
  }

  @Test func `new credentials in an answer are a restart of the peer's`() {
    var detector = RestartDetector()
    _ = detector.applied(Self.description(.offer, "aaaa"), isLocal: true)
    detector.note(Self.description(.offer, "zzzz"))
    let restart = detector.applied(Self.description(.answer, "bbbb"), isLocal: true)
    #expect(restart == true)
  }

  @Test func `a rollback restarts nothing`() {
    var detector = RestartDetector()
    _ = detector.applied(Self.description(.offer, "aaaa"), isLocal: true)
    let restart = detector.applied(SessionDescriptionText(.rollback, sdp: ""), isLocal: true)
    #expect(restart == nil)
  }
}

@Suite struct LocalCandidatesTests {
  @Test func `a relayed candidate leads over the reflexive one to the interface`() {
    var candidates = LocalCandidates()
    candidates.add("candidate:1 1 udp 2113937151 192.168.7.2 3298 typ host generation 0")
    candidates.add("candidate:2 1 udp 1677729535 203.0.113.2 3298 typ srflx raddr 192.168.7.2 rport 3298")
    candidates.add("candidate:3 1 udp 50339839 203.0.113.5 58485 typ relay raddr 203.0.113.2 rport 3298")
    let chain = candidates.bases(of: IPAddress("203.0.113.5")!)
    #expect(chain == ["203.0.113.5", "203.0.113.2", "192.168.7.2"].map { IPAddress($0)! })
  }

  @Test func `candidates that lead to each other end somewhere, and nonsense leads nowhere`() {
    var candidates = LocalCandidates()
    candidates.add("candidate:1 1 udp 1 203.0.113.2 1 typ srflx raddr 203.0.113.3 rport 1")
    candidates.add("candidate:1 1 udp 1 203.0.113.3 1 typ srflx raddr 203.0.113.2 rport 1")
    candidates.add("candidate:1 1 udp 1 abc.local 1 typ srflx raddr 0.0.0.0 rport 0")
    candidates.add("raddr")
    #expect(candidates.bases(of: IPAddress("203.0.113.2")!).count == 4)
    #expect(candidates.bases(of: IPAddress("10.0.0.1")!) == [IPAddress("10.0.0.1")!])
  }
}

@Suite struct SelectedPairTests {
  private static func summary(_ members: JSON) -> CandidateSummary? {
    CandidateSummary(peerProtocol: members) { $0.isIPv6 ? "cellular" : "wifi" }
  }

  @Test func `one end of a pair is what the program tells of it`() throws {
    let relay = try #require(
      Self.summary([
        "candidateType": "relay", "address": "203.0.113.5", "port": 58_485, "relayProtocol": "tcp",
      ]))
    #expect(relay.candidateType == "relay" && relay.endpoint == Endpoint("203.0.113.5:58485")!)
    #expect(relay.networkType == "wifi" && relay.relayProtocol == "tcp")
    let named = try #require(Self.summary(["candidateType": "host", "address": "abc.local", "port": -1]))
    #expect(named.endpoint == Endpoint(.anyIPv4, port: 0))
  }

  @Test func `words that nobody knows are not taken over`() {
    #expect(Self.summary(["candidateType": "hosted", "address": "203.0.113.5"]) == nil)
    #expect(Self.summary(["candidateType": 7]) == nil)
    #expect(CandidateSummary(peerProtocol: nil) { _ in "wifi" } == nil)
    #expect(Self.summary(["candidateType": "relay", "relayProtocol": "sctp"])?.relayProtocol == nil)
    // Only a relay is reached by something.
    #expect(Self.summary(["candidateType": "host", "relayProtocol": "udp"])?.relayProtocol == nil)
  }
}

@Suite struct ProgramStatisticsTests {
  @Test func `objects become entries with their kind and their plain members`() throws {
    let text = #"{"a":{"type":"inbound-rtp","kind":"audio","packetsLost":3,"jitter":0.5,"x":[1],"on":true},"b":7}"#
    let report = StatsReport(peerProtocol: try JSON(parsing: text.utf8))
    #expect(report.entries.map(\.id) == ["a"])
    let entry = try #require(report.first("inbound-rtp", kind: "audio"))
    #expect(entry["packetsLost"] == .integer(3) && entry["jitter"] == .real(0.5) && entry["on"] == .flag(true))
    #expect(entry["x"] == nil)
    #expect(StatsReport(peerProtocol: nil).entries.isEmpty)
  }
}
