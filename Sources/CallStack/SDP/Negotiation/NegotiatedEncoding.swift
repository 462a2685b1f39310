/// One of the streams in which a track is sent or received.
package struct NegotiatedEncoding: Hashable, Sendable {
  /// The name in the header extension of RFC 8852; nil for a single encoding, which needs none.
  package let rid: String?
  /// Whether the encoding is paused (RFC 8853 section 5.1).
  package let isPaused: Bool
  /// The allowed payload types; empty for all of the section.
  package let payloadTypes: [UInt8]
  /// The receiver's restrictions (RFC 8851 section 5).
  package let parameters: FormatParameters

  static let only = NegotiatedEncoding(rid: nil, isPaused: false, payloadTypes: [], parameters: FormatParameters())
}

extension DescriptionPair {
  /// Returns the encodings that we send: those of ours that the remote side accepts, or the first alone if it does not
  /// support simulcast (RFC 8853 section 5.3).
  func sendEncodings(at index: Int) -> [NegotiatedEncoding] {
    let (ours, theirs) = (local.media[index], remote.media[index])
    return Self.encodings(ours.simulcast?.send ?? [], takenBy: theirs.simulcast?.receive ?? [], of: theirs)
  }

  /// Returns the encodings that we receive.
  func receiveEncodings(at index: Int) -> [NegotiatedEncoding] {
    let (ours, theirs) = (local.media[index], remote.media[index])
    return Self.encodings(theirs.simulcast?.send ?? [], takenBy: ours.simulcast?.receive ?? [], of: ours)
  }

  private static func encodings(
    _ sent: [[Simulcast.Alternative]], takenBy received: [[Simulcast.Alternative]], of receiver: MediaDescription
  ) -> [NegotiatedEncoding] {
    let restrictions = receiver.restrictions
    let both = received.compactMap { alternatives -> NegotiatedEncoding? in
      let chosen = alternatives.first { wanted in sent.contains { $0.contains { $0.id == wanted.id } } }
      guard let chosen else { return nil }
      let restriction = restrictions.first { $0.id == chosen.id }
      let isPaused = chosen.isPaused || sent.contains { $0.contains { $0.id == chosen.id && $0.isPaused } }
      return NegotiatedEncoding(
        rid: chosen.id, isPaused: isPaused, payloadTypes: restriction?.payloadTypes ?? [],
        parameters: restriction?.parameters ?? FormatParameters())
    }
    return both.isEmpty ? [.only] : both
  }
}
