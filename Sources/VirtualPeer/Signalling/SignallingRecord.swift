internal import CallCore
internal import Formats
internal import Vocabulary

/// The harness's own record of messages that leave a server: sender, call and fingerprints as they stand in the fields
/// that have those roles in the profile's declarations, whatever the apps say.
struct SignallingRecord {
  private let codec: SignallingCodec
  private let trace: Trace
  private let subject: TraceSubject

  init(codec: SignallingCodec, trace: Trace, subject: String) {
    self.codec = codec
    self.trace = trace
    self.subject = trace.subject(subject)
  }

  /// Records a message that leaves the server for a client.
  ///
  /// - Parameters:
  ///   - message: the message before faults; it has the content that a fault of the whole text does not decode.
  ///   - frame: the identity of its frame; nil if none was sent.
  func forwarded(
    _ changed: SignallingMessage, unchanged message: SignallingMessage, to user: String?, frame: UInt64?
  ) {
    guard let user else { return }
    let left = changed.text == message.text ? message : codec.message(changed.text, from: nil, to: user)
    guard let content = left.content else { return }
    trace.write(
      HarnessEvents.messageForwarded, subject, left.type,
      Self.text(codec.senderField(of: left.type).flatMap { content[$0] }),
      user, Self.text(codec.values(of: .callID, in: content).first), fingerprints(in: content), frame ?? 0)
  }

  private static func text(_ value: JSON?) -> String {
    switch value {
    case .string(let text)?: text
    case .integer(let number)?: "\(number)"
    default: ""
    }
  }

  /// Returns the `a=fingerprint` values (RFC 8122) of the message's description, separated by commas.
  private func fingerprints(in content: MessageContent) -> String {
    guard let description = codec.values(of: .description, in: content).first?.string else { return "" }
    return description.split(whereSeparator: \.isNewline).filter { $0.hasPrefix(Self.fingerprint) }
      .map { $0.dropFirst(Self.fingerprint.count) }.joined(separator: ",")
  }

  private static let fingerprint = "a=fingerprint:"
}
