#if PLANTED_DEFECTS
  import ArgumentParser
  import CallCore
  import Foundation
  import ScenarioFormat

  /// Lists the defects of this build, for scripts: a line for each, with its name, a tab, and its comment.
  struct DefectsCommand: ParsableCommand {
    static let name = "defects"
    static let configuration = CommandConfiguration(
      commandName: name, abstract: "List the defects that CALLSIM_PLANT can plant.", shouldDisplay: false)

    func run() {
      let comments = Self.comments()
      for defect in Defect.allCases.map({ "\($0)" }) {
        Output.text("\(defect)\t\(comments[defect] ?? "")\n")
      }
    }

    /// Returns the comments of the declarations, from the source that this program was built of.
    private static func comments() -> [String: String] {
      let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "CallCore/Defect.swift")
      var comments: [String: String] = [:]
      var lines: [Substring] = []
      for line in ((try? String(contentsOf: source, encoding: .utf8)) ?? "").split(separator: "\n") {
        let line = line.drop { $0 == " " }
        if line.hasPrefix("/// ") {
          lines.append(line.dropFirst(4))
        } else {
          if line.hasPrefix("case ") { comments[String(line.dropFirst(5))] = lines.joined(separator: " ") }
          lines = []
        }
      }
      return comments
    }
  }
#endif
