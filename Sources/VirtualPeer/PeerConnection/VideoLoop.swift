internal import CallCore
internal import PeerSession
internal import Pictures
internal import SDP

/// The loop of camera and screen: takes a picture at the camera's frame rate for all connections that send one, and
/// watches whether pictures are still shown.
final class VideoLoop {
  private struct Line { weak var connection: SessionConnection? }

  private unowned let environment: ConnectionEnvironment
  private let clock: PeerClock
  private let settings: VideoSettings
  private let source: CameraSource?
  /// The painter of real pictures; nil for modelled ones.
  private let video: GeneratedVideo?
  private var lines: [Line] = []
  private var timer: PeerTimer?
  private let beginning: Instant
  private var ticks: Int64 = 0

  /// Starts the loop.
  init(environment: ConnectionEnvironment, settings: VideoSettings, source: CameraSource?) {
    self.environment = environment
    self.settings = settings
    self.source = source
    clock = environment.clock
    let size = PictureSize(settings.width, settings.height) ?? .vga
    let painted = environment.media == .real ? source : nil
    video = painted.map { GeneratedVideo($0.kind, size: size, seed: CameraSource.seed(environment.random)) }
    environment.videoRecord.painter = video
    var phases = environment.random.stream("camera-phase")
    let phase = phases.uniform(below: UInt64(1_000_000_000 / settings.frameRate))
    beginning = clock.now + Interval(nanoseconds: Int64(phase))
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
    let due = (clock.now - beginning).nanoseconds * Int64(settings.frameRate) / 1_000_000_000
    if due > ticks + Int64(settings.frameRate) { ticks = due }
    let next = beginning + Interval(nanoseconds: 1_000_000_000 * ticks / Int64(settings.frameRate))
    timer = clock.schedule(at: next) { [unowned self] in tick() }
  }

  private func tick() {
    let number = UInt32(truncatingIfNeeded: ticks)
    ticks += 1
    scheduleNext()
    let now = clock.now
    environment.device.checkShown(at: now)
    guard source != nil, !environment.device.isPictureMissing else { return }
    environment.videoRecord.record(number, at: now)
    let size = PictureSize(settings.width, settings.height) ?? .vga
    let input = VideoInput(contentID: number, size: size, captured: now) { [video] in
      video?.frame(number, at: now) ?? VideoFrame(filled: size)
    }
    for line in lines { line.connection?.sendVideo(input) }
  }
}
