internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// An app's sink for the buffers of an opponent's audio track: it tells their format, number and time.
final class AudioSink {
  /// The number of buffers after which it tells: a second of sound.
  private static let period = 100

  private let trace: PeerTrace
  private let start: Instant
  /// The last buffer of which it has not told.
  private var last: AudioBuffer?
  private var count = 0
  private var peak = 0

  init(_ trace: PeerTrace, at now: Instant) {
    self.trace = trace
    start = now
    trace.set("audio-sink.buffers", 0)
  }

  func take(_ buffer: AudioBuffer) {
    last = buffer
    count += 1
    for sample in buffer.samples { peak = max(peak, Int(sample.magnitude)) }
    if count.isMultiple(of: Self.period) { tell() }
  }

  /// Tells of the buffers since the last time.
  func tell() {
    guard let last else { return }
    self.last = nil
    trace.set("audio-sink.sample-rate", last.sampleRate)
    trace.set("audio-sink.channels", last.channelCount)
    trace.set("audio-sink.frames", last.frameCount)
    trace.set("audio-sink.time", Int((last.time - start).milliseconds))
    trace.set("audio-sink.peak", min(peak, Int(Int16.max)))
    trace.set("audio-sink.buffers", count)
    peak = 0
  }
}
