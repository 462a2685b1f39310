internal import CallCore
internal import RTP
internal import VideoReceive

/// Plays the audio and the video of each remote media stream in step, by what the sender reports say of their clocks (RFC
/// 3550 section 6.4.1).
struct LipSync {
  fileprivate struct Pair {
    let audio: AudioChannel
    let video: VideoChannel
    var synchronization = StreamSynchronization()
    /// The arrival of the newest packets of the last update.
    var last: (audio: Instant, video: Instant)?
  }

  /// The time between updates, libwebrtc's.
  private static let interval = Interval.seconds(1)

  private var pairs: [Pair] = []
  /// The time of the next update; nil when there is nothing to keep in step.
  private(set) var deadline: Instant?

  /// Pairs each video with the first audio of its media stream.
  mutating func pair(_ channels: [MediaChannel]) {
    var found: [Pair] = []
    for case .video(let video) in channels where video.receive != nil {
      guard let stream = video.state.remoteStreamID, let audio = Self.audio(of: stream, in: channels) else { continue }
      found.append(pairs.first { $0.audio === audio && $0.video === video } ?? Pair(audio: audio, video: video))
    }
    pairs = found
  }

  private static func audio(of stream: String, in channels: [MediaChannel]) -> AudioChannel? {
    for case .audio(let audio) in channels where audio.receive != nil && audio.state.remoteStreamID == stream {
      return audio
    }
    return nil
  }

  mutating func advance(to now: Instant) {
    guard !pairs.isEmpty else { return deadline = nil }
    guard let due = deadline else { return deadline = now + Self.interval }
    guard now >= due else { return }
    deadline = now + Self.interval
    for index in pairs.indices { pairs[index].update() }
  }
}

extension LipSync.Pair {
  /// Sets how long both wait, where new packets of both have come since the last update.
  mutating func update() {
    guard let audio = audio.receive, let video = video.receive, audio.isActive, video.isActive,
      let heard = audio.newestCapture, let source = video.newestSource, let seen = source.rtp.newestCapture
    else { return }
    guard last.map({ heard.arrival > $0.audio && seen.arrival > $0.video }) ?? true else { return }
    last = (heard.arrival, seen.arrival)
    guard let difference = StreamSynchronization.difference(audio: heard, video: seen),
      let delays = synchronization.update(
        difference: difference, audioDelay: audio.playoutDelay, videoDelay: source.receiver.timing.targetDelay)
    else { return }
    if !audio.setMinimumDelay(delays.audio) { synchronization.reduceAudio() }
    video.minimumDelay = delays.video
  }
}
