import CallCore

/// Paints dark letters on white: sharp edges, no noise, and no change but once a second.
enum ScreenTextPainter {
  private static let letterWidth = 6
  private static let lineHeight = 10
  private static let stepsPerLine: UInt32 = 30

  /// - Parameter step: The time in thirtieths of a second.
  static func paint(_ frame: inout VideoFrame, step: UInt32, seed: UInt64) {
    frame.fill(.y, x: 0..<frame.size.width, y: 0..<frame.size.height, with: VideoFrame.whiteLuma)
    let first = UInt64(step / stepsPerLine)
    let (columns, lines) = (frame.size.width / letterWidth, frame.size.height / lineHeight)
    for line in 0..<lines {
      var random = RandomStream(seed: seed ^ (first + UInt64(line)) << 20)
      let length = columns / 2 + Int(random.uniform(below: UInt64(columns / 2 + 1)))
      for column in 0..<length {
        let glyph = random.next()
        // Every sixth place or so ends a word.
        guard glyph >> 60 > 2 else { continue }
        letter(glyph, x: column * letterWidth, y: line * lineHeight, in: &frame)
      }
    }
  }

  /// A letter is a random pattern of 4 by 7 pixels that is the same for the same number.
  private static func letter(_ glyph: UInt64, x: Int, y: Int, in frame: inout VideoFrame) {
    let width = frame.size.width
    frame.modifyPlane(.y) { samples in
      for row in 0..<7 {
        for column in 0..<4 where glyph >> (row * 4 + column) & 1 == 1 {
          samples[(y + row + 1) * width + x + column + 1] = 40
        }
      }
    }
  }
}
