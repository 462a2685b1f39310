internal import CallCore
internal import Codecs

/// The microphone and the speaker of a live call: records and plays one frame every ``audioDevicePeriod`` of the
/// world's clock.
final class AudioDevice {
  private static let frameSize = audioDevicePeriod.samplesPerChannel

  private unowned let connection: LiveConnection
  private let recorded = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frameSize)
  private let played = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frameSize)
  private var timer: DeviceTimer?

  init(connection: LiveConnection, world: any LiveWorld, firstFrame: Instant) {
    self.connection = connection
    timer = DeviceTimer(every: audioDevicePeriod.interval, from: firstFrame, world: world) { [unowned self] in tick() }
  }

  deinit {
    recorded.deallocate()
    played.deallocate()
  }

  func stop() { timer?.stop() }

  private func tick() {
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
