internal import Foundation

/// A chart as SVG: lines with bands of uncertainty, over numbers or names.
struct CompareChart {
  /// A point of a line, with its interval.
  struct Point {
    var x: Double
    var y: Double
    var interval: ClosedRange<Double>?
  }

  struct Line {
    var name: String
    /// The place among all arms, which gives colour and dashes.
    var style: Int
    var points: [Point]
    /// Whether points are joined by steps, as in a distribution.
    var isSteps = false
    /// Whether points are joined at all.
    var isJoined = true
    /// Whether each point has a mark.
    var hasMarks = true
  }

  var lines: [Line]
  /// The marks of the x axis; nil for round numbers.
  var marks: [(x: Double, text: String)]?
  /// Returns the text of a number on the y axis, and on an x axis of round numbers.
  var text: (Double) -> String
  var xText: (Double) -> String = { "\($0)" }

  private static let size = (width: 460.0, height: 240.0)
  private static let margin = (left: 64.0, right: 14.0, top: 12.0, bottom: 30.0)
  static let dashes = ["", "7 3", "2 3", "9 3 2 3", "4 4", "1 2"]

  static func color(_ style: Int) -> String { "var(--s\(style % 6))" }
  /// Another round of colours has other dashes.
  static func dash(_ style: Int) -> String { dashes[(style + style / 6) % dashes.count] }

  var svg: String {
    let points = lines.flatMap(\.points)
    guard !points.isEmpty else { return "" }
    let xs = Self.range(points.map(\.x) + (marks ?? []).map(\.x), padding: marks == nil ? 0.04 : 0.08)
    let ys = Self.range(points.flatMap { [$0.y, $0.interval?.lowerBound ?? $0.y, $0.interval?.upperBound ?? $0.y] })
    let x = { Self.margin.left + ($0 - xs.lowerBound) / (xs.upperBound - xs.lowerBound) * Self.innerWidth }
    let y = {
      Self.size.height - Self.margin.bottom - ($0 - ys.lowerBound) / (ys.upperBound - ys.lowerBound) * Self.innerHeight
    }
    var out =
      "<svg viewBox=\"0 0 \(Int(Self.size.width)) \(Int(Self.size.height))\" role=\"img\" "
      + "aria-label=\"\(StaticPage.escaped(summary))\">\n"
    for tick in Self.ticks(ys, text) {
      out += "<line class=\"grid\" x1=\"\(Int(Self.margin.left))\" x2=\"\(Int(Self.size.width - Self.margin.right))\" "
      out += "y1=\"\(Self.number(y(tick)))\" y2=\"\(Self.number(y(tick)))\"/>"
      out += "<text x=\"\(Int(Self.margin.left) - 6)\" y=\"\(Self.number(y(tick) + 4))\" text-anchor=\"end\">"
      out += "\(StaticPage.escaped(text(tick)))</text>\n"
    }
    let bottom = Self.size.height - Self.margin.bottom
    out += "<line class=\"axis\" x1=\"\(Int(Self.margin.left))\" x2=\"\(Int(Self.size.width - Self.margin.right))\" "
    out += "y1=\"\(Int(bottom))\" y2=\"\(Int(bottom))\"/>\n"
    for mark in marks ?? Self.ticks(xs, xText).map({ ($0, xText($0)) }) {
      out += "<text x=\"\(Self.number(x(mark.x)))\" y=\"\(Int(bottom) + 18)\" text-anchor=\"middle\">"
      out += "\(StaticPage.escaped(mark.text))</text>\n"
    }
    for line in lines { out += svg(line, x, y) }
    return out + "</svg>\n"
  }

  private func svg(_ line: Line, _ x: (Double) -> Double, _ y: (Double) -> Double) -> String {
    let place = { (point: (Double, Double)) in "\(Self.number(x(point.0))),\(Self.number(y(point.1)))" }
    let color = Self.color(line.style)
    var out = ""
    let intervals = line.points.compactMap { point in point.interval.map { (point.x, $0) } }
    if line.isJoined, intervals.count > 1 {
      let outline = intervals.map { ($0.0, $0.1.upperBound) } + intervals.reversed().map { ($0.0, $0.1.lowerBound) }
      let corners = outline.map(place).joined(separator: " ")
      out += "<polygon class=\"spread\" fill=\"\(color)\" points=\"\(corners)\"/>\n"
    } else {
      for (at, interval) in intervals {
        out += "<line class=\"bar\" stroke=\"\(color)\" x1=\"\(Self.number(x(at)))\" x2=\"\(Self.number(x(at)))\" "
        out += "y1=\"\(Self.number(y(interval.lowerBound)))\" y2=\"\(Self.number(y(interval.upperBound)))\"/>\n"
      }
    }
    var corners = line.points.map { ($0.x, $0.y) }
    if line.isSteps {
      corners = zip(corners, corners.dropFirst()).flatMap { [$0.0, ($0.1.0, $0.0.1)] } + corners.suffix(1)
    }
    if line.isJoined, corners.count > 1 {
      out += "<polyline class=\"line\" stroke=\"\(color)\" stroke-dasharray=\"\(Self.dash(line.style))\" "
      out += "points=\"\(corners.map(place).joined(separator: " "))\"/>\n"
    }
    guard !line.isSteps, line.hasMarks else { return out }
    for point in line.points {
      let title = "\(line.name): \(text(point.y))"
      out += "<circle cx=\"\(Self.number(x(point.x)))\" cy=\"\(Self.number(y(point.y)))\" r=\"3.2\" fill=\"\(color)\">"
      out += "<title>\(StaticPage.escaped(title))</title></circle>\n"
    }
    return out
  }

  /// The chart in words, for those who cannot see it.
  private var summary: String {
    lines.map { line in
      let ends = [line.points.first, line.points.last].compactMap(\.self).map { text($0.y) }
      return "\(line.name) from \(ends.joined(separator: " to "))"
    }.joined(separator: "; ")
  }

  private static var innerWidth: Double { size.width - margin.left - margin.right }
  private static var innerHeight: Double { size.height - margin.top - margin.bottom }

  private static func number(_ value: Double) -> String { String(format: "%.1f", value) }

  private static func range(_ values: [Double], padding: Double = 0.06) -> ClosedRange<Double> {
    let finite = values.filter(\.isFinite)
    guard let low = finite.min(), let high = finite.max() else { return 0...1 }
    // What differs by rounding alone is one value: no axis has marks that close.
    let isWide = high - low > max(abs(low), abs(high)) * 1e-9
    let width = isWide ? high - low : max(abs(high), 1) * 0.2
    return (low - width * padding)...(high + width * padding)
  }

  /// Returns round numbers within a range, some five of them, whose texts differ.
  private static func ticks(_ range: ClosedRange<Double>, _ text: (Double) -> String) -> [Double] {
    let width = range.upperBound - range.lowerBound
    let power = pow(10, log10(width / 5).rounded(.down))
    let step = [1, 2, 5, 10].map { $0 * power }.first { width / $0 <= 6 } ?? power * 10
    var ticks: [Double] = []
    var index = (range.lowerBound / step).rounded(.up)
    while index * step <= range.upperBound {
      ticks.append(index * step)
      index += 1
    }
    var seen: Set<String> = []
    return ticks.filter { seen.insert(text($0)).inserted }
  }
}
