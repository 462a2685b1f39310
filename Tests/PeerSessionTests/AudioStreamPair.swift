import CallCore
import Codecs
import CongestionControl
import JitterBuffer
import RTP

@testable import PeerSession
@testable import SDP

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A sending and a receiving audio stream with a path of no delay between them.
final class AudioStreamPair {
  struct Packet {
    var header: RTPHeader
    var payload: [UInt8]
  }

  let settings: AudioSettings
  let send: AudioSendStream
  let receive: AudioReceiveStream
  private var pacer = Pacer(settings: Pacer.Settings(rate: .kilobitsPerSecond(750)))
  private(set) var now = Instant.zero
  private(set) var sent: [Packet] = []
  /// What was played since it was last emptied.
  var heard: [Int16] = []
  private(set) var reports: [TelephoneEvent] = []
  /// Whether a packet is lost, by its number.
  var isLost: (Int) -> Bool = { _ in false }
  private let room = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private let speaker = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)

  /// - Parameter asked: whether the remote side has the same wishes as this one; else none.
  init(
    _ codecs: [AudioCodec], fidelity: MediaFidelity = .real, asked: Bool = true,
    adjust: (inout AudioSettings) -> Void = { _ in }
  ) {
    var settings = AudioSettings()
    settings.codecs = codecs
    adjust(&settings)
    self.settings = settings
    var remote = AudioSettings()
    remote.codecs = codecs
    let media = Self.media(asked ? settings : remote, preferring: codecs[0])
    let sender = Transceiver.Sender(trackID: "t", cname: "c", ssrc: 7)
    send = AudioSendStream(
      settings: settings, fidelity: fidelity, media: media, codec: media.sendCodecs[0],
      track: LocalTrack(number: 0, sender: sender, source: .microphone), random: RandomSource(seed: 3))
    receive = AudioReceiveStream(fidelity: fidelity)
    receive.isActive = true
    receive.accept(media.receiveCodecs, helpers: media.receiveHelpers, retransmissions: [])
  }

  deinit {
    room.deallocate()
    speaker.deallocate()
  }

  /// The result of a negotiation of two sides with these settings.
  static func media(_ settings: AudioSettings, preferring first: AudioCodec) -> NegotiatedMedia {
    var types = PayloadTypes()
    let all = types.codecs(for: settings.capabilities.codecs).map { codec in
      NegotiatedCodec(
        name: codec.name, clockRate: codec.clockRate, channels: codec.channels, payloadType: codec.payloadType,
        retransmissionPayloadType: nil, parameters: codec.parameters, feedback: [])
    }
    let media = all.filter { AudioCodec($0)?.isMedia ?? false }
    let helpers = all.filter { !(AudioCodec($0)?.isMedia ?? false) }
    let order = media.filter { AudioCodec($0) == first } + media.filter { AudioCodec($0) != first }
    return NegotiatedMedia(
      mid: "0", mLineIndex: 0, transceiver: Transceiver.ID(number: 0), kind: .audio, direction: .sendrecv,
      sendCodecs: order, receiveCodecs: order, sendHelpers: helpers, receiveHelpers: helpers, sendEncodings: [.only],
      receiveEncodings: [.only], headerExtensions: [], remoteSources: [], remoteStreamIDs: [], reducedSizeRTCP: true,
      packetTime: nil, maximumPacketTime: nil, remoteBandwidths: [])
  }

  /// Renegotiates with another codec before the others.
  func change(to codec: AudioCodec) {
    let media = Self.media(settings, preferring: codec)
    send.update(media, media.sendCodecs[0])
    receive.accept(media.receiveCodecs, helpers: media.receiveHelpers, retransmissions: [])
  }

  /// Sends samples, and plays as many.
  func run(_ samples: [Int16], channels: Int = 1) {
    for start in stride(from: 0, to: samples.count, by: 480 * channels) {
      send.append(Array(samples[start..<start + 480 * channels]).span)
      carry()
      play()
      now += .milliseconds(10)
    }
  }

  private func carry() {
    send.produce(into: &pacer, at: now)
    var output = OutputSpan<UInt8>(buffer: room, initializedCount: 0)
    while let queued = pacer.next(into: &output, at: now) {
      _ = send.departed(queued.packet, output.span.bytes, at: now)
      let number = sent.count
      if let packet = RTPPacket(parsing: output.span.bytes) {
        let payload = output.span.bytes.extracting(packet.payloadRange)
        sent.append(Packet(header: packet.header, payload: payload.copied))
        if !isLost(number) { _ = receive.receive(packet, in: output.span.bytes, ecn: .notECT, at: now) }
      }
      output.removeAll()
    }
    _ = output.finalize(for: room)
    while let event = receive.nextTelephoneEvent(at: now) { reports.append(event) }
  }

  private func play() {
    var output = OutputSpan<Int16>(buffer: speaker, initializedCount: 0)
    _ = receive.play(480, into: &output, at: now)
    let count = output.finalize(for: speaker)
    heard += speaker[..<count]
  }

  var statistics: AudioStatistics { AudioStatistics(receive) }
}

/// The counters of the playing source.
struct AudioStatistics {
  var concealed: Int64 = 0
  var recovered: Int64 = 0
  var comfort: Int64 = 0
  var malformed: Int64 = 0

  init(_ stream: AudioReceiveStream) {
    guard let source = stream.sources.first, let counters = stream.playout(of: source) else { return }
    concealed = counters.concealedSamples
    recovered = counters.recoveredSamples
    comfort = counters.comfortSamples
    malformed = counters.malformedPackets
  }
}

/// A tone of 48 kHz, from a sample on.
func tone(_ frequency: Double, amplitude: Double = 8_000, from first: Int = 0, count: Int) -> [Int16] {
  (first..<first + count).map { Int16((amplitude * sin(2 * .pi * frequency * Double($0) / 48_000)).rounded()) }
}

/// The amplitude of a tone in 48 kHz samples, and the ratio in decibels of its power to that of everything else, by least
/// squares.
func toneFit(_ samples: some Collection<Int16>, _ frequency: Double) -> (amplitude: Double, ratio: Double) {
  var (cosine, sine, power) = (0.0, 0.0, 0.0)
  for (index, sample) in samples.enumerated() {
    let angle = 2 * Double.pi * frequency * Double(index) / 48_000
    cosine += Double(sample) * cos(angle)
    sine += Double(sample) * sin(angle)
    power += Double(sample) * Double(sample)
  }
  let count = Double(samples.count)
  let signal = 2 * (cosine * cosine + sine * sine) / count
  return ((2 * signal / count).squareRoot(), 10 * log10(signal / max(1e-9, power - signal)))
}
