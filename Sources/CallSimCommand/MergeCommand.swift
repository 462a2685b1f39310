import ArgumentParser
import Formats
import ScenarioFormat
import ScenarioSuite

struct MergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Put the shares of a search together.",
    discussion: """
      What the other folders hold is added to the first; a share that was made twice counts once. Exit codes: 0 nothing \
      was found, 2 a folder is of another search, 5 something was found.
      """)

  @Argument(help: "Folders that '--corpus' has made; the first takes the rest.", completion: .directory)
  var folders: [String]

  func run() throws {
    guard folders.count > 1 else {
      throw UsageProblem(message: "merge takes two folders or more; the first takes what the others hold")
    }
    let stores = folders.map { CampaignStore(root: $0) }
    let merged: CampaignStore.Merged
    do {
      merged = try stores[0].merge(Array(stores.dropFirst()))
    } catch let error as CampaignError {
      throw UsageProblem(message: "\(error)")
    }
    for path in merged.unreadable {
      Output.error("note: \(TextStyle.printable(path)) is no finished part of a search, and is left out\n")
    }
    for bucket in merged.buckets {
      Output.text(
        "\(TextStyle.printable(bucket.check.title)): \(TextStyle.printable(bucket.check.actual)) (\(Wording.count(bucket.count, "run")))\n"
      )
      let path = stores[0].minimal(of: bucket)
      if let path { Output.text("  play it: \(ProgramName.current) run \(ShellWord.quoted(path))\n") }
    }
    Output.text(
      "\(Wording.count(merged.runCount, "run")) in \(Wording.count(merged.blockCount, "block")), "
        + "\(Wording.count(merged.buckets.count, "finding"))\n")
    throw (merged.buckets.isEmpty ? ExitStatus.pass : .broken).code
  }
}
