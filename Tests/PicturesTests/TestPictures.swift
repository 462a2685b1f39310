import Pictures

extension VideoFrame {
  /// A picture whose luma is a function of column and row.
  init(_ size: PictureSize, luma: (Int, Int) -> Int) {
    self.init(filled: size)
    modifyPlane(.y) { samples in
      for y in 0..<size.height {
        for x in 0..<size.width { samples[y * size.width + x] = UInt8(clamping: luma(x, y)) }
      }
    }
  }

  /// A texture with slopes and edges.
  static func texture(_ size: PictureSize) -> VideoFrame {
    VideoFrame(size) { x, y in (x * 7 + y * 13 + x * y / 5) % 220 + 16 }
  }

  /// The texture with errors of −20...20.
  static func noisyTexture(_ size: PictureSize) -> VideoFrame {
    VideoFrame(size) { x, y in (x * 7 + y * 13 + x * y / 5) % 220 + 16 + (x * 31 + y * 17 + x * x) % 41 - 20 }
  }

  static func chessboard(_ size: PictureSize) -> VideoFrame {
    VideoFrame(size) { x, y in 128 + (x / 8 + y / 8) % 2 * 40 }
  }
}
