internal import CallCore
internal import PeerSession
internal import Pictures
internal import SDP

/// The loop of camera and screen: takes a picture at the camera's frame rate for all connections that send one, and
/// watches whether pictures are still shown.
final class VideoLoop {
  private struct Line { weak var connection: SessionConnection? }

  /// What gives pictures.
  private struct Capture {
    let source: CameraSource?
    /// The pictures of the source in a second, and those that are sent at most.
    let frameRate: Int
    let sentFrameRate: Int
    let size: PictureSize
    /// The number of the first picture, and its time.
    let first: UInt32
    let beginning: Instant
    /// The painter of real pictures; nil for modelled ones.
    let video: CameraPainter?
    var ticks: Int64 = 0

    /// Whether the picture of this tick is among those that are sent, which are spread evenly.
    var isSent: Bool {
      let (sent, all) = (Int64(sentFrameRate), Int64(frameRate))
      return ticks == 0 || ticks * sent / all != (ticks - 1) * sent / all
    }
  }

  private unowned let environment: ConnectionEnvironment
  private let clock: PeerClock
  private let settings: VideoSettings
  private var capture: Capture
  private var lines: [Line] = []
  private var timer: PeerTimer?

  /// Starts the loop.
  init(environment: ConnectionEnvironment, settings: VideoSettings) {
    self.environment = environment
    self.settings = settings
    clock = environment.clock
    var phases = environment.random.stream("camera-phase")
    let phase = phases.uniform(below: UInt64(1_000_000_000 / settings.frameRate))
    let beginning = clock.now + Interval(nanoseconds: Int64(phase))
    capture = Self.capture(settings, from: environment.videoRecord.begin(), at: beginning, in: environment)
    scheduleNext()
  }

  private static func capture(
    _ settings: VideoSettings, from first: UInt32, at beginning: Instant, in environment: ConnectionEnvironment
  ) -> Capture {
    let (source, screen) = (environment.device.pictures, environment.device.screenCapture)
    let format = environment.device.captureFormat(
      for: CameraFormat(width: settings.width, height: settings.height, frameRate: settings.frameRate))
    let size = PictureSize(format.width, format.height) ?? .vga
    let painted = environment.media == .real ? source : nil
    let frameRate = screen?.frameRate ?? format.frameRate
    let video = painted?.painter(size, frameRate: frameRate, random: environment.random)
    environment.videoRecord.paint(from: first, size, with: video)
    return Capture(
      source: source, frameRate: frameRate, sentFrameRate: min(frameRate, screen?.adaptedFrameRate ?? frameRate),
      size: size, first: first, beginning: beginning, video: video)
  }

  /// Goes on with the pictures of another source.
  func capturerChanged() {
    stop()
    let first = capture.first &+ UInt32(truncatingIfNeeded: capture.ticks)
    capture = Self.capture(settings, from: first, at: clock.now, in: environment)
    // The last picture of the other source may be of this instant.
    capture.ticks = 1
    scheduleNext()
  }

  func add(_ connection: SessionConnection) { lines.append(Line(connection: connection)) }

  func remove(_ connection: SessionConnection) {
    lines.removeAll { $0.connection == nil || $0.connection === connection }
  }

  var isEmpty: Bool { lines.isEmpty }

  /// Whether a connection has a track of the camera.
  var sends: Bool { lines.contains { $0.connection?.hasTrack(of: .video) ?? false } }

  func stop() {
    timer?.cancel()
    timer = nil
  }

  /// Schedules the next tick from the start, so that rounding never accumulates.
  private func scheduleNext() {
    // A device that was suspended makes up for no picture.
    let rate = Int64(capture.frameRate)
    let due = (clock.now - capture.beginning).nanoseconds * rate / 1_000_000_000
    if due > capture.ticks { capture.ticks = due }
    let next = capture.beginning + Interval(nanoseconds: 1_000_000_000 * capture.ticks / rate)
    timer = clock.schedule(at: next) { [unowned self] in tick() }
  }

  private func tick() {
    let number = capture.first &+ UInt32(truncatingIfNeeded: capture.ticks)
    let isSent = capture.isSent
    capture.ticks += 1
    scheduleNext()
    let now = clock.now
    environment.device.checkShown(at: now)
    guard capture.source != nil, isSent, !environment.device.isPictureMissing else { return }
    let sends = lines.compactMap { $0.connection?.sendsPictures }
    environment.videoRecord.record(
      number, at: now, for: .seconds(1) / Int64(capture.sentFrameRate),
      sends: sends.isEmpty ? nil : sends.contains(true))
    let size = capture.size
    let input = VideoInput(contentID: number, size: size, captured: now, frameRate: capture.sentFrameRate) {
      [video = capture.video] in
      video?.frame(number, at: now) ?? VideoFrame(filled: size)
    }
    for line in lines { line.connection?.sendVideo(input) }
  }
}
