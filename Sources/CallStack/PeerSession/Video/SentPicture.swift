package import CallCore

/// A picture that a source of video sends.
package struct SentPicture: Hashable, Sendable {
  package let ssrc: UInt32
  /// The RTP timestamp.
  package let timestamp: UInt32
  package let captured: Instant
}
