import CallCore
package import Pictures

/// A *modelled* video codec: frames have the sizes that an encoder would give them, and say which picture they are.
///
/// Sizes follow the statistical model of RFC 8593 section 5 in its steady state: around the mean frame of the target
/// rate with a Laplace distribution of scale 0.15. Key frames are larger, and the frames after them pay for it. Black pictures
/// take next to nothing.
///
/// A payload consists of a header and filler up to the size. The header has, in network byte order: magic (1 byte),
/// flags (1), FNV-1a hash of all that follows it (4), number of the frame (4), content id (4), width (2), height (2),
/// number of dependencies (1), and three distances to them (1 each). A frame that was put together of the wrong packets
/// fails the hash.
package enum SyntheticVideo {
  static let magic: UInt8 = 0xA6
  static let headerSize = 22
  static let maximumDependencies = 3
  private static let hashedFrom = 6

  private static let keyFlag: UInt8 = 1
  private static let contentFlag: UInt8 = 2

  /// The content of a payload.
  package struct Payload: Hashable, Sendable {
    package var isKeyFrame: Bool
    package var number: UInt32
    package var contentID: UInt32?
    package var size: PictureSize
    package var dependencies: [UInt32]

    init(isKeyFrame: Bool, number: UInt32, contentID: UInt32?, size: PictureSize, dependencies: [UInt32]) {
      self.isKeyFrame = isKeyFrame
      self.number = number
      self.contentID = contentID
      self.size = size
      self.dependencies = dependencies
    }

    /// Parses a payload, or returns nil when it is malformed or damaged.
    package init?(parsing bytes: RawSpan) {
      guard bytes.byteCount >= SyntheticVideo.headerSize, bytes.byte(at: 0) == SyntheticVideo.magic,
        let flags = bytes.byte(at: 1), let hash = bytes.bigEndian(UInt32.self, at: 2),
        let number = bytes.bigEndian(UInt32.self, at: 6), let content = bytes.bigEndian(UInt32.self, at: 10),
        let width = bytes.bigEndian(UInt16.self, at: 14), let height = bytes.bigEndian(UInt16.self, at: 16),
        let size = PictureSize(Int(width), Int(height)), let count = bytes.byte(at: 18),
        count <= SyntheticVideo.maximumDependencies, SyntheticVideo.hash(of: bytes, flags: flags) == hash
      else { return nil }
      isKeyFrame = flags & SyntheticVideo.keyFlag != 0
      guard isKeyFrame == (count == 0) else { return nil }
      self.number = number
      contentID = flags & SyntheticVideo.contentFlag != 0 ? content : nil
      self.size = size
      dependencies = (0..<Int(count)).compactMap { bytes.byte(at: 19 + $0).map(UInt32.init) }
    }

    /// Returns the payload with filler up to `byteCount` bytes; it is never shorter than the header.
    func bytes(_ byteCount: Int) -> [UInt8] {
      var bytes = [SyntheticVideo.magic]
      let flags = (isKeyFrame ? SyntheticVideo.keyFlag : 0) | (contentID == nil ? 0 : SyntheticVideo.contentFlag)
      bytes.append(flags)
      bytes.append(bigEndian: UInt32(0))
      bytes.append(bigEndian: number)
      bytes.append(bigEndian: contentID ?? 0)
      bytes.append(bigEndian: UInt16(size.width))
      bytes.append(bigEndian: UInt16(size.height))
      bytes.append(UInt8(dependencies.count))
      for index in 0..<SyntheticVideo.maximumDependencies {
        bytes.append(index < dependencies.count ? UInt8(clamping: dependencies[index]) : 0)
      }
      // Filler that differs from place to place, so that packets in the wrong order fail the hash.
      while bytes.count < byteCount { bytes.append(UInt8(truncatingIfNeeded: bytes.count &* 167 >> 3)) }
      let hash = SyntheticVideo.hash(of: bytes.span.bytes, flags: flags)
      for index in 0..<4 { bytes[2 + index] = UInt8(truncatingIfNeeded: hash >> (24 - 8 * UInt32(index))) }
      return bytes
    }
  }

  private static func hash(of bytes: RawSpan, flags: UInt8) -> UInt32 {
    let hash = FNV1a.hash(words: bytes.extracting(hashedFrom..<bytes.byteCount)) ^ UInt64(flags) &* 0x9E37_79B9
    return UInt32(truncatingIfNeeded: hash)
  }
}
