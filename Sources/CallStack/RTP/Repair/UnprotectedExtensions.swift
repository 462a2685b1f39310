import CallCore

extension RTPPacket {
  /// Returns a copy of the packet in which the values of some header extensions are zeros.
  ///
  /// Extensions that state the time or the order of sending, such as the transport-wide number, are written after the
  /// parity is made in libwebrtc; its receiver clears them before it uses a packet (`CopyAndZeroMutableExtensions`).
  func copy(of datagram: RawSpan, clearing extensions: [UInt8]) -> [UInt8] {
    var bytes = datagram.copied
    for id in extensions {
      guard let range = extensionElement(id: id, in: datagram) else { continue }
      for index in range where index < bytes.count { bytes[index] = 0 }
    }
    return bytes
  }
}
