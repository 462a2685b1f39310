import CallCore
import SRTP

extension [UInt8] {
  init(hex: String) {
    let digits = hex.filter { !$0.isWhitespace }
    self = stride(from: 0, to: digits.count, by: 2).map { offset in
      let start = digits.index(digits.startIndex, offsetBy: offset)
      return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)!
    }
  }
}

enum Packets {
  static func master(_ profile: SRTPProfile, fill: UInt8 = 0x20) -> SRTPMasterKey {
    SRTPMasterKey(
      key: (0..<profile.keyLength).map { UInt8($0) ^ fill }, salt: (0..<profile.saltLength).map { UInt8($0) &+ 0x71 })
  }

  static func rtp(_ sequence: UInt16, source: UInt32 = 0xCAFE_BABE, payload: Int = 20) -> [UInt8] {
    var packet: [UInt8] = [0x80, 111]
    packet.append(bigEndian: sequence)
    packet.append(bigEndian: UInt32(sequence) &* 960)
    packet.append(bigEndian: source)
    return packet + (0..<payload).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  }

  static func rtcp(source: UInt32 = 0xCAFE_BABE) -> [UInt8] {
    var packet: [UInt8] = [0x80, 201, 0, 5]
    packet.append(bigEndian: source)
    return packet + [UInt8](repeating: 0x5A, count: 16)
  }
}

enum Operation { case protectRTP, protectRTCP, unprotectRTP, unprotectRTCP }

extension SRTPContext {
  /// Runs one operation on a copy of `packet` with room for `room` more bytes.
  mutating func apply(_ operation: Operation, _ packet: [UInt8], room: Int = 64) -> Result<[UInt8], SRTPError> {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: packet.count + room)
    defer { memory.deallocate() }
    var span = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    span.append(contentsOf: packet.span.bytes)
    do throws(SRTPError) {
      switch operation {
      case .protectRTP: try protectRTP(&span)
      case .protectRTCP: try protectRTCP(&span)
      case .unprotectRTP: try unprotectRTP(&span)
      case .unprotectRTCP: try unprotectRTCP(&span)
      }
    } catch {
      return .failure(error)
    }
    return .success(span.span.bytes.copied)
  }
}

/// Both directions' ends of one key.
final class Link {
  var sender: SRTPContext
  var receiver: SRTPContext

  init(_ profile: SRTPProfile) throws(SRTPError) {
    sender = try SRTPContext(.sending, profile: profile, key: Packets.master(profile))
    receiver = try SRTPContext(.receiving, profile: profile, key: Packets.master(profile))
  }

  func protect(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] { try sender.apply(.protectRTP, packet).get() }
  func unprotect(_ packet: [UInt8]) -> Result<[UInt8], SRTPError> { receiver.apply(.unprotectRTP, packet) }
  func rollover(_ source: UInt32 = 0xCAFE_BABE) -> UInt32? { receiver.rolloverCounter(of: source) }
}
