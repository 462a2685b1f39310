import CallCore

/// The payload descriptor of VP8 (RFC 7741 section 4.2), which precedes the bytes of a frame in each packet.
package struct VP8PayloadDescriptor: Hashable, Sendable, PayloadDescriptor {
  /// Whether no other frame refers to this one (N).
  package var isNonReference: Bool
  /// Whether the payload begins a partition (S).
  package var beginsPartition: Bool
  /// The number of the partition, in three bits (PID).
  package var partition: UInt8
  package var pictureID: PictureID?
  /// The running number of the frames of the lowest temporal layer (TL0PICIDX).
  package var temporalLayerZeroIndex: UInt8?
  /// The temporal layer, in two bits (TID).
  package var temporalLayer: UInt8?
  /// Whether the frame refers only to the lowest temporal layer (Y).
  package var isLayerSync: Bool
  /// The running number of the key frames, in five bits (KEYIDX).
  package var keyFrameIndex: UInt8?

  package init(
    isNonReference: Bool = false, beginsPartition: Bool = false, partition: UInt8 = 0, pictureID: PictureID? = nil,
    temporalLayerZeroIndex: UInt8? = nil, temporalLayer: UInt8? = nil, isLayerSync: Bool = false,
    keyFrameIndex: UInt8? = nil
  ) {
    self.isNonReference = isNonReference
    self.beginsPartition = beginsPartition
    self.partition = partition & 7
    self.pictureID = pictureID
    self.temporalLayerZeroIndex = temporalLayerZeroIndex
    self.temporalLayer = temporalLayer.map { $0 & 3 }
    self.isLayerSync = isLayerSync
    self.keyFrameIndex = keyFrameIndex.map { $0 & 0x1F }
  }

  /// Whether the payload begins a frame: the start of its first partition.
  package var beginsFrame: Bool { beginsPartition && partition == 0 }
}

extension VP8PayloadDescriptor {
  /// Reads the descriptor of a payload, or returns nil when the payload ends inside it.
  ///
  /// - Parameter size: set to the size of the descriptor.
  package init?(parsing payload: RawSpan, size: inout Int) {
    guard let first = payload.byte(at: 0) else { return nil }
    self.init(
      isNonReference: first & 0x20 != 0, beginsPartition: first & 0x10 != 0, partition: first & 7)
    var offset = 1
    if first & 0x80 != 0 {
      guard let flags = payload.byte(at: offset) else { return nil }
      offset += 1
      if flags & 0x80 != 0 {
        guard let id = PictureID(parsing: payload, at: &offset) else { return nil }
        pictureID = id
      }
      if flags & 0x40 != 0 {
        guard let index = payload.byte(at: offset) else { return nil }
        temporalLayerZeroIndex = index
        offset += 1
      }
      if flags & 0x30 != 0 {
        guard let byte = payload.byte(at: offset) else { return nil }
        if flags & 0x20 != 0 {
          temporalLayer = byte >> 6
          isLayerSync = byte & 0x20 != 0
        }
        if flags & 0x10 != 0 { keyFrameIndex = byte & 0x1F }
        offset += 1
      }
    }
    size = offset
  }

  /// Writes other numbers over those of a payload, which keep their widths. A payload without them stays as it is.
  ///
  /// - Parameters:
  ///   - pictureID: the picture number, of which the lower seven or fifteen bits are written.
  ///   - base: the TL0PICIDX, of which the lower eight bits are written.
  package static func renumber(_ payload: inout [UInt8], pictureID: Int64, base: Int64) {
    guard payload.count > 1, payload[0] & 0x80 != 0 else { return }
    let flags = payload[1]
    var offset = 2
    if flags & 0x80 != 0 {
      guard offset < payload.count else { return }
      if payload[offset] & 0x80 == 0 {
        payload[offset] = UInt8(truncatingIfNeeded: pictureID) & 0x7F
        offset += 1
      } else {
        guard offset + 1 < payload.count else { return }
        payload[offset] = 0x80 | UInt8(truncatingIfNeeded: pictureID >> 8)
        payload[offset + 1] = UInt8(truncatingIfNeeded: pictureID)
        offset += 2
      }
    }
    if flags & 0x40 != 0, offset < payload.count { payload[offset] = UInt8(truncatingIfNeeded: base) }
  }

  private var hasExtension: Bool {
    pictureID != nil || temporalLayerZeroIndex != nil || temporalLayer != nil || keyFrameIndex != nil
  }

  /// The size on the wire in bytes.
  package var encodedSize: Int {
    guard hasExtension else { return 1 }
    return 2 + (pictureID?.encodedSize ?? 0) + (temporalLayerZeroIndex == nil ? 0 : 1)
      + (temporalLayer == nil && keyFrameIndex == nil ? 0 : 1)
  }

  /// Writes the descriptor. Returns false, with nothing written, when it does not fit.
  package func write(into output: inout OutputSpan<UInt8>) -> Bool {
    guard output.freeCapacity >= encodedSize else { return false }
    let flags: UInt8 = (isNonReference ? 0x20 : 0) | (beginsPartition ? 0x10 : 0)
    output.append((hasExtension ? 0x80 : 0) | flags | partition & 7)
    guard hasExtension else { return true }
    let present: UInt8 = (pictureID == nil ? 0 : 0x80) | (temporalLayerZeroIndex == nil ? 0 : 0x40)
    output.append(present | (temporalLayer == nil ? 0 : 0x20) | (keyFrameIndex == nil ? 0 : 0x10))
    pictureID?.write(into: &output)
    if let temporalLayerZeroIndex { output.append(temporalLayerZeroIndex) }
    if temporalLayer != nil || keyFrameIndex != nil {
      let layer = (temporalLayer ?? 0) << 6 | (isLayerSync && temporalLayer != nil ? 0x20 : 0)
      output.append(layer | (keyFrameIndex ?? 0) & 0x1F)
    }
    return true
  }
}

extension PictureID {
  /// Reads a number and moves `offset` behind it.
  init?(parsing payload: RawSpan, at offset: inout Int) {
    guard let byte = payload.byte(at: offset) else { return nil }
    if byte & 0x80 == 0 {
      self = .short(byte)
    } else {
      guard let word = payload.bigEndian(UInt16.self, at: offset) else { return nil }
      self = .long(word)
    }
    offset += encodedSize
  }

  func write(into output: inout OutputSpan<UInt8>) {
    if bitWidth == 7 {
      output.append(UInt8(value))
    } else {
      output.append(bigEndian: 0x8000 | value)
    }
  }
}
