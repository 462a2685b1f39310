internal import CallCore
internal import JitterBuffer
internal import Pictures
internal import RTP
internal import SDP
internal import Statistics
internal import VideoReceive

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
    add("fecBytesReceived", playout.fecBytesReceived)
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

  mutating func add(_ forwarding: ForwardingSendStream, _ kind: MediaKind) {
    add("rtxSsrc", forwarding.retransmissionSSRC.map(Int64.init))
    guard kind == .video else { return }
    add("framesSent", forwarding.framesSent)
    add("firCount", forwarding.firCount)
    add("pliCount", forwarding.pliCount)
  }

  mutating func add(_ forwarding: ForwardingSource, _ kind: MediaKind) {
    add("retransmittedPacketsReceived", Int64(forwarding.retransmission.recoveredCount))
    add("retransmittedBytesReceived", forwarding.retransmission.recoveredBytes)
    guard kind == .video else { return }
    add("firCount", forwarding.firCount)
    add("pliCount", forwarding.pliCount)
  }

  mutating func add(_ video: SendStatistics.Video, at now: Instant) {
    let counters = video.counters
    add("rtxSsrc", video.retransmissionSSRC.map(Int64.init))
    add("frameWidth", counters.size.map { Int64($0.width) })
    add("frameHeight", counters.size.map { Int64($0.height) })
    add("framesPerSecond", counters.rate.framesPerSecond(at: now))
    add("qualityLimitationReason", video.adaptation.isLimited ? "bandwidth" : "none")
    add("qualityLimitationResolutionChanges", video.adaptation.changes)
    add("framesSent", counters.framesSent)
    add("hugeFramesSent", counters.hugeFramesSent)
    add("framesEncoded", counters.framesEncoded)
    add("keyFramesEncoded", counters.keyFramesEncoded)
    add("qpSum", counters.qpSum)
    add("firCount", counters.firCount)
    add("pliCount", counters.pliCount)
  }

  mutating func add(_ video: ReceiveStatistics.Video, at now: Instant) {
    let (counters, receiver, freezes) = (video.counters, video.receiver, video.freezes)
    add("retransmittedPacketsReceived", Int64(video.retransmission.recoveredCount))
    add("retransmittedBytesReceived", video.retransmission.recoveredBytes)
    if let correction = video.correction {
      add("fecPacketsReceived", correction.packetsReceived)
      add("fecBytesReceived", correction.bytesReceived)
      add("fecPacketsDiscarded", correction.packetsDiscarded)
    }
    add("framesReceived", Int64(receiver.framesReceived))
    add("framesDecoded", counters.framesDecoded)
    add("keyFramesDecoded", counters.keyFramesDecoded)
    add("framesDropped", Int64(receiver.framesDropped))
    add("framesRendered", Int64(freezes.renderedCount))
    add("framesAssembledFromMultiplePackets", counters.framesAssembledFromMultiplePackets)
    add("frameWidth", counters.size.map { Int64($0.width) })
    add("frameHeight", counters.size.map { Int64($0.height) })
    add("framesPerSecond", counters.rate.framesPerSecond(at: now))
    add("qpSum", counters.qpSum)
    add("totalInterFrameDelay", freezes.totalInterFrameDelay)
    add("totalSquaredInterFrameDelay", freezes.totalSquaredInterFrameDelay)
    add("freezeCount", Int64(freezes.freezeCount))
    add("totalFreezesDuration", freezes.totalFreezesDuration.seconds)
    add("pauseCount", Int64(freezes.pauseCount))
    add("totalPausesDuration", freezes.totalPausesDuration.seconds)
    add("jitterBufferDelay", counters.jitterBufferDelay)
    add("jitterBufferEmittedCount", counters.jitterBufferEmittedCount)
    add("totalProcessingDelay", counters.totalProcessingDelay)
    add("firCount", counters.firCount)
    add("pliCount", counters.pliCount)
  }
}
