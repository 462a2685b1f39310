import Foundation
import ScenarioFormat
import ScenarioSuite

/// Shows a search: a line that changes on a terminal, plain lines elsewhere.
final class CampaignView {
  private let word: String
  private let isExhaustive: Bool
  /// What the search is a part of, or nil for the whole.
  private let shard: String?
  private let isLive = Output.isTerminal(STDERR_FILENO)
  private let begun = Date.now
  private var shown = Date.distantPast
  private var atStart: Int?
  private var bucketCount = 0

  init(word: String, isExhaustive: Bool, shard: String?) {
    (self.word, self.isExhaustive, self.shard) = (word, isExhaustive, shard)
  }

  func show(_ progress: Campaign.Progress) {
    if atStart == nil { atStart = progress.runCount - 1 }
    for bucket in progress.buckets.dropFirst(bucketCount) where isLive {
      Output.error(
        "\r\u{1B}[Kfound: \(TextStyle.printable(bucket.check.title)): \(TextStyle.printable(bucket.check.actual))\n")
    }
    bucketCount = max(bucketCount, progress.buckets.count)
    // Without a terminal a line now and then shows that it is alive.
    guard Date.now.timeIntervalSince(shown) >= (isLive ? 0.2 : 30) else { return }
    if !isLive, shown == .distantPast {
      shown = .now
      return
    }
    shown = .now
    Output.error((isLive ? "\r\u{1B}[K" : "") + line(progress) + (isLive ? "" : "\n"))
  }

  private func line(_ progress: Campaign.Progress) -> String {
    let seconds = Date.now.timeIntervalSince(begun)
    let made = Double(progress.runCount - (atStart ?? 0))
    let rate = seconds > 0 ? made / seconds : 0
    return "\(word): \(progress.runCount) of \(progress.planned) runs, \(Int(rate.rounded())) a second, "
      + "\(Wording.count(progress.buckets.count, "finding"))"
  }

  func end(_ outcome: Campaign.Outcome, corpus: String) {
    if isLive { Output.error("\r\u{1B}[K") }
    let style = Output.style(for: 1)
    let progress = outcome.progress
    show(outcome.regressions, style)
    for found in outcome.found {
      let bucket = found.bucket
      Output.text(style.paint("FOUND \(TextStyle.printable(bucket.check.title))", .failure) + "\n")
      Output.text("  \(TextStyle.printable(bucket.check.actual))\n")
      Output.text("  in \(Wording.count(bucket.count, "run")), of \(TextStyle.printable(bucket.first.cellID)) first\n")
      if let path = found.path {
        Output.text("  play it: \(ProgramName.current) run \(ShellWord.quoted(path))\n")
      } else {
        Output.text("  \(Self.remark(found.obstacle)): \(TextStyle.printable(corpus))/findings\n")
      }
    }
    for omission in progress.omissions { Output.error("note: \(TextStyle.printable(omission))\n") }
    for problem in progress.problems.prefix(5) { Output.error("note: \(TextStyle.printable(problem))\n") }
    if let failure = outcome.failure { Output.error("error: \(failure); what was found is kept\n") }
    if outcome.isInterrupted {
      Output.error("interrupted: the same command goes on with what \(TextStyle.printable(corpus)) holds\n")
    }
    var planned = isExhaustive ? "\(progress.planned) rows of the table" : Wording.count(progress.planned, "run")
    if let shard { planned += " in shard \(shard)" }
    var line = "\(progress.runCount) of \(planned)"
    line += ", in \(progress.effectiveCount) of them every move met something"
    line += "; \(Wording.count(outcome.found.count, "finding"))"
    Output.text(style.paint(line, outcome.found.isEmpty ? .success : .failure) + "\n")
  }

  private static func remark(_ obstacle: Campaign.Obstacle?) -> String {
    switch obstacle {
    case .notRepeated: "it could not be repeated from a file alone"
    case .endless: "it is not reduced, because smaller runs may have no end either"
    case .needsTwoPlays: "it is not reduced, because one play alone shows nothing"
    case .notWanted: "it is not reduced (--shrink 0)"
    case nil: "it is not reduced yet"
    }
  }

  /// Shows the regressions that do not pass, and counts the others.
  private func show(_ regressions: [Campaign.Regression], _ style: TextStyle) {
    guard !regressions.isEmpty else { return }
    for regression in regressions {
      let path = TextStyle.printable(regression.path)
      switch regression.outcome {
      case .passes: continue
      case .fails(let reason):
        Output.text(style.paint("STILL FAILS \(path)", .failure) + "\n  \(TextStyle.printable(reason))\n")
      case .unfit(let reason):
        Output.error("note: \(path) does not fit this version any more: \(TextStyle.printable(reason))\n")
      }
    }
    let passed = regressions.count { $0.outcome == .passes }
    Output.text("\(passed) of \(Wording.count(regressions.count, "regression")) passed\n")
  }
}
