internal import Codecs

/// The counters of an audio jitter buffer in W3C's `inbound-rtp`, with its names. Samples are counted per channel.
package struct AudioJitterBufferStatistics: Hashable, Sendable {
  /// The waiting time of emitted samples in seconds, summed over samples.
  package var jitterBufferDelay = 0.0
  /// The target delay in seconds, summed over emitted samples.
  package var jitterBufferTargetDelay = 0.0
  /// The target due to the network alone, without ``AudioJitterBuffer/Settings/minimumDelay``, summed likewise.
  package var jitterBufferMinimumDelay = 0.0
  package var jitterBufferEmittedCount: Int64 = 0
  /// The number of samples played since the first packet, including concealed ones.
  package var totalSamplesReceived: Int64 = 0
  package var concealedSamples: Int64 = 0
  package var silentConcealedSamples: Int64 = 0
  package var concealmentEvents: Int64 = 0
  package var insertedSamplesForDeceleration: Int64 = 0
  package var removedSamplesForAcceleration: Int64 = 0
  /// The number of packets with redundancy, and of those whose redundancy was not needed (``fecPacketsDiscarded``).
  package var fecPacketsReceived: Int64 = 0
  /// The bytes of payloads that RED adds to the primary blocks; those of Opus' own redundancy are not known.
  package var fecBytesReceived: Int64 = 0
  package var fecPacketsDiscarded: Int64 = 0
  /// The number of packets that were late, or were dropped to reduce the delay; without duplicates.
  package var packetsDiscarded: Int64 = 0
  /// The time from the arrival of a packet until its decoding in seconds, summed over its samples.
  package var totalProcessingDelay = 0.0
  var loudness = AudioLevelMeter()
  package var totalAudioEnergy: Double { loudness.totalEnergy }
  package var totalSamplesDuration: Double { loudness.totalDuration }
  /// The recent peak level, where 1 is full scale.
  package var audioLevel: Double { loudness.level }

  /// Not in W3C: samples decoded from redundancy.
  package var recoveredSamples: Int64 = 0
  /// Not in W3C: samples of comfort noise in a sender's pauses, which do not count as loss.
  package var comfortSamples: Int64 = 0
  /// Not in W3C: packets that no decoder could read.
  package var malformedPackets: Int64 = 0
  package var duplicatePackets: Int64 = 0
  /// Not in W3C: the number of times the buffer started over after a jump of sequence number or timestamp, or an
  /// overflow.
  package var resynchronizations: Int64 = 0

  package init() {}
}
