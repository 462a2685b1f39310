public import CallCore

/// Decoded sound of a remote track, as an app's sink gets it.
public struct AudioBuffer: Hashable, Sendable {
  /// The samples of all channels, interleaved.
  public let samples: [Int16]
  /// The number of channels.
  public let channelCount: Int
  /// The samples of a channel in a second.
  public let sampleRate: Int
  /// The time at which the buffer is played.
  public let time: Instant

  /// The number of samples of each channel.
  public var frameCount: Int { samples.count / max(1, channelCount) }
}
