internal import CallCore
internal import PeerSession
internal import Pictures

/// The pictures that a live call sends.
package struct CameraSettings: Hashable, Sendable {
  /// The number of the first picture: two sides that begin far from each other can be told apart.
  package var firstNumber: UInt32 = 0

  package init() {}
}

/// The camera of a live call: bars that move, with a number in each picture, at the frame rate of the video settings.
final class CameraDevice {
  /// The longest delay that is caught up; a process may have been stopped for longer.
  private static let longestDelay = Interval.milliseconds(500)

  private unowned let connection: LiveConnection
  private let world: any LiveWorld
  private let video: GeneratedVideo
  private let period: Interval
  private var number: UInt32
  private var timer = LoopTimer {}
  /// The due time of the next picture, computed from the previous one, so that late wake-ups do not add up.
  private var due: Instant

  init(connection: LiveConnection, world: any LiveWorld, settings: VideoSettings, camera: CameraSettings) {
    self.connection = connection
    self.world = world
    let size = PictureSize(settings.width, settings.height) ?? .vga
    video = GeneratedVideo(.movingBars, size: size)
    period = Interval(nanoseconds: 1_000_000_000 / Int64(settings.frameRate))
    number = camera.firstNumber
    due = world.now
    timer = world.makeTimer { [unowned self] in tick() }
    timer.deadline = due
  }

  deinit { world.remove(timer) }

  func stop() { timer.deadline = nil }

  private func tick() {
    due += period
    if world.now - due > Self.longestDelay { due = world.now }
    timer.deadline = due
    let now = world.now
    connection.sendVideo(VideoInput(video.frame(number, at: now), captured: now))
    number = (number + 1) % FrameNumberCode.modulus
  }
}
