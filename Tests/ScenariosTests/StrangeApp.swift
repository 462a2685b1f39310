import CallCore
import Formats
import PeerSession
import Profiles
import SCTP
import SDP
import VirtualPeer
import Vocabulary

/// The Knotos app with what it never does itself: it moves its machine where the vocabulary does not let it, writes messages
/// that are not as declared, and has connections between two ends of its own whose tracks and descriptions change, and which
/// have a data channel.
final class StrangeApp: CallApp {
  static let vocabulary = {
    let known = KnotosApp.vocabulary
    let messages = known.messages.map { message in
      MessageDeclaration(
        message.name, message.direction, message.summary, provenance: message.provenance,
        fields: (message.fields ?? []) + [MessageField("more", .string, "what no message has")])
    }
    return ProfileVocabulary(
      profile: "strange", summary: "", machines: known.machines, actions: known.actions, messages: messages,
      endCodes: known.endCodes, errorCodes: known.errorCodes, values: known.values, settings: known.settings)
  }()

  static var catalogue: ProfileCatalogue {
    get throws { try ProfileCatalogue([Profile(app: StrangeApp.self, server: KnotosServer.self)]) }
  }

  private let environment: PeerEnvironment
  private let app: KnotosApp
  private var pairs: [Pair] = []

  init(environment: PeerEnvironment) {
    self.environment = environment
    app = KnotosApp(environment: environment)
  }

  func start() { app.start() }

  func perform(_ action: UserAction) throws(ActionError) {
    if action.name == "call" {
      environment.trace.enter("call.state", "ended", on: "a mistake")
      do {
        try talkToItself()
      } catch {
        throw ActionError("\(error)")
      }
    }
    try app.perform(action)
  }

  func networkChanged() { app.networkChanged() }

  func shutDown() {
    for pair in pairs { pair.close() }
    app.shutDown()
  }

  private func talkToItself() throws(SessionError) {
    let (sound, forged) = (Pair(environment.connections), Pair(environment.connections))
    pairs = [sound, forged]
    for pair in pairs { try pair.a.addTrack() }
    try sound.openChannel()
    try sound.negotiate()
    try forged.negotiate { offer in
      offer.replacing(/a=fingerprint:sha-256 (..):(..):/) { "a=fingerprint:sha-256 \($0.2):\($0.1):" }
    }
    let clock = environment.clock
    clock.schedule(after: .seconds(1)) { for pair in [sound, forged] { try? pair.exchangeCandidates() } }
    clock.schedule(after: .seconds(3)) { try? sound.removeTrack() }
    clock.schedule(after: .seconds(4)) { try? sound.stopTransceiver() }
    clock.schedule(after: .seconds(6)) { sound.a.close() }
  }
}

/// Two connections of one app, with each other.
private final class Pair {
  private final class End: PeerConnectionDelegate {
    let connection: any PeerConnection
    var candidates: [(String, mid: String, index: Int)] = []

    init(_ connection: any PeerConnection) {
      self.connection = connection
      connection.delegate = self
    }

    func connection(_ connection: any PeerConnection, did event: SessionEvent) {
      switch event {
      case .iceCandidate(let text?, let mid, let index): candidates.append((text, mid, index))
      case .dataChannelStateChange(let channel, .open):
        connection.setBufferedAmountLowThreshold(1_000, of: channel)
        try? connection.send(.binary([UInt8](repeating: 1, count: 50_000)), on: channel)
      default: break
      }
    }
  }

  private let ends: (a: End, b: End)
  var a: any PeerConnection { ends.a.connection }
  var b: any PeerConnection { ends.b.connection }

  init(_ connections: PeerConnectionFactory) { ends = (End(connections.make()), End(connections.make())) }

  /// - Parameter change: makes of the offer what the other end gets.
  func negotiate(_ change: (String) -> String = { $0 }) throws(SessionError) {
    let offer = try a.createOffer()
    try a.setLocalDescription(offer)
    try b.setRemoteDescription(SessionDescriptionText(.offer, sdp: change(offer.sdp)))
    let answer = try b.createAnswer()
    try b.setLocalDescription(answer)
    try a.setRemoteDescription(answer)
  }

  func openChannel() throws(SessionError) { _ = try a.createDataChannel("chat") }

  func exchangeCandidates() throws(SessionError) {
    let refused = "candidate:1 1 udp 2122260223 224.0.0.1 5000 typ host"
    try a.addICECandidate(refused, mid: ends.b.candidates[0].mid, mLineIndex: 0)
    for (from, to) in [(ends.a, b), (ends.b, a)] {
      for (text, mid, index) in from.candidates { try to.addICECandidate(text, mid: mid, mLineIndex: index) }
    }
  }

  func removeTrack() throws(SessionError) {
    try a.removeTrack(a.transceivers[0].id)
    try negotiate()
  }

  func stopTransceiver() throws(SessionError) {
    try a.stop(a.transceivers[0].id)
    try negotiate()
  }

  func close() {
    a.close()
    b.close()
  }
}
