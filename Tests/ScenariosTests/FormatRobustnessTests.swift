import CallCore
import Foundation
import Glibc
import Testing

@testable import ScenarioFormat

@Suite struct `Bytes that are no scenario` {
  static func load(_ bytes: [UInt8]) -> ScenarioFile.Result {
    ScenarioFile.load(bytes: bytes, path: "m.yaml", registry: FormatTest.registry, reader: { _ in nil })
  }

  @Test(arguments: ["hello", "everything", "cgnat-handover"]) func `mutated bytes are reported and never trap`(
    _ name: String
  ) {
    let source = FileManager.default.contents(atPath: FormatTest.folder + "Valid/\(name).yaml").map { Array($0) } ?? []
    #expect(!source.isEmpty)
    var random = RandomSource(seed: 1).stream("mutate/\(name)")
    let alphabet = Array("{}[]:,-#&*!|>'\"%@`\t\n\r \\0aZ$~?=<.".utf8) + [0, 0x7F, 0x80, 0xC2, 0xEF, 0xFF]
    for _ in 0..<150 {
      var bytes = source
      for _ in 0...Int(random.uniform(below: 4)) {
        let at = Int(random.uniform(below: UInt64(bytes.count)))
        switch random.uniform(below: 4) {
        case 0: bytes[at] = alphabet[Int(random.uniform(below: UInt64(alphabet.count)))]
        case 1: bytes.insert(alphabet[Int(random.uniform(below: UInt64(alphabet.count)))], at: at)
        case 2: bytes.removeSubrange(at..<min(bytes.count, at + Int(random.uniform(below: 12)) + 1))
        default: bytes.removeSubrange(at...)
        }
        if bytes.isEmpty { bytes = [0x61] }
      }
      let result = Self.load(bytes)
      #expect(result.scenario != nil || !result.diagnostics.isEmpty)
      for style: DiagnosticReport.Style in [.text(color: true), .json, .github] {
        _ = result.report.rendered(as: style)
      }
    }
  }

  @Test func `random bytes are reported and never trap`() {
    var random = RandomSource(seed: 2).stream("noise")
    for length in 0..<200 {
      let result = Self.load(random.bytes(length))
      #expect(result.scenario == nil)
      #expect(!result.diagnostics.isEmpty)
    }
  }

  @Test func `a file over one mebibyte is refused`() {
    let result = Self.load(Array(repeating: 0x20, count: (1 << 20) + 1))
    #expect(result.diagnostics.map(\.code) == [.tooLarge])
  }

  @Test func `deep nesting in either style is refused`() {
    let flow = Self.load(Array((String(repeating: "{a: ", count: 5_000)).utf8))
    let block = Self.load(Array((0..<900).map { String(repeating: " ", count: $0) + "a:\n" }.joined().utf8))
    #expect(flow.diagnostics.map(\.code) == [.tooLarge])
    #expect(block.diagnostics.map(\.code) == [.tooLarge])
  }

  @Test func `a bomb of aliases is refused at once`() {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x]\n"
    for level in 1..<30 {
      text += "? [*a\(level - 1), *a\(level - 1), *a\(level - 1), *a\(level - 1)]\n: 1\n"
      text += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1), *a\(level - 1), *a\(level - 1)]\n"
    }
    let result = Self.load(Array(text.utf8))
    #expect(result.diagnostics.map(\.code) == [.anchorOrAlias])
  }

  private static let cells: String = {
    let values = (0..<64).map(String.init).joined(separator: ", ")
    return "matrix: { a: [\(values)], b: [\(values)] }\n"
  }()

  private static func scenario(_ head: String) -> String {
    """
    callsim: 1
    id: many
    \(head)
    run: 10s
    peers: { alice: { profile: knotos, network: wifi }, bob: { profile: knotos, network: wifi } }
    expect: [{ never: alice.call.state == ended }]
    timeline:
      - { at: "${a}ms", mark: ma }
      - { at: "${b}ms", mark: mb }
    """
  }

  @Test func `a matrix of a long scenario is refused where it has more values than can be kept`() {
    let seeds = (1...5_000).map(String.init).joined(separator: ", ")
    let result = FormatTest.load(Self.scenario(Self.cells + "seeds: { list: [\(seeds)] }"))
    #expect(result.diagnostics.map(\.code) == [.tooLarge], "\(FormatTest.text(result))")
    #expect(result.diagnostics.first?.span.line == 3 && result.diagnostics.first?.cell == nil)
    #expect(FormatTest.text(result).contains("more than 1000000 values together"))
    #expect(FormatTest.text(result).contains("make several files"))
  }

  @Test func `a matrix of a scenario with a long text is refused where it has more text than can be kept`() {
    let text = "why: " + String(repeating: "word ", count: 180_000) + "\n"
    let result = FormatTest.load(Self.scenario(text + Self.cells))
    #expect(result.diagnostics.map(\.code) == [.tooLarge], "\(FormatTest.text(result))")
  }

  @Test func `a variable with a long text is refused where it is put in too many places`() {
    let value = String(repeating: "word ", count: 100_000)
    let uses = String(repeating: "${v}", count: 10_000)
    let result = FormatTest.load(Self.scenario("vars: { a: 1, b: 2, v: \(value) }\nwhy: \"\(uses)\""))
    #expect(result.diagnostics.map(\.code) == [.tooLarge], "\(FormatTest.text(result))")
    #expect(FormatTest.text(result).contains("more than 1000000 values with those of its vars"))
  }

  @Test func `an entry that would fire after the end of time is read, and reported`() {
    let result = FormatTest.load(
      timeline: "  - { id: tick, every: 8760h, times: 300, do: alice.mute, refused: true }",
      expect: "  - { count: tick, gte: 1 }", rest: "limits: { virtual: 8760h }")
    #expect(!result.diagnostics.isEmpty)
  }

  @Test func `a key that is a list is refused`() {
    let result = Self.load(Array("callsim: 1\n? [a, b]\n: 1\n".utf8))
    #expect(result.diagnostics.map(\.code).contains(.keyNotScalar))
  }

  @Test func `a long file of one key is refused in the time of a few readings`() {
    let text = "callsim: 1\nid: a\n" + String(repeating: "id: a\n", count: 130_000)
    let start = Self.processorTime
    _ = FormatTest.load("callsim: 1\n" + String(repeating: "- a\n", count: 190_000))
    let once = Self.processorTime - start
    let diagnostics = FormatTest.load(text).diagnostics
    let time = Self.processorTime - start - once
    #expect(diagnostics.contains { $0.code == .duplicateKey })
    #expect(time < once * 8 + 2)
  }

  /// The seconds that this thread has had a processor: other tests run beside this one.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test func `a path that is a folder cannot be read`() {
    let result = ScenarioFile.load(path: FormatTest.folder, registry: FormatTest.registry)
    #expect(result.diagnostics.map(\.code) == [.unreadable])
  }

  @Test func `a byte order mark and Windows line ends are accepted`() throws {
    let text = try String(contentsOfFile: FormatTest.folder + "Valid/hello.yaml", encoding: .utf8)
    let result = FormatTest.load("\u{FEFF}" + text.replacing("\n", with: "\r\n"))
    #expect(FormatTest.text(result) == "")
    #expect(result.scenario?.cells.count == 1)
  }
}
