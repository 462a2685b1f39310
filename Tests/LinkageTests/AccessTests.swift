import Testing

/// Access levels that cost speed without a warning of the compiler.
@Suite struct AccessTests {
  @Test func `what is inlined into other targets is public`() {
    let files = SourceTree("Sources").files
    #expect(files.contains { $0.lines.contains { $0.contains("@inlinable public") } })
    for file in files {
      for line in Self.inlinablePackageLines(file.lines) {
        Issue.record("\(file.path):\(line): only public functions are inlined into other targets")
      }
    }
  }

  @Test func `the check finds what it looks for`() {
    let lines = [
      "@inlinable package func a() {}", "@inlinable public func b() {}", "@inlinable", "package func c() {}",
      "@inlinable init() {}", "package func d() {}",
    ]
    #expect(Self.inlinablePackageLines(lines) == [1, 3])
  }

  /// The numbers of the lines whose `@inlinable` belongs to a `package` declaration.
  private static func inlinablePackageLines(_ lines: [String]) -> [Int] {
    lines.indices.filter { index in
      guard let attribute = lines[index].firstRange(of: "@inlinable") else { return false }
      let rest = lines[index][attribute.upperBound...]
      let isAlone = rest.allSatisfy(\.isWhitespace) && index + 1 < lines.count
      return (isAlone ? lines[index + 1][...] : rest).split(separator: " ").contains("package")
    }.map { $0 + 1 }
  }
}
