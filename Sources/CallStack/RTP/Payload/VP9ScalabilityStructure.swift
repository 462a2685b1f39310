import CallCore

/// The scalability structure of VP9 (RFC 9628 section 4.2.1): the sizes of the spatial layers and a repeated group of
/// pictures.
package struct VP9ScalabilityStructure: Hashable, Sendable {
  /// A frame's size in pixels.
  package struct Resolution: Hashable, Sendable, BitwiseCopyable {
    package var width: UInt16
    package var height: UInt16

    package init(width: UInt16, height: UInt16) {
      self.width = width
      self.height = height
    }
  }

  /// One picture of the group.
  package struct Picture: Hashable, Sendable, BitwiseCopyable {
    /// The temporal layer, in three bits.
    package var temporalLayer: UInt8
    /// Whether a receiver may switch up to this layer here.
    package var isSwitchingUpPoint: Bool
    /// The distances to the pictures it refers to.
    package var references: VP9References

    package init(temporalLayer: UInt8, isSwitchingUpPoint: Bool = false, references: VP9References = []) {
      self.temporalLayer = temporalLayer & 7
      self.isSwitchingUpPoint = isSwitchingUpPoint
      self.references = references
    }
  }

  /// The number of spatial layers, 1...8.
  package var spatialLayerCount: Int
  /// The size of each spatial layer, or nothing.
  package var resolutions: [Resolution]
  /// The group of pictures that repeats, at most 255; empty when the structure does not describe one.
  package var pictures: [Picture]

  package init(spatialLayerCount: Int = 1, resolutions: [Resolution] = [], pictures: [Picture] = []) {
    self.spatialLayerCount = min(max(spatialLayerCount, 1), 8)
    self.resolutions = resolutions.count == self.spatialLayerCount ? resolutions : []
    self.pictures = Array(pictures.prefix(255))
  }
}

/// Up to three distances to earlier pictures that a picture refers to (P_DIFF).
package struct VP9References: Hashable, Sendable, BitwiseCopyable, ExpressibleByArrayLiteral {
  private var storage: UInt32 = 0
  package private(set) var count = 0

  package init(arrayLiteral elements: UInt8...) {
    for element in elements { append(element) }
  }

  /// Adds a distance. Returns false when there are three.
  @discardableResult
  package mutating func append(_ distance: UInt8) -> Bool {
    guard count < 3 else { return false }
    storage |= UInt32(distance) << UInt32(8 * count)
    count += 1
    return true
  }

  /// - Precondition: `index` is below ``count``.
  package subscript(index: Int) -> UInt8 {
    precondition(index >= 0 && index < count, "no such reference")
    return UInt8(truncatingIfNeeded: storage >> UInt32(8 * index))
  }
}

extension VP9ScalabilityStructure {
  /// Reads a structure and moves `offset` behind it, or returns nil when the payload ends inside it.
  init?(parsing payload: RawSpan, at offset: inout Int) {
    guard let first = payload.byte(at: offset) else { return nil }
    offset += 1
    let layers = Int(first >> 5) + 1
    var resolutions: [Resolution] = []
    if first & 0x10 != 0 {
      for _ in 0..<layers {
        guard let width = payload.bigEndian(UInt16.self, at: offset),
          let height = payload.bigEndian(UInt16.self, at: offset + 2)
        else { return nil }
        resolutions.append(Resolution(width: width, height: height))
        offset += 4
      }
    }
    var pictures: [Picture] = []
    if first & 0x08 != 0 {
      guard let count = payload.byte(at: offset) else { return nil }
      offset += 1
      for _ in 0..<count {
        guard let byte = payload.byte(at: offset) else { return nil }
        offset += 1
        var picture = Picture(temporalLayer: byte >> 5, isSwitchingUpPoint: byte & 0x10 != 0)
        for _ in 0..<(byte >> 2 & 3) {
          guard let distance = payload.byte(at: offset) else { return nil }
          picture.references.append(distance)
          offset += 1
        }
        pictures.append(picture)
      }
    }
    self.init(spatialLayerCount: layers, resolutions: resolutions, pictures: pictures)
  }

  /// The size on the wire in bytes.
  var encodedSize: Int {
    1 + 4 * resolutions.count + (pictures.isEmpty ? 0 : 1 + pictures.reduce(0) { $0 + 1 + $1.references.count })
  }

  func write(into output: inout OutputSpan<UInt8>) {
    let flags: UInt8 = (resolutions.isEmpty ? 0 : 0x10) | (pictures.isEmpty ? 0 : 0x08)
    output.append(UInt8(spatialLayerCount - 1) << 5 | flags)
    for resolution in resolutions {
      output.append(bigEndian: resolution.width)
      output.append(bigEndian: resolution.height)
    }
    guard !pictures.isEmpty else { return }
    output.append(UInt8(pictures.count))
    for picture in pictures {
      let switching: UInt8 = picture.isSwitchingUpPoint ? 0x10 : 0
      output.append(picture.temporalLayer << 5 | switching | UInt8(picture.references.count) << 2)
      for index in 0..<picture.references.count { output.append(picture.references[index]) }
    }
  }
}
