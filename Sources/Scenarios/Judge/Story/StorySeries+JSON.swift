internal import CallCore
package import Formats

extension BinnedSeries {
  package var json: JSON {
    ["width": .integer(width.nanoseconds), "amounts": .array(amounts.map { .integer($0) })]
  }

  package init?(json: JSON) {
    guard let width = json["width"]?.integer, let amounts = json["amounts"]?.array else { return nil }
    self.init(width: Interval(nanoseconds: width), amounts: amounts.compactMap(\.integer))
  }
}

extension ThinnedSeries {
  package var json: JSON { .array(points.flatMap { [.integer($0.time.nanoseconds), .number($0.value)] }) }

  package init?(json: JSON) {
    guard let row = json.array, row.count.isMultiple(of: 2) else { return nil }
    let points = stride(from: 0, to: row.count, by: 2).compactMap { index -> Point? in
      guard let time = row[index].integer, let value = row[index + 1].real else { return nil }
      return Point(time: Instant(nanoseconds: time), value: value)
    }
    self.init(points)
  }
}
