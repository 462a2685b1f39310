internal import JitterBuffer
internal import Statistics

/// Collects the known members of an entry.
struct StatsMembers {
  var all: [(name: String, value: StatsReport.Value)] = []

  mutating func add(_ name: String, _ value: Int64?) { if let value { all.append((name, .integer(value))) } }
  mutating func add(_ name: String, _ value: Double?) { if let value { all.append((name, .real(value))) } }
  mutating func add(_ name: String, _ value: Bool) { all.append((name, .flag(value))) }
  mutating func add(_ name: String, _ value: String?) { if let value { all.append((name, .text(value))) } }

  mutating func add(_ playout: AudioJitterBufferStatistics) {
    add("packetsDiscarded", playout.packetsDiscarded)
    add("fecPacketsReceived", playout.fecPacketsReceived)
    add("fecPacketsDiscarded", playout.fecPacketsDiscarded)
    add("jitterBufferDelay", playout.jitterBufferDelay)
    add("jitterBufferTargetDelay", playout.jitterBufferTargetDelay)
    add("jitterBufferMinimumDelay", playout.jitterBufferMinimumDelay)
    add("jitterBufferEmittedCount", playout.jitterBufferEmittedCount)
    add("totalProcessingDelay", playout.totalProcessingDelay)
    add("totalSamplesReceived", playout.totalSamplesReceived)
    add("concealedSamples", playout.concealedSamples)
    add("silentConcealedSamples", playout.silentConcealedSamples)
    add("concealmentEvents", playout.concealmentEvents)
    add("insertedSamplesForDeceleration", playout.insertedSamplesForDeceleration)
    add("removedSamplesForAcceleration", playout.removedSamplesForAcceleration)
    add("audioLevel", playout.audioLevel)
    add("totalAudioEnergy", playout.totalAudioEnergy)
    add("totalSamplesDuration", playout.totalSamplesDuration)
  }
}
