#if PLANTED_DEFECTS
  import CallCore
  import Foundation
  import ScenarioFormat

  /// The defect of `CALLSIM_PLANT`, in builds that have defects. Workers inherit the variable.
  enum PlantedDefect {
    static let variable = "CALLSIM_PLANT"

    /// Plants the defect that the environment names, for the whole process.
    static func plant() throws(UsageProblem) {
      guard let name = ProcessInfo.processInfo.environment[variable], !name.isEmpty else { return }
      guard let defect = Defect.allCases.first(where: { "\($0)" == name }) else {
        let near = nearest(to: name).map { "'\($0)'" }.joined(separator: ", ")
        throw UsageProblem(
          message: "\(variable): there is no defect '\(name)'; the nearest are \(near), and "
            + "'\(ProgramName.current) \(DefectsCommand.name)' lists all")
      }
      Defect.ofProcess = defect
    }

    /// Returns the defects with the most pairs of neighbouring letters in common with a name.
    private static func nearest(to name: String) -> [String] {
      func pairs(_ text: String) -> Set<String> {
        let letters = Array(text.lowercased())
        return Set(zip(letters, letters.dropFirst()).map { "\($0)\($1)" })
      }
      let wanted = pairs(name)
      return Defect.allCases.map { "\($0)" }
        .map { (name: $0, common: 2 * pairs($0).intersection(wanted).count - pairs($0).count) }
        .sorted { ($1.common, $0.name) < ($0.common, $1.name) }
        .prefix(3).map(\.name)
    }
  }
#endif
