import CallCore
import Pictures

extension VideoFrame {
  /// A plane of a library: its first sample, and the distance of its rows in bytes.
  typealias ForeignPlane = (start: UnsafeMutablePointer<UInt8>, stride: Int)

  /// Copies the planes of a library, whose rows may be padded.
  init?(size: PictureSize, y: ForeignPlane, u: ForeignPlane, v: ForeignPlane, at timestamp: Instant) {
    let planes = [(y, Plane.y), (u, .u), (v, .v)]
    let samples = [UInt8](unsafeUninitializedCapacity: size.byteCount) { buffer, count in
      guard var target = buffer.baseAddress else { return }
      for (source, plane) in planes {
        let layout = Self.layout(of: plane, size: size)
        for row in 0..<layout.height {
          target.initialize(from: source.start + row * source.stride, count: layout.width)
          target += layout.width
        }
      }
      count = size.byteCount
    }
    self.init(size: size, samples: samples, timestamp: timestamp)
  }
}
