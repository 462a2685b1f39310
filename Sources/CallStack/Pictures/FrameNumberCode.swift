/// A bar code of a frame number in the picture itself, which survives lossy coding: 32 black or white cells along the
/// upper edge.
///
/// The first 24 cells are the number in Gray code, so that from one frame to the next few cells change and cost bits.
/// Eight cells of CRC follow (x^8 + x^2 + x + 1 over the Gray code, inverted, so that neither black nor white is a
/// number). A cell is a 32nd of the width wide and twice as high.
package enum FrameNumberCode {
  private static let cellCount = 32
  private static let numberBits = 24
  /// The narrowest picture in which cells are large enough to survive: four pixels.
  package static let minimumWidth = 128
  /// The numbers repeat after this many frames.
  package static let modulus: UInt32 = 1 << 24
  /// The least distance of the mean of a cell from medium grey. Less is no clear bit.
  private static let margin = 16
  private static let threshold = (Int(VideoFrame.blackLuma) + Int(VideoFrame.whiteLuma)) / 2

  /// Half the height of a pattern of dots in each cell: libvpx's VP9 was seen to leave blocks without any texture as
  /// they were, although black had become white.
  private static let dotHeight: UInt8 = 6

  /// The number of rows that the code covers, or nil if the picture is too small for it.
  package static func height(in size: PictureSize) -> Int? {
    let height = 2 * (size.width / cellCount)
    guard size.width >= minimumWidth, size.height >= 2 * height else { return nil }
    return height
  }

  /// Writes a number modulo 2^24 over the upper rows of a picture. A picture that is too small stays as it is.
  ///
  /// - Returns: whether the number was written.
  @discardableResult
  package static func write(_ number: UInt32, into frame: inout VideoFrame) -> Bool {
    guard let height = height(in: frame.size) else { return false }
    let cell = frame.size.width / cellCount
    let bits = word(number % modulus)
    let width = frame.size.width
    frame.modifyPlane(.y) { samples in
      for column in 0..<width {
        let index = column / cell
        let isWhite = index < cellCount && bits >> (cellCount - 1 - index) & 1 == 1
        for row in 0..<height {
          let dots = UInt8(truncatingIfNeeded: (column ^ row) & 2) * dotHeight
          samples[row * width + column] = isWhite ? VideoFrame.whiteLuma - dots : VideoFrame.blackLuma + dots
        }
      }
    }
    for plane in [VideoFrame.Plane.u, .v] {
      frame.fill(plane, x: 0..<frame.size.chromaWidth, y: 0..<(height + 1) / 2, with: VideoFrame.neutralChroma)
    }
    return true
  }

  /// Reads the number, or returns nil if a cell is grey or the CRC is wrong.
  ///
  /// Only the middle half of each cell is read: filters of codecs blur its edges.
  package static func read(_ frame: VideoFrame) -> UInt32? {
    guard let height = height(in: frame.size) else { return nil }
    let cell = frame.size.width / cellCount
    let rows = height / 4..<height - height / 4
    return frame.withPlane(.y) { samples -> UInt32? in
      var bits: UInt32 = 0
      for index in 0..<cellCount {
        let columns = index * cell + cell / 4..<(index + 1) * cell - cell / 4
        var sum = 0
        for row in rows {
          for column in columns { sum += Int(samples[row * frame.size.width + column]) }
        }
        let mean = sum / (rows.count * columns.count)
        guard abs(mean - threshold) >= margin else { return nil }
        bits = bits << 1 | (mean > threshold ? 1 : 0)
      }
      return number(bits)
    }
  }

  private static func word(_ number: UInt32) -> UInt32 {
    let gray = number ^ number >> 1
    return gray << 8 | check(gray)
  }

  private static func number(_ word: UInt32) -> UInt32? {
    let gray = word >> 8
    guard check(gray) == word & 0xFF else { return nil }
    var number = gray
    for shift in [1, 2, 4, 8, 16] as [UInt32] { number ^= number >> shift }
    return number
  }

  private static func check(_ gray: UInt32) -> UInt32 {
    var register = gray << 8
    for bit in stride(from: numberBits + 7, through: 8, by: -1) where register >> bit & 1 == 1 {
      register ^= 0x107 << (bit - 8)
    }
    return register & 0xFF ^ 0x0F
  }
}
