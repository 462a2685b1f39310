internal import CallCore
internal import CongestionControl
internal import RTP

/// The forward error correction of one encoding: how much there is, and its packets.
final class VideoRepairSender {
  enum Scheme: Hashable {
    /// ULPFEC on the stream of the media, both inside RED.
    case ulpfec(UInt8, red: UInt8)
    /// FlexFEC on a stream of its own.
    case flexFEC(UInt8)

    var format: RepairFormat {
      switch self {
      case .ulpfec: .ulpfec
      case .flexFEC: .flexFECDraft
      }
    }
  }

  let scheme: Scheme
  private var encoder: RepairEncoder
  private var rule = ProtectionRule()
  private var decided: Instant?
  /// The mean numbers of packets of delta and key frames.
  private var packetsPerFrame = 1.0
  private var packetsPerKeyFrame = 1.0
  private var packetsOfFrame = 0
  /// The packets of the last second.
  private var sent = FIFO<(at: Instant, byteCount: Int)>()
  private var sentBytes = 0
  private let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)

  /// The time over which the rate is measured, and after which the protection is decided anew.
  private static let window = Interval.seconds(1)
  /// The weight of a new frame in the mean number of packets.
  private static let smoothing = 0.1

  init(_ scheme: Scheme) {
    self.scheme = scheme
    encoder = RepairEncoder(format: scheme.format)
  }

  deinit { scratch.deallocate() }

  /// The header extensions that are written when a packet leaves.
  func setUnprotected(_ extensions: [UInt8]) { encoder.unprotectedExtensions = extensions }

  /// The bytes that a packet of media leaves free, so that the repair packet over it is no larger than others.
  ///
  /// - Parameter extensions: the size of the header extensions, which the repair packet has and protects.
  func overhead(extensions: Int) -> Int { scheme.format.maximumHeaderSize + extensions }

  // MARK: Amount

  /// Whether the amount is to be decided again by time alone: losses are forgotten.
  func isDue(at now: Instant) -> Bool { decided.map { now - $0 >= Self.window } ?? true }

  /// Decides the amount.
  func decide(_ conditions: ProtectionRule.Conditions, at now: Instant) {
    var conditions = conditions
    conditions.packetsPerFrame = packetsPerFrame
    conditions.packetsPerKeyFrame = packetsPerKeyFrame
    encoder.protection = rule.protection(for: conditions, at: now)
    decided = now
  }

  /// The rate of the repair packets of the last second with all headers.
  func rate(at now: Instant) -> DataRate {
    while let first = sent.first, now - first.at >= Self.window {
      sentBytes -= first.byteCount
      _ = sent.popFirst()
    }
    return .bitsPerSecond(Int64(sentBytes) * 8)
  }

  func sent(byteCount: Int, at now: Instant) {
    let size = byteCount + MediaTransport.lowerOverhead
    sent.append((now, size))
    sentBytes += size
  }

  // MARK: Packets

  /// Takes the packet of media that `write` writes, and writes it as it leaves.
  ///
  /// - Returns: its header as it leaves; nil, with nothing written, when it does not fit.
  func add(
    isKeyFrame: Bool, endsFrame: Bool, into output: inout OutputSpan<UInt8>,
    write: (inout OutputSpan<UInt8>) -> RTPHeader?
  ) -> RTPHeader? {
    var plain = OutputSpan<UInt8>(buffer: scratch, initializedCount: 0)
    let written = write(&plain)
    let bytes = UnsafeRawBufferPointer(start: scratch.baseAddress, count: plain.finalize(for: scratch)).bytes
    guard var header = written, output.freeCapacity >= bytes.byteCount + REDEncapsulation.overhead else { return nil }
    encoder.add(bytes, isKeyFrame: isKeyFrame, endsFrame: endsFrame)
    count(isKeyFrame: isKeyFrame, endsFrame: endsFrame)
    switch scheme {
    case .flexFEC: output.append(contentsOf: bytes)
    case .ulpfec(_, let red):
      guard REDEncapsulation.wrap(bytes, redPayloadType: red, into: &output) else { return nil }
      header.payloadType = red
    }
    return header
  }

  private func count(isKeyFrame: Bool, endsFrame: Bool) {
    packetsOfFrame += 1
    guard endsFrame else { return }
    let packets = Double(packetsOfFrame)
    packetsOfFrame = 0
    if isKeyFrame {
      packetsPerKeyFrame += (packets - packetsPerKeyFrame) * Self.smoothing
    } else {
      packetsPerFrame += (packets - packetsPerFrame) * Self.smoothing
    }
  }

  /// Returns the next repair packet's payload, to be sent after the frame that it protects.
  func next() -> RepairPayload? { encoder.next() }
}
