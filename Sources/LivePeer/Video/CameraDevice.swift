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
  private unowned let connection: LiveConnection
  private let world: any LiveWorld
  private let video: GeneratedVideo
  private var number: UInt32
  private var timer: DeviceTimer?

  init(connection: LiveConnection, world: any LiveWorld, settings: VideoSettings, camera: CameraSettings) {
    self.connection = connection
    self.world = world
    let size = PictureSize(settings.width, settings.height) ?? .vga
    video = GeneratedVideo(.movingBars, size: size)
    number = camera.firstNumber
    let period = Interval(nanoseconds: 1_000_000_000 / Int64(settings.frameRate))
    timer = DeviceTimer(every: period, from: world.now, world: world) { [unowned self] in tick() }
  }

  func stop() { timer?.stop() }

  private func tick() {
    let now = world.now
    connection.sendVideo(VideoInput(video.frame(number, at: now), captured: now))
    number = (number + 1) % FrameNumberCode.modulus
  }
}
