internal import CallCore
internal import Codecs
internal import JitterBuffer
internal import RTP

/// From RTP packets to playout.
final class AudioReceiveStream {
  private(set) var rtp: RTPReceiver?
  private(set) var jitterBuffer: AudioJitterBuffer
  /// The payload types the far side may use.
  var payloadTypes: [UInt8] = []
  private let usesNACK: Bool

  init(media: MediaFidelity, settings: AudioSettings, usesNACK: Bool) {
    self.usesNACK = usesNACK
    var buffering = AudioJitterBuffer.Settings()
    // One packet of extra delay lets the redundancy in the next packet arrive in time.
    if settings.inBandFEC { buffering.minimumDelay = settings.ptime }
    jitterBuffer = AudioJitterBuffer(decoder: Self.makeDecoder(media), settings: buffering)
  }

  private static func makeDecoder(_ media: MediaFidelity) -> AudioDecoder {
    guard media == .real else { return .synthetic(SyntheticAudioDecoder()) }
    do throws(CodecError) {
      return .opus(try OpusDecoder(channels: 1))
    } catch {
      preconditionFailure("libopus refused a mono decoder: \(error)")
    }
  }

  /// - Returns: false when its payload type was not negotiated.
  func receive(_ packet: RTPPacket, in datagram: RawSpan, ecn: ECN, at now: Instant) -> Bool {
    guard payloadTypes.contains(packet.header.payloadType) else { return false }
    if rtp?.ssrc != packet.header.ssrc {
      var settings = RTPReceiver.Settings(clockRate: 48_000)
      if usesNACK { settings.nack = NACKGenerator.Settings() }
      rtp = RTPReceiver(ssrc: packet.header.ssrc, settings: settings)
    }
    switch rtp?.receive(packet, ecn: ecn, at: now) {
    case .rejected?, .probation?, nil: break
    case .advanced?, .old?, .restarted?:
      if !packet.payloadRange.isEmpty {
        jitterBuffer.insert(packet.header, payload: datagram.extracting(packet.payloadRange), at: now)
      }
    }
    return true
  }

  func play(_ count: Int, into output: inout OutputSpan<Int16>, at now: Instant) -> AudioLevel? {
    guard rtp != nil, !payloadTypes.isEmpty else { return nil }
    return AudioLevel(linear: jitterBuffer.pull(samples: count, into: &output, at: now).level)
  }

  func receive(_ report: SenderReport, at now: Instant) { rtp?.receive(report, at: now) }

  func takeReportBlock(at now: Instant) -> ReportBlock? { rtp?.takeReportBlock(at: now) }

  func takeNACK(from ssrc: UInt32, roundTrip: Interval?, at now: Instant) -> GenericNACK? {
    rtp?.takeNACK(from: ssrc, roundTrip: roundTrip, at: now)
  }

  var nackDeadline: Instant? { rtp?.nackDeadline }
}
