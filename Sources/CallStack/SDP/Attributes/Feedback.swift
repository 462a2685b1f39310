/// A kind of RTCP feedback (`a=rtcp-fb`, RFC 4585 §4.2), such as `nack` or `nack pli`.
package struct Feedback: Hashable, Sendable {
  package var text: String

  /// Makes a kind from its text. Letter case and repeated spaces do not matter.
  package init(_ text: some StringProtocol) { self.text = text.lowercased().fields().joined(separator: " ") }

  /// Generic NACK (RFC 4585 §6.2.1).
  package static let nack = Feedback("nack")
  /// Picture loss indication (RFC 4585 §6.3.1).
  package static let pictureLoss = Feedback("nack pli")
  /// Full intra request (RFC 5104 §4.3.1).
  package static let fullIntraRequest = Feedback("ccm fir")
  /// Transport-wide congestion control (draft-holmer-rmcat-transport-wide-cc-extensions).
  package static let transportCC = Feedback("transport-cc")
  /// Receiver estimated maximum bitrate (draft-alvestrand-rmcat-remb).
  package static let remb = Feedback("goog-remb")
  /// Congestion control feedback (RFC 8888 §6).
  package static let ccfb = Feedback("ack ccfb")
}

/// One `a=rtcp-fb` line: a kind of feedback and its payload type, nil for `*`.
struct FeedbackLine {
  let payloadType: UInt8?
  let feedback: Feedback

  init?(_ text: String) {
    let fields = text.fields(maximum: 2)
    guard fields.count == 2 else { return nil }
    if fields[0] == "*" {
      payloadType = nil
    } else {
      guard let number = fields[0].number(UInt8.self), number < 128 else { return nil }
      payloadType = number
    }
    feedback = Feedback(fields[1])
  }
}
