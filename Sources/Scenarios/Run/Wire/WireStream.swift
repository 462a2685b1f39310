internal import CallCore
internal import DTLS
internal import SimNet
internal import TURN

/// One direction of a TCP connection at an interface: finds the TURN messages in its segments.
///
/// Segments are ordered by their sequence numbers, also if they come repeatedly. A connection leads to a TURN server if
/// its first bytes are a STUN message (RFC 8489 section 5); others are ignored. TLS is decrypted with the secrets that
/// the servers log, and its content treated in the same way.
struct WireStream {
  private enum Phase {
    /// Not begun, or too short to classify.
    case unknown([UInt8])
    case turn(TURNStreamFramer)
    case tls(TLSReader, TLSReader.Sender, Plain)
    case other
  }

  /// The decrypted content of TLS, which starts in the phase of a new stream.
  private final class Plain { var stream = WireStream() }

  private var phase = Phase.unknown([])
  /// The sequence number of SYN, and that of the next byte.
  private var first: UInt32?
  private var next: UInt32?
  /// Segments that came before their turn, by sequence number.
  private var early: [(number: UInt32, bytes: [UInt8])] = []
  /// The number of segments that are kept: a window of 65,535 bytes in segments of a hundred.
  private static let earlyLimit = 656

  /// Takes a segment with its header and hands over each message that it completes.
  ///
  /// - Parameter reader: returns the reader of the TLS connection for the given direction.
  mutating func receive(
    _ segment: RawSpan, reader: (TLSReader.Sender) -> TLSReader, message: (RawSpan) -> Void
  ) {
    guard let header = TCPHeader(parsing: segment), let size = TCPHeader.size(of: segment) else { return }
    // A copy of SYN may arrive late, after much data.
    if header.flags.contains(.syn), first != header.sequence.rawValue {
      self = WireStream()
      first = header.sequence.rawValue
      next = header.sequence.rawValue &+ 1
    }
    guard case let data = segment.extracting(size..<segment.byteCount), !data.isEmpty else { return }
    if case .other = phase { return }
    let number = header.flags.contains(.syn) ? header.sequence.rawValue &+ 1 : header.sequence.rawValue
    take(data, number, reader, message)
    while let index = early.firstIndex(where: { distance($0.number) <= 0 }) {
      let (number, bytes) = early.remove(at: index)
      take(bytes.span.bytes, number, reader, message)
    }
  }

  /// Returns the distance of a number from the next expected one.
  private func distance(_ number: UInt32) -> Int { next.map { Int(Int32(bitPattern: number &- $0)) } ?? .max }

  private mutating func take(
    _ data: RawSpan, _ number: UInt32, _ reader: (TLSReader.Sender) -> TLSReader, _ message: (RawSpan) -> Void
  ) {
    let ahead = distance(number)
    guard ahead <= 0 else {
      if next != nil { keep(data, number) }
      return
    }
    // The first bytes may have arrived before, in a retransmitted segment.
    guard -ahead < data.byteCount else { return }
    let news = data.extracting(-ahead..<data.byteCount)
    next = next.map { $0 &+ UInt32(news.byteCount) }
    read(news, reader, message)
  }

  /// Keeps a segment that came before its turn. A retransmitted segment may be longer.
  private mutating func keep(_ data: RawSpan, _ number: UInt32) {
    if let known = early.firstIndex(where: { $0.number == number }) {
      if early[known].bytes.count < data.byteCount { early[known].bytes = data.copied }
    } else if early.count < Self.earlyLimit {
      early.append((number, data.copied))
    }
  }

  private mutating func read(
    _ bytes: RawSpan, _ reader: (TLSReader.Sender) -> TLSReader, _ message: (RawSpan) -> Void
  ) {
    switch phase {
    case .other: break
    case .turn(var framer): phase = framer.receive(bytes, message: message) ? .turn(framer) : .other
    case .tls(let reader, let sender, let plain):
      reader.receive(bytes, from: sender) { plain.stream.read($0, { _ in reader }, message) }
    case .unknown(let begun):
      let all = begun + bytes.copied
      guard let cookie = all.span.bytes.bigEndian(UInt32.self, at: 4) else {
        phase = .unknown(all)
        return
      }
      if TLSReader.isTLS(all.span.bytes) {
        // A server begins with a ServerHello, or with an alert, which is not a handshake record.
        let sender = all[5] == 1 ? TLSReader.Sender.client : .server
        phase = .tls(reader(sender), sender, Plain())
        return read(all.span.bytes, reader, message)
      }
      guard all[0] < 0x40, cookie == 0x2112_A442 else {
        phase = .other
        early = []
        return
      }
      var framer = TURNStreamFramer()
      phase = framer.receive(all.span.bytes, message: message) ? .turn(framer) : .other
    }
  }
}
