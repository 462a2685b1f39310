/// The structural similarity of luma planes (Wang et al. 2004), named `ssim_gauss11`: values are comparable only with
/// those of the same definition, since tools differ in the window.
///
/// Window: 11 x 11 Gaussian, sigma 1.5, weights of sum 1. K1 = 0.01, K2 = 0.03, range 255, biased variances. The mean
/// is taken over windows that lie wholly inside. This is scikit-image's `structural_similarity` with
/// `gaussian_weights=True, use_sample_covariance=False, data_range=255`.
package enum SSIM {
  package static let windowSide = 11
  /// exp(−x²/(2·1.5²)) for x = −5...5, divided by its sum.
  private static let weights: [Double] = [
    0.00102838008447911, 0.007598758135239185, 0.03600077212843083, 0.10936068950970002, 0.2130055377112537,
    0.26601172486179436,
    0.2130055377112537, 0.10936068950970002, 0.03600077212843083, 0.007598758135239185, 0.00102838008447911,
  ]
  private static let c1 = (0.01 * 255) * (0.01 * 255)
  private static let c2 = (0.03 * 255) * (0.03 * 255)

  /// The moments x, y, x² + y² and xy. The two variances occur only as a sum.
  private typealias Moments = SIMD4<Double>

  /// Returns the similarity of the luma planes, at most 1, which equal pictures have.
  package static func gauss11(_ a: VideoFrame, _ b: VideoFrame) throws(PictureError) -> Double {
    guard a.size == b.size else { throw .sizesDiffer(a.size, b.size) }
    guard min(a.size.width, a.size.height) >= windowSide else { throw .tooSmall(a.size, minimumSide: windowSide) }
    let (width, height) = (a.size.width, a.size.height)
    let inner = width - windowSide + 1
    return a.withPlane(.y) { first in
      b.withPlane(.y) { second in
        // The moments of the last 11 rows, filtered along the rows.
        var rows = [Moments](repeating: .zero, count: windowSide * inner)
        var raw = [Moments](repeating: .zero, count: width)
        var sum = 0.0
        for row in 0..<height {
          for column in 0..<width {
            let (x, y) = (Double(first[row * width + column]), Double(second[row * width + column]))
            raw[column] = Moments(x, y, x * x + y * y, x * y)
          }
          filterRow(raw, into: &rows, at: row % windowSide * inner, inner)
          guard row >= windowSide - 1 else { continue }
          sum += rowSimilarity(rows, oldest: (row + 1) % windowSide, inner)
        }
        return sum / Double(inner * (height - windowSide + 1))
      }
    }
  }

  private static func filterRow(_ raw: [Moments], into rows: inout [Moments], at start: Int, _ inner: Int) {
    raw.withUnsafeBufferPointer { raw in
      rows.withUnsafeMutableBufferPointer { rows in
        weights.withUnsafeBufferPointer { weights in
          for column in 0..<inner {
            var sum = Moments.zero
            for tap in 0..<windowSide { sum += weights[tap] * raw[column + tap] }
            rows[start + column] = sum
          }
        }
      }
    }
  }

  /// Filters along the columns and returns the sum of the similarities of one row.
  private static func rowSimilarity(_ rows: [Moments], oldest: Int, _ inner: Int) -> Double {
    var total = 0.0
    rows.withUnsafeBufferPointer { rows in
      weights.withUnsafeBufferPointer { weights in
        for column in 0..<inner {
          var moments = Moments.zero
          var slot = oldest
          for tap in 0..<windowSide {
            moments += weights[tap] * rows[slot * inner + column]
            slot = slot + 1 == windowSide ? 0 : slot + 1
          }
          total += similarity(moments)
        }
      }
    }
    return total
  }

  private static func similarity(_ moments: Moments) -> Double {
    let product = moments.x * moments.y
    let squares = moments.x * moments.x + moments.y * moments.y
    let luminance = (2 * product + c1) / (squares + c1)
    return luminance * (2 * (moments.w - product) + c2) / (moments.z - squares + c2)
  }
}
