import CallCore

/// An IVF file in memory: coded frames of one stream, each with a time. All integers are little-endian.
package struct IVFFile: Hashable, Sendable {
  package struct Frame: Hashable, Sendable {
    /// The presentation time in units of ``timeBase``.
    package let time: UInt64
    package let bytes: [UInt8]

    package init(time: UInt64, bytes: [UInt8]) {
      self.time = time
      self.bytes = bytes
    }
  }

  static let headerSize = 32
  static let frameHeaderSize = 12
  static let signature = Array("DKIF".utf8)

  /// Four characters such as `VP80`.
  package let codec: String
  package let size: PictureSize
  /// Units of time per second.
  package let timeBase: FrameRate
  package let frames: [Frame]

  /// Parses a file. A header that counts zero frames is a stream whose writer did not go back; any other number must be
  /// right.
  package init(parsing bytes: [UInt8]) throws(VideoFileError) {
    let span = bytes.span.bytes
    guard bytes.count >= Self.headerSize else {
      throw VideoFileError(offset: bytes.count, reason: .truncated(missing: Self.headerSize - bytes.count))
    }
    guard bytes.starts(with: Self.signature) else { throw VideoFileError(offset: 0, reason: .wrongSignature) }
    guard span.littleEndian(UInt16.self, at: 4) == 0 else {
      throw VideoFileError(offset: 4, reason: .unsupported("version"))
    }
    guard span.littleEndian(UInt16.self, at: 6) == UInt16(Self.headerSize) else {
      throw VideoFileError(offset: 6, reason: .invalid("header length"))
    }
    guard bytes[8..<12].allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw VideoFileError(offset: 8, reason: .invalid("codec"))
    }
    codec = String(decoding: bytes[8..<12], as: UTF8.self)
    guard
      let size = PictureSize(
        Int(span.littleEndian(UInt16.self, at: 12) ?? 0), Int(span.littleEndian(UInt16.self, at: 14) ?? 0))
    else { throw VideoFileError(offset: 12, reason: .invalid("size")) }
    self.size = size
    guard
      let base = FrameRate(
        span.littleEndian(UInt32.self, at: 16) ?? 0, per: span.littleEndian(UInt32.self, at: 20) ?? 0)
    else { throw VideoFileError(offset: 16, reason: .invalid("time base")) }
    timeBase = base
    frames = try Self.frames(span)
    let promised = Int(span.littleEndian(UInt32.self, at: 24) ?? 0)
    guard promised == 0 || promised == frames.count else {
      throw VideoFileError(offset: 24, reason: .wrongFrameCount(promised: promised, found: frames.count))
    }
  }

  private static func frames(_ span: RawSpan) throws(VideoFileError) -> [Frame] {
    var frames: [Frame] = []
    var offset = headerSize
    while offset < span.byteCount {
      guard let length = span.littleEndian(UInt32.self, at: offset),
        let time = span.littleEndian(UInt64.self, at: offset + 4)
      else {
        let missing = frameHeaderSize - (span.byteCount - offset)
        throw VideoFileError(offset: offset, reason: .truncated(missing: missing))
      }
      let start = offset + frameHeaderSize
      guard let bytes = span.bytes(in: start..<start + Int(length)) else {
        let missing = Int(length) - (span.byteCount - start)
        throw VideoFileError(offset: start, reason: .truncated(missing: missing))
      }
      frames.append(Frame(time: time, bytes: bytes))
      offset = start + Int(length)
    }
    return frames
  }
}

extension RawSpan {
  fileprivate func littleEndian<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, at offset: Int) -> T? {
    bigEndian(T.self, at: offset)?.byteSwapped
  }
}
