internal import CallCore

/// A message of the data channel establishment protocol (RFC 8832 section 5).
package enum DCEPMessage: Hashable, Sendable {
  case open(DataChannelParameters)
  case acknowledgment

  private static let openType: UInt8 = 3
  private static let acknowledgmentType: UInt8 = 2

  /// The channel types without the bit for unordered delivery (RFC 8832 section 5.1).
  private enum Reliability {
    static let reliable: UInt8 = 0
    static let retransmits: UInt8 = 1
    static let lifeTime: UInt8 = 2
    static let unordered: UInt8 = 0x80
  }

  /// Reads a message, or returns nil if it is malformed or its channel type is unknown.
  package init?(parsing bytes: RawSpan) {
    switch bytes.byte(at: 0) {
    case Self.acknowledgmentType: self = .acknowledgment
    case Self.openType:
      guard let type = bytes.byte(at: 1), let priority = bytes.bigEndian(UInt16.self, at: 2),
        let limit = bytes.bigEndian(UInt32.self, at: 4), let labelSize = bytes.bigEndian(UInt16.self, at: 8),
        let protocolSize = bytes.bigEndian(UInt16.self, at: 10),
        let label = bytes.bytes(in: 12..<12 + Int(labelSize)),
        let name = bytes.bytes(in: 12 + label.count..<12 + label.count + Int(protocolSize))
      else { return nil }
      var parameters = DataChannelParameters(
        label: String(decoding: label, as: UTF8.self), protocolName: String(decoding: name, as: UTF8.self),
        isOrdered: type & Reliability.unordered == 0, priority: priority)
      switch type & ~Reliability.unordered {
      case Reliability.reliable: break
      case Reliability.retransmits: parameters.maximumRetransmits = UInt16(clamping: limit)
      case Reliability.lifeTime: parameters.maximumPacketLifeTime = UInt16(clamping: limit)
      default: return nil
      }
      self = .open(parameters)
    default: return nil
    }
  }

  /// The message on the wire.
  ///
  /// - Precondition: the label and the protocol have at most 65535 bytes.
  package var encoded: [UInt8] {
    switch self {
    case .acknowledgment: return [Self.acknowledgmentType]
    case .open(let parameters):
      var type = parameters.isOrdered ? 0 : Reliability.unordered
      var limit: UInt16 = 0
      if let retransmits = parameters.maximumRetransmits {
        type |= Reliability.retransmits
        limit = retransmits
      } else if let lifeTime = parameters.maximumPacketLifeTime {
        type |= Reliability.lifeTime
        limit = lifeTime
      }
      var bytes = [Self.openType, type]
      bytes.append(bigEndian: parameters.priority)
      bytes.append(bigEndian: UInt32(limit))
      bytes.append(bigEndian: UInt16(parameters.label.utf8.count))
      bytes.append(bigEndian: UInt16(parameters.protocolName.utf8.count))
      return bytes + parameters.label.utf8 + parameters.protocolName.utf8
    }
  }
}
