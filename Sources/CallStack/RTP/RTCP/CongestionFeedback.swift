package import CallCore

/// Feedback for congestion control about the packets of several streams (RFC 8888 section 3.1).
package struct CongestionFeedback: Hashable, Sendable {
  /// The fate of one packet.
  package struct Arrival: Hashable, Sendable {
    /// The mark of the IP header; of copies, CE when any had it.
    package var ecn: ECN
    /// The time from the arrival to the report, in units of 1/1024 s, in thirteen bits.
    package var offset: UInt16

    package init(ecn: ECN, offset: UInt16) {
      self.ecn = ecn
      self.offset = min(offset, Self.unknownOffset)
    }

    /// Makes an arrival from the time that has passed since.
    package init(ecn: ECN, age: Interval) {
      let ticks = max(0, age.nanoseconds).multipliedReportingOverflow(by: 1_024)
      let units = ticks.overflow ? Int64.max : ticks.partialValue / 1_000_000_000
      self.init(ecn: ecn, offset: UInt16(min(units, Int64(Self.tooOldOffset))))
    }

    /// The offset of an arrival longer ago than 8189/1024 s.
    package static let tooOldOffset: UInt16 = 0x1FFE
    /// The offset of an arrival whose time is not known.
    package static let unknownOffset: UInt16 = 0x1FFF

    /// The time from the arrival to the report; nil when it is too long or unknown.
    package var age: Interval? {
      offset < Self.tooOldOffset ? Interval(nanoseconds: Int64(offset) * 1_000_000_000 / 1_024) : nil
    }
  }

  /// The packets of one stream.
  package struct Stream: Hashable, Sendable {
    package var ssrc: UInt32
    /// The number of the first packet.
    package var firstNumber: UInt16
    /// The arrivals of the packets in order; nil for one that has not arrived.
    package var packets: [Arrival?]

    package init(ssrc: UInt32, firstNumber: UInt16, packets: [Arrival?]) {
      self.ssrc = ssrc
      self.firstNumber = firstNumber
      self.packets = packets
    }

    fileprivate var size: Int { 8 + (packets.count + 1) / 2 * 4 }
  }

  package var senderSSRC: UInt32
  package var streams: [Stream]
  /// The time of the report: the middle 32 bits of its NTP time, in units of 1/65536 s.
  package var timestamp: UInt32

  package init(senderSSRC: UInt32, streams: [Stream], timestamp: UInt32) {
    self.senderSSRC = senderSSRC
    self.streams = streams
    self.timestamp = timestamp
  }

  static let format: UInt8 = 11
  /// The largest number of packets in one stream's block.
  package static let maximumPackets = 16_384
}

extension CongestionFeedback {
  /// Reads a body. Returns nil when a block is longer than the rest, or claims more packets than are allowed.
  init?(parsing body: RawSpan) {
    guard let sender = body.bigEndian(UInt32.self, at: 0), body.byteCount >= 8,
      let timestamp = body.bigEndian(UInt32.self, at: body.byteCount - 4)
    else { return nil }
    let end = body.byteCount - 4
    var streams: [Stream] = []
    var offset = 4
    while offset < end {
      guard let ssrc = body.bigEndian(UInt32.self, at: offset), let first = body.bigEndian(UInt16.self, at: offset + 4),
        let count = body.bigEndian(UInt16.self, at: offset + 6), count <= Self.maximumPackets,
        offset + 8 + (Int(count) + 1) / 2 * 4 <= end
      else { return nil }
      var stream = Stream(ssrc: ssrc, firstNumber: first, packets: [])
      stream.packets.reserveCapacity(Int(count))
      for index in 0..<Int(count) {
        let block = body.bigEndian(UInt16.self, at: offset + 8 + 2 * index) ?? 0
        stream.packets.append(Arrival(block: block))
      }
      streams.append(stream)
      offset += stream.size
    }
    self.init(senderSSRC: sender, streams: streams, timestamp: timestamp)
  }

  var size: Int { streams.reduce(8) { $0 + $1.size } }

  /// Whether the wire format can express it.
  var isValid: Bool { size <= 4 * 0xFFFF && streams.allSatisfy { $0.packets.count <= Self.maximumPackets } }

  func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: senderSSRC)
    for stream in streams {
      output.append(bigEndian: stream.ssrc)
      output.append(bigEndian: stream.firstNumber)
      output.append(bigEndian: UInt16(stream.packets.count))
      for packet in stream.packets { output.append(bigEndian: packet?.block ?? 0) }
      if stream.packets.count % 2 == 1 { output.append(bigEndian: UInt16(0)) }
    }
    output.append(bigEndian: timestamp)
  }
}

extension CongestionFeedback.Arrival {
  /// Reads the sixteen bits of a packet; nil when it was not received.
  fileprivate init?(block: UInt16) {
    guard block & 0x8000 != 0 else { return nil }
    let ecn: ECN =
      switch block >> 13 & 3 {
      case 1: .ect1
      case 2: .ect0
      case 3: .ce
      default: .notECT
      }
    self.init(ecn: ecn, offset: block & 0x1FFF)
  }

  fileprivate var block: UInt16 {
    let mark: UInt16 =
      switch ecn {
      case .notECT: 0
      case .ect1: 1
      case .ect0: 2
      case .ce: 3
      }
    return 0x8000 | mark << 13 | offset
  }
}
