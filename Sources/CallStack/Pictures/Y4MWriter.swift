/// Writes a YUV4MPEG2 file in memory: progressive, 4:2:0, 8 bits.
package struct Y4MWriter: Sendable {
  package let size: PictureSize
  package private(set) var bytes: [UInt8]

  package init(size: PictureSize, frameRate: FrameRate) {
    self.size = size
    let rate = "\(frameRate.numerator):\(frameRate.denominator)"
    bytes = Array("YUV4MPEG2 W\(size.width) H\(size.height) F\(rate) Ip A1:1 C420jpeg\n".utf8)
  }

  /// Appends a frame, which must have the size of the file.
  package mutating func append(_ frame: VideoFrame) throws(PictureError) {
    guard frame.size == size else { throw .sizesDiffer(size, frame.size) }
    bytes.append(contentsOf: "FRAME\n".utf8)
    bytes.append(contentsOf: frame.samples)
  }

  /// Returns what was written since the last call, and forgets it: a long file goes to disk in pieces.
  package mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }
}
