import CallCore
import Testing

/// The page of defect classes says what is so.
@Suite struct ClassTableTests {
  @Test func `every defect of a class is found by a test of its class`() throws {
    for row in try ClassTable().rows {
      #expect(!row.proofs.isEmpty, "nothing proves \(row.defect)")
      #expect(row.proofs.allSatisfy { $0.hasPrefix("class \(row.number) - ") }, "\(row.defect): \(row.proofs)")
    }
  }

  @Test func `every class has a planted defect or waits for something`() throws {
    let table = try ClassTable()
    let known = table.rows.map(\.number) + ClassTable.patterns.map(\.number) + ClassTable.waiting.map(\.number)
    #expect(Set(known) == Set(1...28))
    #expect(ClassTable.titles.count == 28)
  }

  @Test func `the bug patterns that the classes name can be planted`() throws {
    let defects = Defect.allCases.map { "\($0)" }
    #expect(ClassTable.patterns.flatMap(\.defects).filter { !defects.contains($0) } == [])
  }

  @Test func `the page shows the table of classes as it is`() throws {
    let table = try ClassTable().markdown
    #expect(try ClassTable.page().contains(table + "\n"), "docs/defect-classes.md should read\n\(table)")
  }

  @Test(arguments: ClassTable.products) func `the page shows which classes are planted in a product`(
    _ product: String
  ) throws {
    let planted = try ClassTable.planted(in: product)
    let shown = try ClassTable.shown(of: product)
    #expect(
      !planted.isEmpty && planted == shown, "of \(product) the tests prove \(planted), and the page shows \(shown)")
  }
}
