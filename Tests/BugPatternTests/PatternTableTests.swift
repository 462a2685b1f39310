import CallCore
import Testing

/// The page of bug patterns says what is so.
@Suite struct PatternTableTests {
  @Test func `every defect is told of in its comment and found by a test of its pattern`() throws {
    let table = try PatternTable()
    let classes = try ClassTable()
    #expect(table.rows.map(\.defect) + classes.rows.map(\.defect) == Defect.allCases.map { "\($0)" })
    for row in table.rows {
      #expect(!row.proofs.isEmpty, "nothing proves \(row.defect)")
      for name in row.proofs where name.hasPrefix("“") {
        #expect(name.dropFirst().prefix(2) == (row.pattern < 10 ? "0" : "") + "\(row.pattern)", "\(row.defect)")
      }
    }
  }

  @Test func `every pattern is proved or waits for something`() throws {
    let table = try PatternTable()
    let known = Set(table.rows.map(\.pattern) + PatternTable.waiting.map(\.pattern))
    #expect(known == Set(1...46))
    #expect(PatternTable.titles.count == 46)
  }

  @Test func `no reference is broken at a hyphen by the end of a line`() throws {
    #expect(try PatternTable().rows.map(\.seenAt).filter { $0.contains("- ") } == [])
  }

  @Test func `the page shows the table as it is`() throws {
    let table = try PatternTable().markdown
    #expect(try PatternTable.page().contains(table + "\n"), "docs/bug-patterns.md should read\n\(table)")
  }
}
