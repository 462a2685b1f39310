public import CallCore

/// Amounts over time in bins of equal width, which doubles when there are too many of them.
public struct BinnedSeries: Hashable, Sendable {
  static let width = Interval.milliseconds(250)
  static let limit = 480

  /// The width of a bin.
  public private(set) var width: Interval
  /// The amounts per bin, from the start of the run.
  public private(set) var amounts: [Int64] = []

  init() { width = Self.width }

  init?(width: Interval, amounts: [Int64]) {
    guard width > .zero, amounts.count <= Self.limit else { return nil }
    self.width = width
    self.amounts = amounts
  }

  /// The sum of all amounts.
  public var total: Int64 { amounts.reduce(0, +) }

  mutating func add(_ amount: Int64, at time: Instant) {
    var bin = Int(time.nanoseconds / width.nanoseconds)
    while bin >= Self.limit {
      coarsen()
      bin /= 2
    }
    while amounts.count <= bin { amounts.append(0) }
    amounts[bin] += amount
  }

  mutating func add(_ other: BinnedSeries) {
    var other = other
    while other.width < width { other.coarsen() }
    while width < other.width { coarsen() }
    while amounts.count < other.amounts.count { amounts.append(0) }
    for index in other.amounts.indices { amounts[index] += other.amounts[index] }
  }

  /// The amounts, each at the middle of its bin in seconds.
  package var points: [(x: Double, y: Double)] {
    amounts.enumerated().map { ((Double($0) + 0.5) * width.seconds, Double($1)) }
  }

  /// Returns the sum of two series.
  package func adding(_ other: BinnedSeries) -> BinnedSeries {
    var sum = self
    sum.add(other)
    return sum
  }

  mutating func limit(to count: Int) { while amounts.count > count { coarsen() } }

  private mutating func coarsen() {
    amounts = stride(from: 0, to: amounts.count, by: 2).map { index in
      amounts[index] + (index + 1 < amounts.count ? amounts[index + 1] : 0)
    }
    width = width + width
  }
}

/// Samples over time. When there are too many, of neighbours only the smallest and the largest stay, so that dips and peaks
/// are kept.
public struct ThinnedSeries: Hashable, Sendable {
  /// A sample.
  public struct Point: Hashable, Sendable {
    /// The time, in whole milliseconds.
    public var time: Instant
    /// The value, rounded to six decimal places.
    public var value: Double
  }

  private static let limit = 480

  /// The samples, in order of time.
  public private(set) var points: [Point] = []
  /// Of how many neighbours only the smallest and the largest stay; 1 as long as all stay.
  private var share = 1
  /// How many samples the last neighbours have so far, and where their points begin.
  private var (pending, start) = (0, 0)

  init() {}
  init(_ points: [Point]) { self.points = points }

  mutating func add(_ value: Double, at time: Instant) {
    // More than six decimal places are invisible in a chart.
    let point = Point(
      time: Instant(nanoseconds: time.nanoseconds / 1_000_000 * 1_000_000), value: (value * 1e6).rounded() / 1e6)
    if pending == 0 { start = points.count }
    points.append(point)
    if pending > 0 { points.replaceSubrange(start..., with: Self.extremes(points[start...])) }
    pending = (pending + 1) % share
    guard points.count > Self.limit else { return }
    halve()
    share = share == 1 ? 4 : share * 2
    pending = 0
  }

  mutating func limit(to count: Int) { while points.count > count { halve() } }

  private mutating func halve() {
    points = stride(from: 0, to: points.count, by: 4).flatMap { index in
      Self.extremes(points[index..<min(index + 4, points.count)])
    }
  }

  /// The first of the smallest samples and the first of the largest, in order of time.
  private static func extremes(_ points: ArraySlice<Point>) -> [Point] {
    guard let low = points.min(by: { $0.value < $1.value }), let first = points.first else { return [] }
    let high = points.reduce(first) { $1.value > $0.value ? $1 : $0 }
    return low == high ? [low] : low.time <= high.time ? [low, high] : [high, low]
  }

  public static func == (a: ThinnedSeries, b: ThinnedSeries) -> Bool { a.points == b.points }
  public func hash(into hasher: inout Hasher) { hasher.combine(points) }
}
