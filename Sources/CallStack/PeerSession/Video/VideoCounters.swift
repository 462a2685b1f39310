internal import CallCore
internal import Pictures

/// The members of W3C's `media-source` that only video has.
struct VideoSourceCounters {
  private(set) var frames: Int64 = 0
  private(set) var size: PictureSize?
  private(set) var rate = FrameRateMeter()

  mutating func count(_ size: PictureSize, at now: Instant) {
    frames += 1
    self.size = size
    rate.count(at: now)
  }
}

/// The members of W3C's `outbound-rtp` that only video has.
struct VideoSendCounters {
  var framesSent: Int64 = 0
  var framesEncoded: Int64 = 0
  var keyFramesEncoded: Int64 = 0
  var hugeFramesSent: Int64 = 0
  var qpSum: Int64?
  var pliCount: Int64 = 0
  var firCount: Int64 = 0
  var size: PictureSize?
  var rate = FrameRateMeter()

  /// The factor of the mean size of a frame beyond which it is huge (W3C `hugeFramesSent`).
  static let hugeFactor = 2.5
}

/// The members of W3C's `inbound-rtp` that only video has, beside those of the receiver.
struct VideoReceiveCounters {
  var framesDecoded: Int64 = 0
  var keyFramesDecoded: Int64 = 0
  var framesAssembledFromMultiplePackets: Int64 = 0
  var qpSum: Int64?
  var pliCount: Int64 = 0
  var firCount: Int64 = 0
  /// The sum of the times between the first packet of a frame and its decoding in seconds, and the number of frames.
  var jitterBufferDelay = 0.0
  var jitterBufferEmittedCount: Int64 = 0
  var totalProcessingDelay = 0.0
  var size: PictureSize?
  var rate = FrameRateMeter()
}

/// The number of frames in the last second (W3C `framesPerSecond`): 0 while none comes, once there was one.
struct FrameRateMeter {
  private var times: [Instant] = []

  mutating func count(at now: Instant) {
    times.append(now)
    if let fresh = times.firstIndex(where: { now - $0 < .seconds(1) }), fresh > 16 { times.removeFirst(fresh) }
  }

  func framesPerSecond(at now: Instant) -> Double? {
    times.isEmpty ? nil : Double(times.count { now - $0 < .seconds(1) })
  }
}
