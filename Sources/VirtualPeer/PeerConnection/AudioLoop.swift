internal import CallCore
internal import Codecs
internal import PeerSession

/// The loop of the audio hardware: in every ``audioDevicePeriod`` of the device's own clock it records a frame for all
/// connections and plays the mix of their audio.
final class AudioLoop {
  private static let period = audioDevicePeriod.interval
  static let frameSize = audioDevicePeriod.samplesPerChannel
  /// The number of late callbacks that the hardware makes up for: two seconds.
  private static let catchUpLimit: Int64 = 200

  /// A connection, which owns the environment that owns this loop.
  private struct Line { weak var connection: SessionConnection? }

  private unowned let environment: ConnectionEnvironment
  private let clock: PeerClock
  private let device: Device
  private var lines: [Line] = []
  private var generator: SampleGenerator
  private var talk: TalkSpurts
  private let mixer = AudioMixer()
  private let recorded = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frameSize)
  private let played = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frameSize)
  private var timer: PeerTimer?
  private let beginning: Instant
  private let phase: Interval
  private var ticks: Int64 = 0
  /// When the next tick is due. It comes later only to a device that is suspended then.
  private var deadline: Instant
  /// Whether a connection has ever been established.
  private var hasListener = false

  /// Starts the loop.
  init(environment: ConnectionEnvironment) {
    self.environment = environment
    clock = environment.clock
    device = environment.device
    let settings = device.settings
    let source = settings.mayRecord ? settings.microphone : .silence
    generator = SampleGenerator(source, random: environment.random.stream(MicrophoneSource.stream))
    talk = TalkSpurts(source, random: environment.random.stream("talk-spurts"))
    var phases = environment.random.stream("audio-phase")
    phase = Interval(nanoseconds: Int64(phases.uniform(below: UInt64(Self.period.nanoseconds))))
    beginning = clock.now
    deadline = beginning
    scheduleNext()
  }

  deinit {
    recorded.deallocate()
    played.deallocate()
  }

  func add(_ connection: SessionConnection) { lines.append(Line(connection: connection)) }

  func remove(_ connection: SessionConnection) { lines.removeAll { $0.connection === connection } }

  func stop() {
    timer?.cancel()
    timer = nil
  }

  /// Schedules the next tick. The device's clock drifts, so deadlines are computed from the start and never accumulate.
  private func scheduleNext() {
    // A device that was suspended makes up for no sound, and one whose callbacks are late for so much.
    let due = (clock.now - beginning).nanoseconds / Self.period.nanoseconds
    if due > ticks + (clock.now > deadline ? 0 : Self.catchUpLimit) { ticks = due }
    let nominal = Self.period * ticks
    let drift = nominal.scaled(by: -device.settings.audioClockDriftPPM / 1e6)
    let latency = device.takeLatency()
    deadline = max(clock.now, beginning + phase + nominal + drift + latency)
    timer = clock.schedule(at: deadline) { [unowned self] in tick() }
  }

  private func tick() {
    ticks += 1
    scheduleNext()
    guard device.isAudioRunning else { return }
    if !hasListener { hasListener = lines.contains { $0.connection?.connectionState == .connected } }
    if hasListener, environment.audioRecord.firstListened == nil { environment.audioRecord.firstListened = clock.now }
    if device.settings.echoes { return echo() }
    record()
    let level = play(lines)
    device.played(isLoud: (level ?? .silence) > Self.threshold, at: clock.now)
  }

  private func record() {
    switch environment.media {
    case .real:
      generator.fill(recorded, hasListener: hasListener)
      for index in lines.indices { lines[index].connection?.sendAudio(UnsafeBufferPointer(recorded).span) }
    case .synthetic:
      let level = talk.next(hasListener: hasListener)
      for index in lines.indices { lines[index].connection?.sendAudio(level, duration: Self.period) }
    }
  }

  /// Plays the mix of some connections and returns its level; nil when nothing plays.
  private func play(_ lines: [Line]) -> AudioLevel? {
    var output = OutputSpan<Int16>(buffer: played, initializedCount: 0)
    mixer.begin()
    for index in lines.indices {
      guard let connection = lines[index].connection else { continue }
      mixer.add(into: &output) { connection.playAudio(sampleCount: Self.frameSize, into: &$0) }
    }
    let level = mixer.level(of: output)
    let count = output.finalize(for: played)
    if count > 0 { environment.heard?(UnsafeBufferPointer(rebasing: played[..<count]).span) }
    return level
  }

  /// Sends the played audio of each connection back over it.
  private func echo() {
    for line in lines {
      guard let connection = line.connection else { continue }
      played.initialize(repeating: 0)
      let level = play([line])
      switch environment.media {
      case .real: connection.sendAudio(UnsafeBufferPointer(played).span)
      case .synthetic: connection.sendAudio(level ?? .silence, duration: Self.period)
      }
    }
  }

  /// The level below which audio is not audible: −55 dBov.
  private static let threshold = AudioLevel(55)
}

/// The level of a microphone's source, frame by frame, without samples: the modelled counterpart of
/// ``SampleGenerator``.
struct TalkSpurts: ~Copyable {
  private let source: MicrophoneSource
  private var random: RandomStream
  private var isTalking = false
  private var framesLeft: UInt64 = 0
  private var recording: RecordingPlayback?

  init(_ source: MicrophoneSource, random: consuming RandomStream) {
    self.source = source
    self.random = random
    if case .recording(let recording) = source { self.recording = RecordingPlayback(recording) }
  }

  mutating func next(hasListener: Bool) -> AudioLevel {
    switch source {
    case .recording where !hasListener: return .silence
    case .silence: return .silence
    case .tone, .noise: return AudioLevel(15)
    case .speech:
      if framesLeft == 0 {
        isTalking.toggle()
        framesLeft = isTalking ? 100 + random.uniform(below: 200) : 30 + random.uniform(below: 40)
      }
      framesLeft -= 1
      return isTalking ? AudioLevel(18 + UInt8(random.uniform(below: 8))) : .silence
    case .recording:
      var energy = 0.0
      for _ in 0..<AudioLoop.frameSize {
        let sample = Double(recording!.next())
        energy += sample * sample
      }
      return AudioLevel(linear: (energy / Double(AudioLoop.frameSize)).squareRoot() / 32_768)
    }
  }
}
