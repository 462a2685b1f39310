internal import ScenarioFormat
internal import ScenarioRun
internal import Vocabulary

/// What encoders did otherwise than a reader of the settings expects, in words.
struct CodecNotes {
  /// What is rarer is not told: the first packets of a call differ anyway.
  private static let leastShare = 0.1

  /// What the packets of each arm carry, in the order of the arms.
  private let arms: [(name: String, sent: [SentOpus])]
  private let untaken: [String]

  init(_ comparison: ArmComparison) {
    arms = comparison.arms.names.map { ($0, comparison.sentOpus(of: $0)) }
    untaken = comparison.untakenTexts
  }

  var lines: [String] {
    untaken
      + arms.flatMap { name, sent in
        sent.flatMap { one in
          [redundancy(one), bandwidth(one)].compactMap(\.self).map { "'\(name)': \($0)" }
        }
      }
  }

  private func redundancy(_ sent: SentOpus) -> String? {
    guard sent.askedForRedundancy > 0 else { return nil }
    let share = 1 - Double(sent.withRedundancy) / Double(sent.askedForRedundancy)
    guard share >= Self.leastShare else { return nil }
    return
      "\(sent.peer) asks Opus for redundancy (FEC), and \(Self.percent(share)) of the packets after speech have none"
  }

  private func bandwidth(_ sent: SentOpus) -> String? {
    let widest = arms.compactMap { arm in
      arm.sent.first { $0.peer == sent.peer }?.usualBandwidth.map { (arm.name, $0) }
    }.max { $0.1 < $1.1 }
    guard let (arm, limit) = widest else { return nil }
    let narrower = sent.bandwidths.filter { $0.key < limit }
    let count = narrower.values.reduce(0, +)
    let share = Double(count) / Double(sent.bandwidths.values.reduce(0, +))
    guard share >= Self.leastShare, let usual = Self.usual(narrower) else { return nil }
    let other = sent.usualBandwidth == limit ? "the rest" : "'\(arm)'"
    return "\(sent.peer)'s sound ends at \(usual / 1_000) kHz in \(Self.percent(share)) of the packets, where \(other) "
      + "has \(limit / 1_000) kHz"
  }

  private static func percent(_ share: Double) -> String {
    Wording.quantity((share * 100).rounded() / 100, .percentage)
  }

  /// Returns the bandwidth of most packets, of equally many the wider one.
  static func usual(_ bandwidths: [Int: Int]) -> Int? {
    bandwidths.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
  }
}

extension SentOpus {
  fileprivate var usualBandwidth: Int? { CodecNotes.usual(bandwidths) }
}

extension ArmComparison {
  /// Says of each arm which format a peer prefers over a connection whose other side does not take it, unless it is so in
  /// every arm.
  fileprivate var untakenTexts: [String] {
    let found = arms.names.map { arm in
      let texts = runs.filter { $0.arm == arm }.flatMap(\.untakenFormats).flatMap { subject, formats in
        formats.map { "\(ConnectionSubject.text(of: subject)) \($0)" }
      }
      return (arm: arm, texts: Set(texts))
    }
    let everywhere = found.dropFirst().reduce(found.first?.texts ?? []) { $0.intersection($1.texts) }
    return found.flatMap { arm, texts in
      texts.subtracting(everywhere).sorted().map {
        "'\(arm)': \($0): the other side does not take it, or prefers another"
      }
    }
  }
}
