internal import CallCore
internal import RTP

/// Decides how long the audio and the video of a media stream wait, so that they are played in step: libwebrtc's
/// `StreamSynchronization`, with its figures.
///
/// It delays the one that is ahead, in small steps. It takes back what it has added to one before it delays the other.
struct StreamSynchronization {
  /// The newest packet of a stream: when it was recorded, by the sender's wall clock, and when it arrived.
  typealias Measurement = (captured: NTPTime, arrival: Instant)

  /// The minimum delays of playout.
  struct Delays: Hashable {
    var audio = Interval.zero
    var video = Interval.zero
  }

  /// The number of updates over which the difference is averaged.
  private static let filterLength: Int64 = 4
  /// A smaller difference is not corrected.
  static let margin = Interval.milliseconds(30)
  /// The maximum correction at once.
  static let maximumStep = Interval.milliseconds(80)
  /// The maximum delay. A larger difference is that of clocks that do not belong together.
  static let maximumDelay = Interval.seconds(10)

  private var average = Interval.zero
  /// What is added to each; one of them is zero or less.
  private var extra = Delays()
  private var minimum = Delays()

  /// Returns by how much video takes longer than audio from the camera and the microphone to here; nil when the clocks do
  /// not belong together.
  static func difference(audio: Measurement, video: Measurement) -> Interval? {
    let difference = (video.arrival - audio.arrival) - (video.captured - audio.captured)
    return difference > maximumDelay || difference < -maximumDelay ? nil : difference
  }

  /// Returns the new minimum delays; nil when nothing changes.
  ///
  /// - Parameters:
  ///   - difference: by how much video takes longer to arrive.
  ///   - audioDelay: the time for which audio waits now.
  ///   - videoDelay: the time for which video is to wait.
  mutating func update(difference: Interval, audioDelay: Interval, videoDelay: Interval) -> Delays? {
    average = (average * (Self.filterLength - 1) + videoDelay - audioDelay + difference) / Self.filterLength
    guard average >= Self.margin || average <= -Self.margin else { return nil }
    let step = min(max(average / 2, -Self.maximumStep), Self.maximumStep)
    average = .zero
    if step > .zero {
      if extra.video > .zero {
        extra = Delays(video: extra.video - step)
      } else {
        extra = Delays(audio: extra.audio + step)
      }
    } else {
      if extra.audio > .zero {
        extra = Delays(audio: extra.audio + step)
      } else {
        extra = Delays(video: extra.video - step)
      }
    }
    // What is no longer added to stays as it was: only one of them changes at a time.
    if extra.audio > .zero { minimum.audio = min(extra.audio, Self.maximumDelay) }
    if extra.video > .zero { minimum.video = min(extra.video, Self.maximumDelay) }
    return minimum
  }

  /// Notes that audio cannot wait so long.
  mutating func reduceAudio() { extra.audio = extra.audio.scaled(by: 0.9) }
}
