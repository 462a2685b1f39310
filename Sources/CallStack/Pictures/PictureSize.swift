/// The size of a picture in pixels. Odd sizes are allowed: chroma planes are rounded up.
package struct PictureSize: Hashable, Sendable, BitwiseCopyable {
  package let width: Int
  package let height: Int

  /// The longest side that every codec and file format here can express: 14 bits (RFC 6386 section 9.1).
  package static let maximumSide = 16_383

  /// Makes a size, or returns nil if a side is not in 1...16383.
  package init?(_ width: Int, _ height: Int) {
    guard (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height) else { return nil }
    self.init(unchecked: width, height)
  }

  private init(unchecked width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  package static let qqvga = PictureSize(unchecked: 160, 120)
  package static let qvga = PictureSize(unchecked: 320, 240)
  package static let vga = PictureSize(unchecked: 640, 480)
  package static let hd720 = PictureSize(unchecked: 1_280, 720)

  package var pixelCount: Int { width * height }
  package var chromaWidth: Int { (width + 1) / 2 }
  package var chromaHeight: Int { (height + 1) / 2 }
  /// The number of bytes of an I420 picture without padding.
  package var byteCount: Int { pixelCount + 2 * chromaWidth * chromaHeight }
}

extension PictureSize: CustomStringConvertible {
  package var description: String { "\(width)x\(height)" }
}
