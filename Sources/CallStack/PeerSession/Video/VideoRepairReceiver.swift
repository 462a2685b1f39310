internal import CallCore
internal import RTP

/// The forward error correction of one received source: counts the repair packets, and recovers lost ones.
struct VideoRepairReceiver {
  /// The number of repair packets and of their payload bytes, without RED.
  private(set) var packetsReceived: Int64 = 0
  private(set) var bytesReceived: Int64 = 0
  /// The reception of the stream of FlexFEC; nil before its first packet.
  private(set) var stream: RTPReceiver?
  private var decoder: RepairDecoder

  init(_ format: RepairFormat, ssrc: UInt32) { decoder = RepairDecoder(format: format, ssrc: ssrc) }

  /// The header extensions that are written when a packet leaves, which count as zeros.
  var unprotectedExtensions: [UInt8] {
    get { decoder.unprotectedExtensions }
    set { decoder.unprotectedExtensions = newValue }
  }

  var format: RepairFormat { decoder.format }

  /// The repair packets that recovered nothing and no longer can (W3C `fecPacketsDiscarded`).
  var packetsDiscarded: Int64 { Int64(decoder.unusedCount + decoder.discardedCount + decoder.refusedCount) }

  /// Takes a packet of media as it came.
  mutating func receive(media packet: RTPPacket, in datagram: RawSpan) {
    guard format == .ulpfec else { return decoder.receive(media: datagram) }
    let bytes = [UInt8](unsafeUninitializedCapacity: datagram.byteCount) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      _ = REDEncapsulation.unwrap(packet, in: datagram, into: &output)
      count = output.finalize(for: buffer)
    }
    decoder.receive(media: bytes.span.bytes)
  }

  /// Takes a repair packet, without RED.
  mutating func receive(repair packet: RTPPacket, in datagram: RawSpan) {
    packetsReceived += 1
    bytesReceived += Int64(packet.payloadRange.count)
    decoder.receive(repair: datagram.extracting(packet.payloadRange))
  }

  /// Takes a packet of the stream of FlexFEC.
  mutating func receive(
    stream packet: RTPPacket, in datagram: RawSpan, settings: RTPReceiver.Settings, at now: Instant
  ) {
    if stream?.ssrc != packet.header.ssrc { stream = RTPReceiver(ssrc: packet.header.ssrc, settings: settings) }
    _ = stream?.receive(packet, at: now)
    receive(repair: packet, in: datagram)
  }

  /// Returns the next recovered packet.
  mutating func next() -> [UInt8]? { decoder.next() }
}
