import CallCore
import RTP

/// The time at which the next picture is given to the decoder.
struct PictureSchedule: Sendable {
  var timing: RenderTiming
  var jitter = JitterEstimator()
  private var planned: (timestamp: UInt32, decode: Instant, render: Instant)?
  private var unwrapper = TimestampUnwrapper()
  private var previous: (timestamp: Int64, arrival: Instant)?
  /// The lateness at which a picture is passed over when a later one can be decoded.
  private static let maximumLateness = Interval.milliseconds(5)

  init(timing: RenderTiming) { self.timing = timing }

  var decodeTime: Instant? { planned?.decode }

  mutating func cancel() { planned = nil }

  /// Plans the next picture of a buffer, and drops pictures that are late or, while a key frame is required, need
  /// others.
  mutating func update(_ buffer: inout FrameBuffer, isKeyFrameRequired: Bool, at now: Instant) {
    while let timestamp = buffer.nextDecodableTimestamp {
      if isKeyFrameRequired {
        guard buffer.isNextKeyFrame else {
          buffer.dropNext()
          continue
        }
        // The first picture is shown as soon as it can be.
        planned = (timestamp, now, timing.renderTime(of: timestamp, at: now))
        return
      }
      if planned?.timestamp == timestamp { return }
      let render = timing.renderTime(of: timestamp, at: now)
      let wait = timing.wait(untilRendering: render, queued: buffer.count, at: now)
      if wait < -Self.maximumLateness, buffer.lastDecodableTimestamp != timestamp {
        buffer.dropNext()
        continue
      }
      planned = (timestamp, now + max(.zero, wait), render)
      return
    }
    planned = nil
  }

  /// Takes the planned picture when it is due.
  mutating func take(_ buffer: inout FrameBuffer, at now: Instant) -> VideoReceiver.Picture? {
    guard let plan = planned, now >= plan.decode else { return nil }
    planned = nil
    let frames = buffer.takeNext()
    guard !frames.isEmpty else { return nil }
    var render = plan.render
    if timing.isImplausible(render, at: now) {
      jitter = JitterEstimator(roundTrip: jitter.roundTrip)
      timing.reset(at: now)
      render = timing.renderTime(of: plan.timestamp, at: now)
    }
    let wasRepaired = frames.contains(where: \.wasRetransmitted)
    if wasRepaired {
      jitter.frameWasRequested(at: now)
    } else {
      measure(frames, timestamp: plan.timestamp, at: now)
    }
    timing.updateDelay(timestamp: plan.timestamp, renderTime: wasRepaired ? nil : render, at: now)
    return VideoReceiver.Picture(frames: frames, renderTime: max(render, now))
  }

  /// Feeds the jitter estimate with a picture's delay.
  private mutating func measure(_ frames: [EncodedFrame], timestamp: UInt32, at now: Instant) {
    let arrival = frames.reduce(frames[0].lastArrival) { max($0, $1.lastArrival) }
    let ticks = unwrapper.unwrap(timestamp)
    if let previous {
      // A picture older than the last one says nothing.
      guard ticks > previous.timestamp else { return }
      let sent = Interval.microseconds((ticks - previous.timestamp) * 100) / 9
      let delay = arrival - previous.arrival - sent
      jitter.update(delay: delay, size: frames.reduce(0) { $0 + $1.data.count }, at: now)
    }
    previous = (ticks, arrival)
    timing.setJitterDelay(jitter.estimate(at: now))
  }
}
