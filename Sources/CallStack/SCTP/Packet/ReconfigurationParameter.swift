internal import CallCore

/// A parameter of a RE-CONFIG chunk (RFC 6525 section 4).
package enum ReconfigurationParameter: Hashable, Sendable {
  /// An outgoing SSN reset request: the sender resets its streams, or all if none is listed.
  case outgoingReset(OutgoingReset)
  /// An incoming SSN reset request: the sender asks the receiver to reset streams.
  case incomingReset(number: UInt32, streams: [UInt16])
  case response(number: UInt32, result: Result)
  /// Another parameter, such as a request for more streams, with its request number.
  case other(type: UInt16, number: UInt32)

  /// The fields of an outgoing SSN reset request (RFC 6525 section 4.1).
  package struct OutgoingReset: Hashable, Sendable {
    package var requestNumber: UInt32
    /// The number of the incoming request that this one answers, or one less than the next expected.
    package var responseNumber: UInt32
    /// The last TSN that the sender assigned before the reset.
    package var lastTSN: UInt32
    package var streams: [UInt16]

    package init(requestNumber: UInt32, responseNumber: UInt32, lastTSN: UInt32, streams: [UInt16]) {
      self.requestNumber = requestNumber
      self.responseNumber = responseNumber
      self.lastTSN = lastTSN
      self.streams = streams
    }
  }

  /// The result of a request (RFC 6525 section 4.4).
  package enum Result: UInt32, Sendable {
    case nothingToDo = 0
    case performed = 1
    case denied = 2
    case wrongSSN = 3
    case requestInProgress = 4
    case badSequenceNumber = 5
    case inProgress = 6
  }

  /// The types on the wire.
  enum WireType {
    static let outgoingReset: UInt16 = 13
    static let incomingReset: UInt16 = 14
    static let response: UInt16 = 16
  }

  /// Reads the value of a parameter, or returns nil if it is malformed.
  static func parse(type: UInt16, _ value: RawSpan) -> ReconfigurationParameter? {
    guard let number = value.bigEndian(UInt32.self, at: 0) else { return nil }
    switch type {
    case WireType.outgoingReset:
      guard let response = value.bigEndian(UInt32.self, at: 4), let last = value.bigEndian(UInt32.self, at: 8),
        let streams = streams(value, from: 12)
      else { return nil }
      return .outgoingReset(
        OutgoingReset(requestNumber: number, responseNumber: response, lastTSN: last, streams: streams))
    case WireType.incomingReset:
      guard let streams = streams(value, from: 4) else { return nil }
      return .incomingReset(number: number, streams: streams)
    case WireType.response:
      guard let raw = value.bigEndian(UInt32.self, at: 4), let result = Result(rawValue: raw) else { return nil }
      return .response(number: number, result: result)
    default: return .other(type: type, number: number)
    }
  }

  func write(to bytes: inout [UInt8]) {
    switch self {
    case .outgoingReset(let reset):
      bytes.appendTLV(WireType.outgoingReset) { value in
        value.append(bigEndian: reset.requestNumber)
        value.append(bigEndian: reset.responseNumber)
        value.append(bigEndian: reset.lastTSN)
        for stream in reset.streams { value.append(bigEndian: stream) }
      }
    case .incomingReset(let number, let streams):
      bytes.appendTLV(WireType.incomingReset) { value in
        value.append(bigEndian: number)
        for stream in streams { value.append(bigEndian: stream) }
      }
    case .response(let number, let result):
      bytes.appendTLV(WireType.response) { value in
        value.append(bigEndian: number)
        value.append(bigEndian: result.rawValue)
      }
    case .other(let type, let number):
      bytes.appendTLV(type) { $0.append(bigEndian: number) }
    }
  }

  private static func streams(_ value: RawSpan, from start: Int) -> [UInt16]? {
    guard value.byteCount >= start, (value.byteCount - start) % 2 == 0 else { return nil }
    return stride(from: start, to: value.byteCount, by: 2).compactMap { value.bigEndian(UInt16.self, at: $0) }
  }
}
