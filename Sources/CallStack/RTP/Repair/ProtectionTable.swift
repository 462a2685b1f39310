/// The share of repair packets among all packets of delta frames, in 1/255, by the size of a frame and the loss:
/// samples of libwebrtc's `kFecRateTable` (`fec_rate_table.h`), with linear interpolation between them.
///
/// A row stands for a frame of 5 kbit times its number and 5 kbit, relative to a picture of 704 x 576.
enum ProtectionTable {
  /// The largest share: half of the packets.
  static let maximum = 128.0

  /// The losses of the columns, in 1/255.
  private static let losses: [Double] = [0, 2, 5, 8, 13, 20, 25, 38, 51, 76, 102, 127]
  /// The numbers of the sampled rows.
  private static let rows: [Double] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40]
  private static let factors: [[Double]] = [
    [0, 0, 0, 0, 0, 0, 0, 11, 39, 39, 51, 51],
    [0, 0, 0, 0, 0, 8, 8, 30, 56, 65, 87, 78],
    [0, 0, 0, 0, 0, 23, 23, 44, 68, 85, 105, 88],
    [0, 0, 0, 0, 5, 41, 41, 55, 80, 102, 116, 100],
    [0, 0, 0, 4, 16, 58, 58, 63, 94, 122, 127, 115],
    [0, 0, 0, 14, 27, 69, 69, 69, 106, 127, 127, 127],
    [0, 0, 3, 28, 38, 72, 72, 80, 114, 127, 127, 127],
    [0, 0, 12, 43, 47, 70, 73, 94, 117, 127, 127, 127],
    [0, 0, 24, 53, 53, 70, 78, 106, 124, 127, 127, 127],
    [0, 0, 43, 53, 53, 87, 94, 125, 127, 127, 127, 127],
    [0, 4, 45, 45, 49, 90, 95, 127, 127, 127, 127, 127],
    [0, 34, 38, 42, 72, 80, 114, 127, 127, 127, 127, 127],
    [0, 29, 29, 59, 89, 116, 127, 127, 127, 127, 127, 127],
    [0, 24, 47, 58, 97, 108, 124, 127, 127, 127, 127, 127],
    [0, 21, 50, 66, 85, 114, 127, 127, 127, 127, 127, 127],
    [0, 30, 55, 73, 97, 110, 116, 127, 127, 127, 127, 127],
    [0, 32, 54, 75, 97, 105, 127, 127, 127, 127, 127, 127],
  ]

  /// Returns the share for a row, which may lie between two rows or outside, and a loss in 1/255.
  static func factor(row: Double, loss: Double) -> Double {
    let (upper, rowShare) = place(row.rounded(.down), in: rows)
    let (right, lossShare) = place(loss, in: losses)
    func along(_ row: [Double]) -> Double { row[right - 1] + (row[right] - row[right - 1]) * lossShare }
    let (low, high) = (along(factors[upper - 1]), along(factors[upper]))
    return (low + (high - low) * rowShare).rounded(.down)
  }

  /// Returns the index of the sample above a value, and the share of the way to it from the one below.
  private static func place(_ value: Double, in samples: [Double]) -> (index: Int, share: Double) {
    let last = samples.count - 1
    let index = min(last, max(1, samples.firstIndex { $0 > value } ?? last))
    let share = (value - samples[index - 1]) / (samples[index] - samples[index - 1])
    return (index, min(1, max(0, share)))
  }
}
