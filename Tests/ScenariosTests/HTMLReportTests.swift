import CallCore
import Formats
import Foundation
import Testing
import VirtualPeer

@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// The page of `--report html=FILE`. interop/report.py opens it in a browser.
@Suite struct HTMLReportTests {
  private func page(_ runs: [ReportedRun]) -> String {
    Sample.output(of: runs) { HTMLReporter(place: ".", write: $0) }
  }

  /// The blocks of data, by their ids.
  private func data(_ page: String) throws -> [String: JSON] {
    var blocks: [String: JSON] = [:]
    for block in page.components(separatedBy: "<script type=\"application/json\" id=\"").dropFirst() {
      let id = String(block.prefix { $0 != "\"" })
      let text = block.dropFirst(id.count + 2).components(separatedBy: "</script>")[0]
      blocks[id] = try JSON(parsing: text.utf8)
    }
    return blocks
  }

  @Test func `a page holds the suite and its runs and asks for nothing`() throws {
    let page = page([Sample.run(.pass, id: "a#1"), Sample.run(.fail, id: "b#1", findings: [Sample.failure])])
    let data = try data(page)
    #expect(data["data"]?["runs"]?.array?.count == 2)
    #expect(data["run-1"]?["result"]?["findings"]?.array?.count == 1)
    #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
    for word in ["http://", "https://", "src=\"", "@import", "/*STYLE*/", "/*SCRIPT*/"] {
      #expect(!page.replacing("http://www.w3.org/2000/svg", with: "").contains(word), "\(word)")
    }
    #expect(page.contains("default-src 'none'"))
  }

  @Test func `text of a scenario cannot end the data that it stands in`() throws {
    var finding = Sample.failure
    finding.actual = "</script><img src=x onerror=alert(1)><!-- <SCRIPT>"
    let page = page([Sample.run(.fail, findings: [finding])])
    #expect(!page.contains("<img") && !page.contains("<SCRIPT>"))
    #expect(try data(page)["run-0"]?["result"]?["findings"]?.array?.first?["actual"]?.string == finding.actual)
  }

  @Test func `the time that a run took on this machine is no part of the page`() {
    var runs = [Sample.run(.pass)]
    let page = page(runs)
    runs[0].result.cpuSeconds = 99
    #expect(self.page(runs) == page && !page.contains("cpuSeconds"))
  }

  @Test func `a cell is told over its seeds, with the worst of them`() throws {
    let runs = (1...4).map { seed in
      var finding = Sample.failure
      finding.miss = seed == 3 ? 2 : 1
      var run = Sample.run(seed == 1 ? .pass : .fail, id: "a#\(seed)", findings: seed == 1 ? [] : [finding])
      run.result.seed = UInt64(seed)
      return run
    }
    let cell = try #require(try data(page(runs))["data"]?["cells"]?.array?.first)
    #expect(cell["passed"] == 1 && cell["worst"] == 2 && cell["verdict"] == "fail")
    #expect(cell["runs"]?.array?.count == 4)
  }

  @Test(arguments: [
    ("out/callsim-runs/a#1/bob.wav", "out", "callsim-runs/a%231/bob.wav"),
    ("callsim-runs/x/a b.wav", "reports/today", "../../callsim-runs/x/a%20b.wav"),
    ("/tmp/runs/bob.wav", "/tmp/pages", "../runs/bob.wav"), ("a:b/c.wav", ".", "a%3Ab/c.wav"),
  ])
  func `a page finds the sounds from where it is`(file: String, folder: String, link: String) {
    #expect(HTMLReporter.link(to: file, from: folder) == link)
  }

  @Test func `a report of a page needs a file`() {
    #expect(throws: ReportRequest.Problem.self) { try ReportRequest.parse("html") }
    #expect(throws: Never.self) { try ReportRequest.parse("html=a.html,junit=b.xml") }
  }
}
