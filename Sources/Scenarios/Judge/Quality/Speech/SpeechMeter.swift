internal import CallCore

/// `q.stoi`, `q.estoi` and `q.lsd`: compares what a peer hears over a connection with what was said, one value for each
/// 2.5 s of speech.
package final class SpeechMeter {
  /// The amount of speech behind a value: an utterance, and several times what STOI needs.
  private static let length = 250
  static let speechInValue = Interval.milliseconds(10) * Int64(length)
  private static let threshold = 0.00316 * 32_768
  /// The number of silent frames that are kept after speech, in which what is heard may linger.
  private static let hangover = 10

  package let connection: String
  private let trace: Trace
  private let subject: TraceSubject
  private let wanted: Set<String>
  private var said: [Int16] = []
  private var heard: [Int16] = []
  private var speech = 0
  private var silence = 0

  init(of connection: String, wanted: Set<String>, trace: Trace) {
    self.connection = connection
    self.wanted = wanted
    self.trace = trace
    subject = trace.subject(connection)
  }

  /// The names of the values.
  package static let names: Set<String> = [
    HarnessEvents.intelligibility.name, HarnessEvents.extendedIntelligibility.name,
    HarnessEvents.logSpectralDistance.name,
  ]

  /// Returns whether somebody speaks in a frame of 10 ms: from -50 dBov on.
  package static func isSpeech(_ frame: some Collection<Int16>) -> Bool {
    let energy = frame.reduce(0.0) { $0 + Double($1) * Double($1) }
    return energy >= threshold * threshold * Double(frame.count)
  }

  /// Takes a frame of what was said, and what was heard in its place.
  package func hear(said frame: [Int16], heard other: [Int16]) {
    if Self.isSpeech(frame) {
      speech += 1
      silence = 0
    } else {
      silence += 1
      if silence > Self.hangover { return }
    }
    said += frame
    heard += other
    if speech == Self.length { conclude() }
  }

  /// Drops the speech since the last value: the call is over, or several speak.
  package func restart() {
    said.removeAll(keepingCapacity: true)
    heard.removeAll(keepingCapacity: true)
    (speech, silence) = (0, 0)
  }

  private func conclude() {
    defer { restart() }
    guard let comparison = SpeechComparison(reference: said, heard: heard) else { return }
    write(HarnessEvents.intelligibility) { comparison.intelligibility }
    write(HarnessEvents.extendedIntelligibility) { comparison.extendedIntelligibility }
    write(HarnessEvents.logSpectralDistance) { comparison.logSpectralDistance }
  }

  private func write(_ event: TraceEvent<Double>, _ value: () -> Double) {
    if wanted.contains(event.name) { trace.write(event, subject, value()) }
  }
}
