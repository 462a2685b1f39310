internal import CallCore
internal import Formats
internal import Foundation
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import VirtualPeer

/// A self-contained page: the suite as a table, and the story of every run. It loads nothing over a network.
///
/// The page holds each run as a block of escaped JSON, which is parsed when the run is opened. The same runs give the
/// same bytes.
public final class HTMLReporter: Reporter {
  /// The page size in bytes beyond which passing runs have no story, and the size beyond which no run has one.
  private static let (passLimit, limit) = (16 << 20, 64 << 20)
  private static let notRunLimit = 2_000

  private struct PageCell {
    let id: String
    let title: String?
    let path: String
    /// The indices of the cell's runs, one per seed.
    var runs: [Int] = []
    /// The judgement over all seeds, if there is one.
    var overall: Int?
  }

  public var wantsStories: Bool { true }
  private let place: String
  private let write: (String) -> Void
  private var header: SuiteHeader?
  private var cells: [PageCell] = []
  private var cellIndex: [String: Int] = [:]
  /// The runs without their stories.
  private var runs: [ReportedRun] = []
  private var notRun: [JSON] = []
  private var problems: [JSON] = []
  private var size = 0
  /// The part of the page after the data.
  private let rest: Substring

  /// Reports to a page.
  ///
  /// - Parameter place: the folder of the page, which links to recordings of runs are relative to.
  public init(place: String, write: @escaping (String) -> Void) {
    self.place = place
    self.write = write
    rest = Self.template.after
  }

  public func begin(_ suite: SuiteHeader) {
    header = suite
    write(String(Self.template.before))
  }

  public func finished(_ run: ReportedRun) {
    let (name, index) = (RunName(run.result.id), runs.count)
    let cell = cellIndex[name.cellID] ?? cells.count
    if cell == cells.count {
      cells.append(PageCell(id: name.cellID, title: run.result.title, path: run.result.path))
      cellIndex[name.cellID] = cell
    }
    if name.seed == nil { cells[cell].overall = index } else { cells[cell].runs.append(index) }
    write(block("run-\(index)", detail(of: run)))
    var known = run
    known.result.story = nil
    runs.append(known)
  }

  public func notRun(_ run: PlannedRun) {
    guard notRun.count < Self.notRunLimit else { return }
    notRun.append(["id": .string(run.id), "reason": .string(run.reason)])
  }

  public func refused(_ problem: FileProblem) {
    problems.append(["place": .string(problem.location), "message": .string(problem.message)])
  }

  public func end(_ summary: SuiteSummary) {
    let suite: JSON = [
      "summary": .string(summary.line), "lines": .strings(header?.lines ?? []),
      "cells": .array(cells.map(json)), "runs": .array(runs.map(Self.json)), "notRun": .array(notRun),
      "notRunCount": .integer(Int64(summary.notRun)), "problems": .array(problems),
    ]
    write(block("data", suite))
    write(String(rest))
  }

  // MARK: Data

  /// Returns a cell with the run to examine first: the notable run of the worst failure group, or else the first run.
  private func json(_ cell: PageCell) -> JSON {
    let all = cell.runs + (cell.overall.map { [$0] } ?? [])
    var groups: [FailureGroup] = []
    for run in all.map({ runs[$0] }) where run.result.verdict != .pass {
      let signature = FailureGroup.signature(of: run.result)
      if let index = groups.firstIndex(where: { $0.signature == signature }) {
        groups[index].add(run)
      } else {
        groups.append(FailureGroup(run))
      }
    }
    let weight = { (group: FailureGroup) in
      (ExitStatus(group.runs[0].result.verdict).severity, group.runs.count)
    }
    // Ties go to the first group.
    let worst = groups.reversed().max { weight($0) <= weight($1) && weight($0) != weight($1) }
    let notable = worst.map { $0.runs[$0.notable.index].result }
    let index = notable.flatMap { notable in all.first { runs[$0].result.id == notable.id } } ?? all.first ?? 0
    return [
      "id": .string(cell.id), "title": cell.title.map { .string($0) } ?? .null, "path": .string(cell.path),
      "runs": .array(cell.runs.map { .integer(Int64($0)) }),
      "overall": cell.overall.map { .integer(Int64($0)) } ?? .null,
      "passed": .integer(Int64(cell.runs.count { runs[$0].result.verdict == .pass })),
      "verdict": .string(runs[index].result.verdict.rawValue), "worst": .integer(Int64(index)),
      "signatures": .integer(Int64(groups.count)),
    ]
  }

  private static func json(_ run: ReportedRun) -> JSON {
    let result = run.result
    let finding = result.findings.first { $0.kind != .warning }
    return [
      "id": .string(result.id), "seed": RunName(result.id).seed.map(JSON.unsigned) ?? .null,
      "verdict": .string(result.verdict.rawValue), "seconds": .number(result.virtualDuration.seconds),
      "what": .string(finding.map { "\($0.title): \($0.actual)" } ?? ""),
      "place": .string(finding?.location ?? ""), "signature": .string(finding?.signature.text ?? ""),
    ]
  }

  private func detail(of run: ReportedRun) -> JSON {
    var members: [JSON.Member] = []
    // The processor time differs between runs of the same seed.
    if case .object(let all) = run.result.json { members = all.filter { $0.key != "cpuSeconds" } }
    var page: [JSON.Member] = [.init("result", .object(members)), .init("replay", .string(run.replay))]
    if let artifacts = run.artifacts {
      let sounds = artifacts.names.filter { $0.hasSuffix(".wav") }
      page += [
        .init("folder", .string(artifacts.folder)), .init("files", .strings(artifacts.names)),
        .init("sounds", .strings(sounds.map { Self.link(to: "\(artifacts.folder)/\($0)", from: place) })),
      ]
    }
    let limit = run.result.verdict == .pass ? Self.passLimit : Self.limit
    if let story = run.result.story, size < limit { page.append(.init("story", story.json)) }
    return .object(page)
  }

  private func block(_ id: String, _ json: JSON) -> String {
    // A browser ends the block at the first `</script`, even within a string.
    let text = json.description.replacing("<", with: "\\u003c")
    size += text.utf8.count
    return "<script type=\"application/json\" id=\"\(id)\">\(text)</script>\n"
  }

  // MARK: The page

  private static let template: (before: Substring, after: Substring) = {
    let text = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
    let scripts = [
      PackageResources.page_js, PackageResources.suite_js, PackageResources.timeline_js, PackageResources.lanes_js,
      PackageResources.charts_js, PackageResources.sequence_js, PackageResources.run_js,
    ]
    let page = text(PackageResources.report_html)
      .replacing("/*STYLE*/", with: text(PackageResources.report_css))
      .replacing("/*SCRIPT*/", with: scripts.map(text).joined(separator: "\n"))
    guard let border = page.firstRange(of: "<!--DATA-->") else { preconditionFailure("the page has no place for data") }
    return (page[..<border.lowerBound], page[border.upperBound...])
  }()

  /// Returns the path from a folder to a file as a relative reference (RFC 3986).
  static func link(to file: String, from folder: String) -> String {
    let here = FileManager.default.currentDirectoryPath
    func parts(_ path: String) -> [Substring] {
      var parts: [Substring] = []
      for part in (path.hasPrefix("/") ? path : here + "/" + path).split(separator: "/") where part != "." {
        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
      }
      return parts
    }
    let (from, to) = (parts(folder), parts(file))
    let common = zip(from, to).prefix { $0 == $1 }.count
    let way = Array(repeating: "..", count: from.count - common) + to[common...].map(encoded)
    // A colon in the first part would make it a scheme.
    return way.first?.contains(":") == true ? "./" + way.joined(separator: "/") : way.joined(separator: "/")
  }

  private static func encoded(_ part: Substring) -> String {
    part.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}
