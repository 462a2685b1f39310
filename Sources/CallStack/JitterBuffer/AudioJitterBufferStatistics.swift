internal import Codecs

/// The counters W3C's `inbound-rtp` has for an audio jitter buffer, with its names. Samples are counted a channel.
package struct AudioJitterBufferStatistics: Hashable, Sendable {
  /// Seconds that emitted samples waited, summed over samples.
  package var jitterBufferDelay = 0.0
  /// The target delay, in seconds, summed over emitted samples.
  package var jitterBufferTargetDelay = 0.0
  /// The target the network alone asks for, without ``AudioJitterBuffer/Settings/minimumDelay``, summed likewise.
  package var jitterBufferMinimumDelay = 0.0
  package var jitterBufferEmittedCount: Int64 = 0
  /// All samples played since the first packet, concealed ones included.
  package var totalSamplesReceived: Int64 = 0
  package var concealedSamples: Int64 = 0
  package var silentConcealedSamples: Int64 = 0
  package var concealmentEvents: Int64 = 0
  package var insertedSamplesForDeceleration: Int64 = 0
  package var removedSamplesForAcceleration: Int64 = 0
  /// Packets that carried redundancy, and those whose redundancy was not needed.
  package var fecPacketsReceived: Int64 = 0
  package var fecPacketsDiscarded: Int64 = 0
  /// Packets that came too late, or were thrown away to catch up. Duplicates are not among them.
  package var packetsDiscarded: Int64 = 0
  /// Seconds from the arrival of a packet until it was decoded, summed over its samples.
  package var totalProcessingDelay = 0.0
  var loudness = AudioLevelMeter()
  package var totalAudioEnergy: Double { loudness.totalEnergy }
  package var totalSamplesDuration: Double { loudness.totalDuration }
  /// The peak of a moment ago, 1 being full scale.
  package var audioLevel: Double { loudness.level }

  /// Beyond W3C: samples restored from redundancy.
  package var recoveredSamples: Int64 = 0
  /// Beyond W3C: samples of comfort noise in a sender's pauses, which are no loss.
  package var comfortSamples: Int64 = 0
  /// Beyond W3C: packets no decoder could read.
  package var malformedPackets: Int64 = 0
  package var duplicatePackets: Int64 = 0
  /// Beyond W3C: how often the buffer started afresh after a jump of sequence number or timestamp, or an overflow.
  package var resynchronizations: Int64 = 0

  package init() {}
}
