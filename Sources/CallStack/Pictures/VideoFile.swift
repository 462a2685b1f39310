/// A file of pictures: Y4M, or IVF, whose pictures are coded.
public struct VideoFile: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case raw(Y4MFile)
    case coded(IVFFile)
  }

  /// The codecs of IVF files by the four characters in the header.
  package static let codecs = ["VP80", "VP90", "AV01", "H264"]
  /// The most bytes that the pictures of a file may have when they are decoded: 145 of 640 by 480, or 582 of a quarter.
  package static let maximumDecodedSize = 64 << 20

  package let content: Content

  /// Parses a file of either format, and checks that it can be played: it has pictures, of a codec that is known.
  package init(parsing bytes: [UInt8]) throws(VideoFileError) {
    if bytes.starts(with: IVFFile.signature) {
      let file = try IVFFile(parsing: bytes)
      guard Self.codecs.contains(file.codec) else {
        throw VideoFileError(offset: 8, reason: .unsupported("codec \(file.codec)"))
      }
      content = .coded(file)
    } else {
      content = .raw(try Y4MFile(parsing: bytes))
    }
    guard count > 0 else { throw VideoFileError(offset: bytes.count, reason: .missing("pictures")) }
    guard count <= Self.maximumDecodedSize / size.byteCount else {
      throw VideoFileError(offset: 0, reason: .tooLong(limit: Self.maximumDecodedSize / size.byteCount))
    }
  }

  /// The number of pictures.
  package var count: Int {
    switch content {
    case .raw(let file): file.frameCount
    case .coded(let file): file.frames.count
    }
  }

  /// The size of the pictures that the header says.
  package var size: PictureSize {
    switch content {
    case .raw(let file): file.size
    case .coded(let file): file.size
    }
  }
}
