import CallCore
import Testing

@testable import ScenarioFormat

@Suite struct `Files that are right` {
  static let names = ["hello", "cgnat-handover", "everything"]

  @Test(arguments: names) func `a valid file is read without a word`(_ name: String) {
    let path = FormatTest.folder + "Valid/\(name).yaml"
    let result = ScenarioFile.load(path: path, registry: FormatTest.registry)
    #expect(FormatTest.text(result) == "")
    #expect(result.scenario != nil)
  }
}
