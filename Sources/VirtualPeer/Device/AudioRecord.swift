package import CallCore
package import CallSession

/// When each sample of a peer's microphone was recorded, and which sample its speaker plays: what only a simulator knows.
package final class AudioRecord {
  private struct Recorded {
    var timestamp: UInt32
    var end: Instant
  }

  /// The last frames of one stream, in a ring.
  private struct Stream {
    var frames: [Recorded] = []
    var next = 0
  }

  /// Ten seconds of frames of 10 ms: nothing plays later than that.
  private static let capacity = 1_024
  private var streams: [UInt32: Stream] = [:]
  /// What the speaker played last of each connection, and when that began; none where it was concealed, or nothing.
  private var played: [String: (position: AudioPosition, at: Instant)] = [:]
  /// Called when sound that was sent is played again after at least 100 ms in which none was.
  package var resumed: ((_ now: Instant) -> Void)?
  private var lastPlayed: Instant?
  /// Shorter gaps are concealed losses.
  package static let interruption = Interval.milliseconds(100)
  /// What the encoder adds before a sample's timestamp comes true.
  private let encoderDelay: Interval

  init(media: MediaFidelity) {
    // libopus looks 6.5 ms ahead at 48 kHz (RFC 6716 section 2); its model needs no future.
    encoderDelay = media == .real ? .microseconds(6_500) : .zero
  }

  /// - Parameter position: of the sample after the last one recorded, which is recorded from `now` on.
  func record(_ position: AudioPosition, at now: Instant) {
    let recorded = Recorded(timestamp: position.timestamp, end: now)
    var stream = streams[position.ssrc] ?? Stream()
    streams[position.ssrc] = nil
    if stream.frames.count < Self.capacity {
      stream.frames.append(recorded)
    } else {
      stream.frames[stream.next] = recorded
    }
    stream.next = (stream.next + 1) % Self.capacity
    streams[position.ssrc] = stream
  }

  /// What the speaker played last of a connection, by its trace subject.
  package func played(over connection: String) -> (position: AudioPosition, at: Instant)? { played[connection] }

  func play(_ position: AudioPosition?, over connection: String, at now: Instant) {
    played[connection] = position.map { ($0, now) }
    guard position != nil else { return }
    if let last = lastPlayed, now - last >= Self.interruption { resumed?(now) }
    lastPlayed = now
  }

  /// When a sample was said into this peer's microphone, its encoder's delay included; nil for a stream that is not
  /// this peer's, and for what was recorded longer ago than anything is kept.
  package func recordingTime(of position: AudioPosition) -> Instant? {
    guard let stream = streams[position.ssrc] else { return nil }
    let count = stream.frames.count
    // From the newest backwards: the first frame that ends at or before the sample comes too late by one.
    var after: Recorded?
    for age in 1...max(count, 1) where age <= count {
      let frame = stream.frames[(stream.next + count - age) % count]
      if Int32(bitPattern: position.timestamp &- frame.timestamp) >= 0 {
        // A sample of the frame after this one, or recorded by nobody yet.
        guard let after else { return nil }
        return Self.instant(of: position.timestamp, before: after) - encoderDelay
      }
      after = frame
    }
    return nil
  }

  private static func instant(of timestamp: UInt32, before frame: Recorded) -> Instant {
    let samples = Int64(Int32(bitPattern: frame.timestamp &- timestamp))
    return frame.end - Interval(nanoseconds: samples * 62_500 / 3)
  }
}
