/// Numbers of a stream from which some are left out: those that remain follow each other as if there were no others.
/// A gap that was there stays.
struct Renumbering {
  /// The latest numbers that were left out, in rising order.
  private var omitted: [Int64] = []
  /// How many were left out before those.
  private var forgottenCount: Int64 = 0

  /// No number comes later than this after a higher one.
  static let memory: Int64 = 1_024

  /// Leaves out a number.
  mutating func omit(_ number: Int64) {
    let place = place(of: number)
    guard place == omitted.count || omitted[place] != number else { return }
    omitted.insert(number, at: place)
    while let first = omitted.first, first < number - Self.memory {
      omitted.removeFirst()
      forgottenCount += 1
    }
  }

  /// Returns whether a number was left out.
  func isOmitted(_ number: Int64) -> Bool {
    let place = place(of: number)
    return place < omitted.count && omitted[place] == number
  }

  /// Returns the place of a number among those that remain.
  func callAsFunction(_ number: Int64) -> Int64 { number - forgottenCount - Int64(place(of: number)) }

  /// The index of the first omitted number that is not below `number`.
  private func place(of number: Int64) -> Int {
    var (low, high) = (0, omitted.count)
    while low < high {
      let middle = (low + high) / 2
      if omitted[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
