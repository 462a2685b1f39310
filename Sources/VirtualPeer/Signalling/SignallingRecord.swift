internal import CallCore
internal import Formats
internal import Vocabulary

/// The harness's own record of messages: sender, call and fingerprints as they stand in the fields that have those roles
/// in the profile's declarations, whatever the apps say.
struct SignallingRecord {
  private let codec: SignallingCodec
  private let trace: Trace
  private let subject: TraceSubject

  init(codec: SignallingCodec, trace: Trace, subject: String) {
    self.codec = codec
    self.trace = trace
    self.subject = trace.subject(subject)
  }

  /// Records a message of a client, as it reached the server.
  func submitted(_ message: SignallingMessage, by user: String?) {
    guard let content = message.content, let user else { return }
    trace.write(HarnessEvents.messageSubmitted, subject, message.type, user, fingerprints(in: content))
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
      codec.senderField(of: left.type).map { text(of: $0, content) } ?? "",
      user, text(of: .callID, content), fingerprints(in: content), frame ?? 0)
  }

  private func text(of field: String, _ content: MessageContent) -> String {
    switch content[field] {
    case .string(let text)?: text
    case .integer(let number)?: "\(number)"
    default: ""
    }
  }

  private func text(of role: MessageField.Role, _ content: MessageContent) -> String {
    codec.declaration(of: content.type)?.field(role).map { text(of: $0.name, content) } ?? ""
  }

  /// Returns the `a=fingerprint` values (RFC 8122) of the message's description, separated by commas.
  private func fingerprints(in content: MessageContent) -> String {
    guard let field = codec.declaration(of: content.type)?.field(.description) else { return "" }
    guard let description = content[field.name]?.string ?? content[field.name]?["sdp"]?.string else { return "" }
    return description.split(whereSeparator: \.isNewline).filter { $0.hasPrefix(Self.fingerprint) }
      .map { $0.dropFirst(Self.fingerprint.count) }.joined(separator: ",")
  }

  private static let fingerprint = "a=fingerprint:"
}
