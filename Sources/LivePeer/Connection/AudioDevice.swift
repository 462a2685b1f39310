internal import CallCore
internal import Codecs

/// The microphone and the speaker of a live call: records and plays one frame every ``audioDevicePeriod`` of the
/// world's clock.
final class AudioDevice {
  private static let period = audioDevicePeriod.interval
  private static let frameSize = audioDevicePeriod.samplesPerChannel
  /// The longest delay that is caught up; a process may have been stopped for longer.
  private static let longestDelay = Interval.milliseconds(500)

  private unowned let connection: LiveConnection
  private let world: any LiveWorld
  private let recorded = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frameSize)
  private let played = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frameSize)
  private var timer = LoopTimer {}
  /// The due time of the next frame, computed from the previous one, so that late wake-ups do not add up.
  private var due: Instant

  init(connection: LiveConnection, world: any LiveWorld, firstFrame: Instant) {
    self.connection = connection
    self.world = world
    due = firstFrame
    timer = world.makeTimer { [unowned self] in tick() }
    timer.deadline = due
  }

  deinit {
    world.remove(timer)
    recorded.deallocate()
    played.deallocate()
  }

  func stop() { timer.deadline = nil }

  private func tick() {
    due += Self.period
    if world.now - due > Self.longestDelay { due = world.now }
    timer.deadline = due
    connection.microphone.fill(recorded)
    connection.sendAudio(UnsafeBufferPointer(recorded).span)
    var output = OutputSpan<Int16>(buffer: played, initializedCount: 0)
    connection.playAudio(Self.frameSize, into: &output)
    let count = output.finalize(for: played)
    guard count > 0 else { return }
    let heard = UnsafeBufferPointer(rebasing: played[..<count])
    connection.microphone.heard(heard.span)
    connection.onAudio?(heard.span)
  }
}
