import CallCore

/// Paints a head in front of a textured wall, as a camera sees it.
///
/// Texture lies at several scales that do not match the blocks of a codec: aligned or smooth pictures cost too little.
/// All motion is integer arithmetic: the same picture on every machine.
enum TalkingHeadPainter {
  /// Returns the wall: a slope of brightness, blotches of 23 and 5 pixels, and grain.
  static func background(_ size: PictureSize, seed: UInt64) -> VideoFrame {
    var frame = VideoFrame(filled: size, u: 120, v: 134)
    let texture = Texture(seed: seed)
    frame.modifyPlane(.y) { samples in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let slope = 50 + 50 * x / size.width + 20 * y / size.height
          samples[y * size.width + x] = UInt8(clamping: slope + texture.value(x, y))
        }
      }
    }
    return frame
  }

  /// - Parameters:
  ///   - step: The time in thirtieths of a second.
  ///   - noise: The number of the picture, each of which has noise of its own.
  static func paint(_ frame: inout VideoFrame, step: UInt32, noise: UInt32, seed: UInt64) {
    let (width, height) = (frame.size.width, frame.size.height)
    let phase = Int(step % 7_200)
    let centre = (
      x: width / 2 + swing(phase, period: 120) * width / 1_024,
      y: height * 9 / 16 + swing(phase, period: 75) * height / 4_096
    )
    let radius = (x: max(1, width / 5), y: max(1, height / 3))
    ellipse(&frame, centre, radius, luma: 150, u: 112, v: 150, Texture(seed: ~seed))
    for side in [-1, 1] {
      let eye = (x: centre.x + side * radius.x * 2 / 5, y: centre.y - radius.y / 4)
      // A blink every three seconds.
      let opening = phase % 90 < 3 ? 1 : max(1, radius.y / 12)
      ellipse(&frame, eye, (max(1, radius.x / 8), opening), luma: 40, u: 128, v: 128)
    }
    // Syllables of 14 steps.
    let opening = max(1, swing(phase, period: 14) * radius.y / 1_024)
    let mouth = (x: centre.x, y: centre.y + radius.y / 2)
    ellipse(&frame, mouth, (max(1, radius.x / 3), opening), luma: 60, u: 118, v: 165)
    addNoise(&frame, RandomStream(seed: seed &+ UInt64(noise) &* 0x9E37_79B9_7F4A_7C15))
  }

  /// Returns a triangle wave of −128...128.
  private static func swing(_ phase: Int, period: Int) -> Int {
    let position = phase % period * 512 / period
    return position < 256 ? position - 128 : 384 - position
  }

  /// Fills an ellipse; its texture moves with it.
  private static func ellipse(
    _ frame: inout VideoFrame, _ centre: (x: Int, y: Int), _ radius: (x: Int, y: Int), luma: Int, u: UInt8, v: UInt8,
    _ texture: Texture? = nil
  ) {
    let size = frame.size
    for y in max(0, centre.y - radius.y)..<max(0, min(size.height, centre.y + radius.y + 1)) {
      let distance = y - centre.y
      let share = 1 - Double(distance * distance) / Double(radius.y * radius.y)
      let half = Int(Double(radius.x) * max(0, share).squareRoot())
      let columns = max(0, centre.x - half)..<max(0, min(size.width, centre.x + half + 1))
      frame.modifyPlane(.y) { samples in
        for x in columns {
          let detail = texture?.value(x - centre.x, distance) ?? 0
          samples[y * size.width + x] = UInt8(clamping: luma + distance * 16 / radius.y + detail / 2)
        }
      }
      guard y % 2 == 0 else { continue }
      frame.fill(.u, x: columns.lowerBound / 2..<(columns.upperBound + 1) / 2, y: y / 2..<y / 2 + 1, with: u)
      frame.fill(.v, x: columns.lowerBound / 2..<(columns.upperBound + 1) / 2, y: y / 2..<y / 2 + 1, with: v)
    }
  }

  /// Adds noise of −3...3, distributed as the sum of two dice, to the luma plane.
  private static func addNoise(_ frame: inout VideoFrame, _ stream: consuming RandomStream) {
    var random = stream
    frame.modifyPlane(.y) { samples in
      var word: UInt64 = 0
      for index in samples.indices {
        if index % 16 == 0 { word = random.next() }
        let noise = UInt8(truncatingIfNeeded: word & 3) &+ UInt8(truncatingIfNeeded: word >> 2 & 3)
        // The painted luma lies far from both ends of the range.
        samples[index] = samples[index] &+ noise &- 3
        word >>= 4
      }
    }
  }

  /// Random brightness of −36...35 at three scales.
  private struct Texture {
    private let values: [UInt8]

    init(seed: UInt64) {
      var random = RandomStream(seed: seed)
      values = random.bytes(4_096)
    }

    func value(_ x: Int, _ y: Int) -> Int {
      // Coordinates relative to the head are negative on one side.
      let (x, y) = (x + 65_536, y + 65_536)
      let blotch = values[(y / 23 * 61 + x / 23) & 4_095] & 31
      let spot = values[(y / 5 * 131 + x / 5 + 1_000) & 4_095] >> 3 & 31
      let grain = values[(y * 257 + x + 2_000) & 4_095] & 7
      return Int(blotch) + Int(spot) + Int(grain) - 36
    }
  }
}
