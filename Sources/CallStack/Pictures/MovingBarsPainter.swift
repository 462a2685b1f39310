/// Paints vertical bars of one eighth of the width, which a shift moves to the left.
enum MovingBarsPainter {
  /// White, yellow, cyan, green, magenta, red, blue and black at 75 % in BT.601: Y, U, V.
  private static let colours: [(y: UInt8, u: UInt8, v: UInt8)] = [
    (180, 128, 128), (162, 44, 142), (131, 156, 44), (112, 72, 58), (84, 184, 198), (65, 100, 212), (35, 212, 114),
    (16, 128, 128),
  ]

  /// - Parameter shift: How far they are to the left, in pixels.
  static func paint(_ frame: inout VideoFrame, shift: Int) {
    for plane in VideoFrame.Plane.allCases {
      let layout = frame.layout(of: plane)
      let row = (0..<layout.width).map { column -> UInt8 in
        let x = plane == .y ? column : 2 * column
        let colour = colours[(x + shift) * 8 / max(8, frame.size.width) % 8]
        switch plane {
        case .y: return colour.y
        case .u: return colour.u
        case .v: return colour.v
        }
      }
      frame.modifyPlane(plane) { samples in
        for start in stride(from: 0, to: samples.count, by: layout.width) {
          for column in 0..<layout.width { samples[start + column] = row[column] }
        }
      }
    }
  }
}
