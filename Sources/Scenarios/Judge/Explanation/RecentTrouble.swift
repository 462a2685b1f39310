internal import CallCore

/// The last things a peer did or met that a person would want to know: errors, refusals, failures.
final class RecentTrouble {
  private struct Kind: Sendable {
    let name: String
    /// The sentence, from the event's fields in order.
    let say: @Sendable ([String]) -> String
  }

  private static let kinds: [Kind] = [
    Kind(name: "code") { "raised \($0[0])" },
    Kind(name: "call.ended") { "ended with \($0[0])" },
    Kind(name: "action-refused") { "the app refused \($0[0]): \($0[1])" },
    Kind(name: "illegal-transition") { "\($0[0]) may not go from \($0[1]) to \($0[2]) on \($0[3])" },
    Kind(name: "message.rejected") { "rejected a message: \($0[0])" },
    Kind(name: "ice.server-error") { fields in
      switch fields[1] {
      // W3C webrtc-pc, RTCPeerConnectionIceErrorEvent.
      case "701": "\(fields[0]) was not reached: \(fields[2])"
      case "0": "\(fields[0]) answered with an error without a code: \(fields[2])"
      default: "\(fields[0]) answered \(fields[1]): \(fields[2])"
      }
    },
    Kind(name: "ice.candidate-refused") { "did not check the candidate '\($0[0])': \($0[1])" },
    Kind(name: "dtls.failed") { "DTLS failed: \($0[0])" },
    Kind(name: "consent.expired") { "consent expired for \($0[0])" },
  ]
  private static let perPeer = 4

  private var events: [(peer: String, text: String, time: Instant)] = []

  init(_ context: MonitorContext) {
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      for kind in Self.kinds {
        watch.listen(watch.slot(peer, kind.name)) { [unowned self, unowned watch] record in
          let fields = (0..<Int(record.fieldCount)).map { watch.trace.datum(at: $0, of: record).description }
          let padded = fields + Array(repeating: "", count: max(0, 4 - fields.count))
          events.append((peer, kind.say(padded), record.time))
        }
      }
    }
  }

  /// `bob: 192.0.2.7:3478 answered 403: Forbidden at 19.62 s`
  func lines(of peers: [String], at time: Instant) -> [String] {
    peers.flatMap { peer in
      events.filter { $0.peer == peer }.suffix(Self.perPeer).map { "\(peer): \($0.text) at \(Wording.time($0.time))" }
    }
  }
}
