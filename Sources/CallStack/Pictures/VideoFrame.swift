package import CallCore

/// A picture in I420: one byte a sample, chroma at half the width and height, limited range (BT.601, luma 16...235).
///
/// The planes Y, U and V follow each other in one buffer, row by row, without padding.
package struct VideoFrame: Equatable, Sendable {
  package enum Plane: Int, CaseIterable, Sendable { case y, u, v }

  /// The place of a plane in the buffer; rows follow each other at a distance of `width` bytes.
  package struct Layout: Hashable, Sendable {
    package let offset: Int
    package let width: Int
    package let height: Int

    package var range: Range<Int> { offset..<offset + width * height }
  }

  package static let blackLuma: UInt8 = 16
  package static let whiteLuma: UInt8 = 235
  package static let neutralChroma: UInt8 = 128

  package let size: PictureSize
  package private(set) var samples: [UInt8]
  /// The capture time, on the clock of the owner.
  package var timestamp: Instant
  /// The number of the picture in its source; nil if the origin is unknown.
  package var contentID: UInt32?

  /// Makes a frame of planes in a row, or returns nil if their number of bytes does not match the size.
  package init?(size: PictureSize, samples: [UInt8], timestamp: Instant = .zero, contentID: UInt32? = nil) {
    guard samples.count == size.byteCount else { return nil }
    self.size = size
    self.samples = samples
    self.timestamp = timestamp
    self.contentID = contentID
  }

  /// Makes a frame of one colour, which is black unless told otherwise.
  package init(
    filled size: PictureSize, luma: UInt8 = blackLuma, u: UInt8 = neutralChroma, v: UInt8 = neutralChroma,
    timestamp: Instant = .zero, contentID: UInt32? = nil
  ) {
    self.size = size
    self.timestamp = timestamp
    self.contentID = contentID
    let chroma = size.chromaWidth * size.chromaHeight
    samples = [UInt8](unsafeUninitializedCapacity: size.byteCount) { buffer, count in
      buffer[..<size.pixelCount].initialize(repeating: luma)
      buffer[size.pixelCount..<size.pixelCount + chroma].initialize(repeating: u)
      buffer[(size.pixelCount + chroma)..<size.byteCount].initialize(repeating: v)
      count = size.byteCount
    }
  }

  package func layout(of plane: Plane) -> Layout { Self.layout(of: plane, size: size) }

  package static func layout(of plane: Plane, size: PictureSize) -> Layout {
    let (width, height) = (size.chromaWidth, size.chromaHeight)
    switch plane {
    case .y: return Layout(offset: 0, width: size.width, height: size.height)
    case .u: return Layout(offset: size.pixelCount, width: width, height: height)
    case .v: return Layout(offset: size.pixelCount + width * height, width: width, height: height)
    }
  }

  /// Calls `body` with the samples of a plane, of which each row has `layout(of:).width` bytes.
  package func withPlane<Result>(_ plane: Plane, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    let range = layout(of: plane).range
    return samples.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
  }

  /// Calls `body` with the samples of a plane, for changes.
  package mutating func modifyPlane(_ plane: Plane, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
    let range = layout(of: plane).range
    samples.withUnsafeMutableBufferPointer { body(UnsafeMutableBufferPointer(rebasing: $0[range])) }
  }
}

extension VideoFrame {
  /// Fills the part of a rectangle that lies inside a plane. Coordinates are those of the plane.
  package mutating func fill(_ plane: Plane, x: Range<Int>, y: Range<Int>, with value: UInt8) {
    let layout = layout(of: plane)
    let columns = x.clamped(to: 0..<layout.width)
    let rows = y.clamped(to: 0..<layout.height)
    guard !columns.isEmpty else { return }
    modifyPlane(plane) { samples in
      for row in rows {
        let start = row * layout.width
        samples[start + columns.lowerBound..<start + columns.upperBound].update(repeating: value)
      }
    }
  }
}
