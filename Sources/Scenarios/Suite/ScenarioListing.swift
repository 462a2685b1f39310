internal import Formats
public import ScenarioFormat

/// A list of the scenarios and cells of files.
public struct ScenarioListing {
  private let files: [ScenarioFile]

  /// Lists the scenarios of the files.
  public init(files: [ScenarioFile]) { self.files = files }

  /// A line for each scenario, and one for each cell of a matrix.
  public var text: String {
    files.map { file in
      var line = TextStyle.printable(file.id)
      if let title = file.title { line += "  \(TextStyle.printable(title))" }
      line +=
        "  (\(SuiteHeader.ranges(file.seeds.all).isEmpty ? "no seeds" : "seeds " + SuiteHeader.ranges(file.seeds.all)))"
      if !file.tags.isEmpty { line += "  [\(file.tags.joined(separator: ", "))]" }
      let cells = file.cells.count > 1 ? file.cells.map { "  \(TextStyle.printable($0.id))\n" }.joined() : ""
      return line + "\n" + cells
    }.joined()
  }

  /// A JSON array with an object for each scenario.
  public var json: String {
    JSON.array(
      files.map { file in
        var members: [JSON.Member] = [.init("id", .string(file.id)), .init("path", .string(file.path))]
        if let title = file.title { members.append(.init("title", .string(title))) }
        if let why = file.why { members.append(.init("why", .string(why))) }
        members += [
          .init("tags", .strings(file.tags)), .init("seeds", .array(file.seeds.all.map(JSON.unsigned))),
          .init("cells", .strings(file.cells.map(\.id))),
        ]
        return .object(members)
      }
    ).description
  }
}
