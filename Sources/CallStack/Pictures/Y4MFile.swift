import CallCore

/// A YUV4MPEG2 file in memory: a header line and raw frames, each behind a line `FRAME`. Only progressive 4:2:0 with
/// 8 bits is supported (`C420`, `C420jpeg`, `C420mpeg2`, `C420paldv`; the default is 420).
package struct Y4MFile: Hashable, Sendable {
  private static let signature = Array("YUV4MPEG2".utf8)
  private static let marker = Array("FRAME".utf8)
  /// The limit of a header line, against files that have none.
  private static let longestLine = 1_024

  package let size: PictureSize
  package let frameRate: FrameRate
  private let bytes: [UInt8]
  /// The offsets of the first sample of each frame.
  private let frameOffsets: [Int]

  package var frameCount: Int { frameOffsets.count }

  /// Parses a file, and finds all frames.
  package init(parsing bytes: [UInt8]) throws(VideoFileError) {
    let end = try Self.lineEnd(bytes, from: 0, signature: Self.signature)
    let header = try Header(bytes, line: Self.signature.count..<end)
    size = header.size
    frameRate = header.frameRate
    self.bytes = bytes
    var offsets: [Int] = []
    var offset = end + 1
    while offset < bytes.count {
      let start = try Self.lineEnd(bytes, from: offset, signature: Self.marker) + 1
      guard bytes.count - start >= size.byteCount else {
        throw VideoFileError(offset: start, reason: .truncated(missing: size.byteCount - (bytes.count - start)))
      }
      offsets.append(start)
      offset = start + size.byteCount
    }
    frameOffsets = offsets
  }

  /// Returns a frame, or nil if the index is out of range. Its timestamp follows from the frame rate.
  package func frame(at index: Int) -> VideoFrame? {
    guard frameOffsets.indices.contains(index) else { return nil }
    let start = frameOffsets[index]
    return VideoFrame(
      size: size, samples: Array(bytes[start..<start + size.byteCount]),
      timestamp: frameRate.time(ofFrame: UInt64(index)))
  }

  /// Returns the offset of the line feed at the end of a line that begins with a signature.
  private static func lineEnd(_ bytes: [UInt8], from start: Int, signature: [UInt8]) throws(VideoFileError) -> Int {
    guard bytes.count - start > signature.count else {
      let missing = signature.count + 1 - (bytes.count - start)
      throw VideoFileError(offset: bytes.count, reason: .truncated(missing: missing))
    }
    let rest = start + signature.count
    guard bytes[start..<rest].elementsEqual(signature), [0x20, 0x0A].contains(bytes[rest]) else {
      throw VideoFileError(offset: start, reason: .wrongSignature)
    }
    let limit = min(bytes.count, start + longestLine)
    guard let end = bytes[rest..<limit].firstIndex(of: 0x0A) else {
      throw VideoFileError(offset: limit, reason: .headerTooLong)
    }
    return end
  }
}

extension Y4MFile {
  /// The parameters of the first line.
  private struct Header {
    var size: PictureSize
    var frameRate = FrameRate.fps30

    init(_ bytes: [UInt8], line: Range<Int>) throws(VideoFileError) {
      var (width, height): (Int?, Int?)
      for field in bytes[line].split(separator: 0x20) {
        let value = String(decoding: field.dropFirst(), as: UTF8.self)
        func failure(_ reason: VideoFileError.Reason) -> VideoFileError {
          VideoFileError(offset: field.startIndex, reason: reason)
        }
        switch field[field.startIndex] {
        case UInt8(ascii: "W"):
          guard let number = Self.side(value) else { throw failure(.invalid("W" + value)) }
          width = number
        case UInt8(ascii: "H"):
          guard let number = Self.side(value) else { throw failure(.invalid("H" + value)) }
          height = number
        case UInt8(ascii: "F"):
          guard let rate = Self.rate(value) else { throw failure(.invalid("F" + value)) }
          frameRate = rate
        case UInt8(ascii: "I"):
          guard ["p", "?"].contains(value) else { throw failure(.unsupported("I" + value)) }
        case UInt8(ascii: "C"):
          guard ["420", "420jpeg", "420mpeg2", "420paldv"].contains(value) else {
            throw failure(.unsupported("C" + value))
          }
        default: break
        }
      }
      guard let width else { throw VideoFileError(offset: line.upperBound, reason: .missing("W")) }
      guard let height else { throw VideoFileError(offset: line.upperBound, reason: .missing("H")) }
      guard let size = PictureSize(width, height) else {
        throw VideoFileError(offset: line.upperBound, reason: .invalid("size"))
      }
      self.size = size
    }

    private static func side(_ text: String) -> Int? {
      guard let value = Int(text), (1...PictureSize.maximumSide).contains(value) else { return nil }
      return value
    }

    private static func rate(_ text: String) -> FrameRate? {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, let numerator = UInt32(parts[0]), let denominator = UInt32(parts[1]) else { return nil }
      return FrameRate(numerator, per: denominator)
    }
  }
}
