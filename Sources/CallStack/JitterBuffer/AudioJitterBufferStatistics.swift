internal import Codecs

/// The counters W3C's `inbound-rtp` has for an audio jitter buffer, with its names. Samples are counted a channel.
public struct AudioJitterBufferStatistics: Hashable, Sendable {
  /// Seconds that emitted samples waited, summed over samples.
  public var jitterBufferDelay = 0.0
  /// The target delay, in seconds, summed over emitted samples.
  public var jitterBufferTargetDelay = 0.0
  /// The target the network alone asks for, without ``AudioJitterBuffer/Settings/minimumDelay``, summed likewise.
  public var jitterBufferMinimumDelay = 0.0
  public var jitterBufferEmittedCount: Int64 = 0
  /// All samples played since the first packet, concealed ones included.
  public var totalSamplesReceived: Int64 = 0
  public var concealedSamples: Int64 = 0
  public var silentConcealedSamples: Int64 = 0
  public var concealmentEvents: Int64 = 0
  public var insertedSamplesForDeceleration: Int64 = 0
  public var removedSamplesForAcceleration: Int64 = 0
  /// Packets that carried redundancy, and those whose redundancy was not needed.
  public var fecPacketsReceived: Int64 = 0
  public var fecPacketsDiscarded: Int64 = 0
  /// Packets that came too late, or were thrown away to catch up. Duplicates are not among them.
  public var packetsDiscarded: Int64 = 0
  /// Seconds from the arrival of a packet until it was decoded, summed over its samples.
  public var totalProcessingDelay = 0.0
  var loudness = AudioLevelMeter()
  public var totalAudioEnergy: Double { loudness.totalEnergy }
  public var totalSamplesDuration: Double { loudness.totalDuration }
  /// The peak of a moment ago, 1 being full scale.
  public var audioLevel: Double { loudness.level }

  /// Beyond W3C: samples restored from redundancy.
  public var recoveredSamples: Int64 = 0
  /// Beyond W3C: samples of comfort noise in a sender's pauses, which are no loss.
  public var comfortSamples: Int64 = 0
  /// Beyond W3C: packets no decoder could read.
  public var malformedPackets: Int64 = 0
  public var duplicatePackets: Int64 = 0
  /// Beyond W3C: how often the buffer started afresh after a jump of sequence number or timestamp, or an overflow.
  public var resynchronizations: Int64 = 0

  public init() {}
}
