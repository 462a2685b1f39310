internal import CallCore
internal import PeerSession

/// Finds the one who speaks in a conference by audio levels over time.
///
/// The method is that of Volfin and Cohen ("Dominant speaker identification for multipoint videoconferencing", 2012)
/// with the constants of Jitsi and mediasoup: the levels of 20 ms are judged over 20 ms, 100 ms and one second, and
/// another speaker must beat the present one in all three. So a cough changes nothing, nor does a pause between words,
/// and who is silent stays until another speaks. The estimate of the background noise is left out: audio counts only
/// where its sender calls it voice.
struct DominantSpeaker {
  private struct Speaker {
    let id: String
    /// The last levels, each of 20 ms, the newest first: 0 for silence, 127 for the loudest.
    var levels: [UInt8] = Array(repeating: 0, count: DominantSpeaker.immediateCount)
    /// The end of the last level.
    var last: Instant
    /// The activity over the three spans.
    var activity = Activity()

    mutating func append(_ level: UInt8, for time: Interval) {
      let count = Int(min(time.milliseconds / step.milliseconds, Int64(levels.count)))
      levels.removeLast(count)
      levels.insert(contentsOf: repeatElement(level, count: count), at: 0)
    }

    mutating func evaluate() {
      let steps = levels.map { Int($0) / loudnessStep }
      let mediums = (0..<mediumCount).map { medium in
        steps[medium * stepsPerMedium..<(medium + 1) * stepsPerMedium].count { $0 > loudnessThreshold }
      }
      activity = Activity(
        immediate: immediateScores[steps[0]], medium: mediumScores[mediums[0]],
        long: longScores[mediums.count { $0 > mediumThreshold }])
    }
  }

  /// The natural logarithms of the scores over the three spans.
  private struct Activity {
    var immediate = DominantSpeaker.immediateScores[0]
    var medium = DominantSpeaker.mediumScores[0]
    var long = DominantSpeaker.longScores[0]
  }

  private static let step = Interval.milliseconds(20)
  /// The longest packet; a longer gap is silence.
  private static let longestPacket = Interval.milliseconds(120)
  private static let (immediateCount, mediumCount, stepsPerMedium) = (50, 10, 5)
  /// The size of a step of loudness, how many of them are needed, and how many 20 ms of 100 that must have.
  private static let (loudnessStep, loudnessThreshold, mediumThreshold) = (10, 7, 4)
  /// By how much another one must beat the present one: the logarithms of the ratios of their scores.
  private static let (immediateMargin, mediumMargin, longMargin) = (3.0, 2.0, 0.0)

  private static let immediateScores = scores(of: 13, rate: 0.78)
  private static let mediumScores = scores(of: 5, rate: 24)
  private static let longScores = scores(of: 10, rate: 47)

  /// The time between two evaluations.
  static let period = Interval.milliseconds(300)

  private var speakers: [Speaker] = []
  /// The one who speaks; nil before anybody has, and after that one was taken out.
  private(set) var current: String?

  // MARK: Speakers

  /// Lets these take part, and no others.
  mutating func setSpeakers(_ ids: [String], at now: Instant) {
    speakers.removeAll { !ids.contains($0.id) }
    for id in ids where !speakers.contains(where: { $0.id == id }) { speakers.append(Speaker(id: id, last: now)) }
    if let current, !ids.contains(current) { self.current = nil }
  }

  /// Takes the level of a packet that has come now.
  mutating func add(_ level: AudioLevelIndication, of id: String, at now: Instant) {
    guard let index = speakers.firstIndex(where: { $0.id == id }) else { return }
    let elapsed = now - speakers[index].last
    let loudness = level.isVoice ? 127 - level.level : 0
    if elapsed > Self.longestPacket {
      speakers[index].append(0, for: elapsed - Self.step)
      speakers[index].append(loudness, for: Self.step)
    } else {
      speakers[index].append(loudness, for: max(elapsed, Self.step))
    }
    speakers[index].last = now
  }

  // MARK: Evaluation

  /// Looks who speaks now; call it at regular times.
  ///
  /// - Returns: whether that is another one than before.
  mutating func evaluate(at now: Instant) -> Bool {
    for index in speakers.indices {
      let silence = now - speakers[index].last
      if silence > Self.longestPacket {
        speakers[index].append(0, for: silence)
        speakers[index].last = now
      }
      speakers[index].evaluate()
    }
    let present = speakers.first { $0.id == current }?.activity ?? Activity()
    var best: (id: String, lead: Double)?
    for speaker in speakers where speaker.id != current {
      let lead = speaker.activity.medium - present.medium
      guard speaker.activity.immediate - present.immediate > Self.immediateMargin, lead > Self.mediumMargin,
        speaker.activity.long - present.long > Self.longMargin, lead > best?.lead ?? 0
      else { continue }
      best = (speaker.id, lead)
    }
    guard let best else { return false }
    current = best.id
    return true
  }

  /// Returns the logarithm of the score for each number of active parts among `count`: the likelihood that speech has so
  /// many, against that noise has, where `rate` is the parameter of the exponential distribution.
  private static func scores(of count: Int, rate: Double) -> [Double] {
    let half = ElementaryFunctions.log(0.5)
    var combinations = 1.0
    return (0...count).map { active in
      if active > 0 { combinations *= Double(count - active + 1) / Double(active) }
      let score =
        ElementaryFunctions.log(combinations) + Double(count) * half - ElementaryFunctions.log(rate)
        + rate * Double(active)
      return ElementaryFunctions.log(max(score, 1e-10))
    }
  }
}
