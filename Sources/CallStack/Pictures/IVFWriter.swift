/// Writes an IVF file, in memory or in pieces.
package struct IVFWriter: Sendable {
  /// The offset of ``count``.
  package static let countOffset = 24
  private let header: [UInt8]
  /// The frames, without those that were taken.
  private var body: [UInt8] = []
  private var frameCount: UInt32 = 0

  /// Begins a file. The codec is four printable ASCII characters such as `VP80`; others give nil.
  ///
  /// - Parameter timeBase: units of time per second.
  package init?(codec: String, size: PictureSize, timeBase: FrameRate) {
    let name = Array(codec.utf8)
    guard name.count == 4, name.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    var header = IVFFile.signature + [0, 0, UInt8(IVFFile.headerSize), 0] + name
    header.append(littleEndian: UInt16(size.width))
    header.append(littleEndian: UInt16(size.height))
    header.append(littleEndian: timeBase.numerator)
    header.append(littleEndian: timeBase.denominator)
    self.header = header
  }

  /// The whole file, if nothing of it was taken.
  package var bytes: [UInt8] { beginning + body }

  /// The header of the file. With the count of zero that it has before the first frame, it begins a stream.
  package var beginning: [UInt8] { header + count + [0, 0, 0, 0] }

  /// The number of frames in the header.
  package var count: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: frameCount)
    return bytes
  }

  /// Returns the frames that were appended since the last call, and forgets them: a long file goes to disk in pieces.
  package mutating func take() -> [UInt8] {
    defer { body.removeAll(keepingCapacity: true) }
    return body
  }

  /// Appends a frame. One of 4 GiB or more does not fit the format and is refused.
  package mutating func append(_ frame: IVFFile.Frame) throws(VideoFileError) {
    guard let length = UInt32(exactly: frame.bytes.count) else {
      throw VideoFileError(offset: IVFFile.headerSize + body.count, reason: .wrongFrameSize)
    }
    body.append(littleEndian: length)
    body.append(littleEndian: frame.time)
    body += frame.bytes
    frameCount &+= 1
  }
}

extension [UInt8] {
  fileprivate mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
    for shift in stride(from: 0, to: T.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: value >> T(shift))) }
  }
}
