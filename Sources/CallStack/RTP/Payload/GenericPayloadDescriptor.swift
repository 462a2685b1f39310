import CallCore

/// The one-byte header that libwebrtc puts before the bytes of a frame whose codec has no payload format. The synthetic
/// codec uses it.
package struct GenericPayloadDescriptor: Hashable, Sendable, BitwiseCopyable, PayloadDescriptor {
  package var isKeyFrame: Bool
  package var beginsFrame: Bool
  /// The running number of the frame, in fifteen bits.
  package var pictureID: UInt16?

  package init(isKeyFrame: Bool, beginsFrame: Bool, pictureID: UInt16? = nil) {
    self.isKeyFrame = isKeyFrame
    self.beginsFrame = beginsFrame
    self.pictureID = pictureID.map { $0 & 0x7FFF }
  }

  /// Reads the header of a payload, or returns nil when the payload ends inside it.
  package init?(parsing payload: RawSpan, size: inout Int) {
    guard let first = payload.byte(at: 0) else { return nil }
    self.init(isKeyFrame: first & 1 != 0, beginsFrame: first & 2 != 0)
    size = 1
    if first & 4 != 0 {
      guard let id = payload.bigEndian(UInt16.self, at: 1) else { return nil }
      pictureID = id & 0x7FFF
      size = 3
    }
  }

  /// The size on the wire in bytes.
  package var encodedSize: Int { pictureID == nil ? 1 : 3 }

  /// Writes the header. Returns false, with nothing written, when it does not fit.
  package func write(into output: inout OutputSpan<UInt8>) -> Bool {
    guard output.freeCapacity >= encodedSize else { return false }
    output.append((isKeyFrame ? 1 : 0) | (beginsFrame ? 2 : 0) | (pictureID == nil ? 0 : 4))
    if let pictureID { output.append(bigEndian: pictureID) }
    return true
  }
}
