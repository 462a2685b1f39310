internal import CallCore

/// The peak signal-to-noise ratio of the luma plane, with a peak of 255, as ffmpeg's `psnr` and others define it.
package enum PSNR {
  /// Returns the mean squared error of the luma planes. To pool frames, average this and not decibels: one equal pair
  /// is infinite decibels.
  package static func meanSquaredError(_ a: VideoFrame, _ b: VideoFrame) throws(PictureError) -> Double {
    guard a.size == b.size else { throw .sizesDiffer(a.size, b.size) }
    let sum = a.withPlane(.y) { first in
      b.withPlane(.y) { second in
        var sum: Int64 = 0
        for index in first.indices {
          let difference = Int32(first[index]) &- Int32(second[index])
          sum &+= Int64(difference &* difference)
        }
        return sum
      }
    }
    return Double(sum) / Double(a.size.pixelCount)
  }

  /// Returns the ratio in decibels, which is infinite for equal pictures.
  package static func decibels(meanSquaredError: Double) -> Double {
    guard meanSquaredError > 0 else { return .infinity }
    return 10 / 2.302585092994045684 * ElementaryFunctions.log(255 * 255 / meanSquaredError)
  }

  /// Returns the ratio of two pictures in decibels.
  package static func luma(_ a: VideoFrame, _ b: VideoFrame) throws(PictureError) -> Double {
    decibels(meanSquaredError: try meanSquaredError(a, b))
  }
}
