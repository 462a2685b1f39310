import ScenarioFormat

/// One `kind=FILE` of `--report`; `-` is standard output.
public struct ReportRequest: Sendable, Equatable {
  /// The format of a report.
  public enum Kind: String, Sendable, CaseIterable { case junit, tap, json, github, html }

  /// The format of the report.
  public var kind: Kind
  /// The path of the file, or `-`.
  public var file: String

  /// Requests a report in a file.
  public init(kind: Kind, file: String) {
    self.kind = kind
    self.file = file
  }

  /// Reads `junit=F,tap=-`. Without a file, `json`, `tap` and `github` go to standard output.
  ///
  /// - Throws: for an unknown format, or a format without the file it needs.
  public static func parse(_ text: String) throws(Problem) -> [ReportRequest] {
    var requests: [ReportRequest] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = halves.first, let kind = Kind(rawValue: String(name)) else {
        let legal = Kind.allCases.map(\.rawValue)
        let hint = Suggestion.hint(for: String(halves.first ?? ""), among: legal, noun: "one of") ?? ""
        throw Problem(message: "unknown report '\(part)'; \(hint)")
      }
      let file = halves.count == 2 ? String(halves[1]) : kind == .junit || kind == .html ? "" : "-"
      guard !file.isEmpty else { throw Problem(message: "--report \(kind.rawValue)=FILE needs a file") }
      requests.append(ReportRequest(kind: kind, file: file))
    }
    return requests
  }

  /// An error in the value of `--report`.
  public struct Problem: Error, Sendable, Equatable {
    /// The text for a person, with the remedy.
    public let message: String
  }
}
