import CallCore
import Codecs
import RTP
import StackWorlds
import Testing

@testable import PeerSession

/// The streams of a session with each codec, real samples in and out.
@Suite struct AudioCodecStreamTests {
  @Test(arguments: [
    (AudioCodec.pcmu, UInt8(0), 30.0), (.pcma, 8, 30), (.g722, 9, 30), (.opus, 111, 15),
  ]) func `a tone arrives through each codec`(codec: AudioCodec, payloadType: UInt8, ratio: Double) {
    let pair = AudioStreamPair([codec])
    pair.run(tone(1_000, count: 96_000))
    let fit = toneFit(pair.heard.suffix(24_000), 1_000)
    #expect(abs(fit.amplitude - 8_000) < 400 && fit.ratio > ratio)
    #expect(pair.sent.allSatisfy { $0.header.payloadType == payloadType } && pair.sent.count == 100)
    #expect(pair.statistics.concealed == 0 && pair.statistics.malformed == 0)
  }

  @Test(arguments: [AudioCodec.pcmu, .pcma, .g722]) func `64 kbit/s and a clock of 8000 Hz`(codec: AudioCodec) {
    let pair = AudioStreamPair([codec])
    pair.run(tone(1_000, count: 48_000))
    #expect(pair.sent.allSatisfy { $0.payload.count == 160 })
    let steps = zip(pair.sent, pair.sent.dropFirst()).map { $1.header.timestamp &- $0.header.timestamp }
    #expect(Set(steps) == [160])
    #expect(pair.send.rtp.settings.clockRate == 8_000)
  }

  @Test(arguments: [(10, 80), (40, 320), (60, 480), (120, 480)]) func `a packet of G.711 holds up to 60 ms`(
    ptime: Int64, size: Int
  ) {
    let pair = AudioStreamPair([.pcmu]) { $0.ptime = .milliseconds(ptime) }
    pair.run(tone(1_000, count: 57_600))
    #expect(Set(pair.sent.map(\.payload.count)) == [size])
    #expect(toneFit(pair.heard.suffix(19_200), 1_000).ratio > 30)
  }

  @Test(arguments: [80, 100, 120] as [Int64]) func `a packet of Opus holds up to 120 ms`(ptime: Int64) {
    let pair = AudioStreamPair([.opus]) { $0.ptime = .milliseconds(ptime) }
    pair.run(tone(1_000, count: 144_000))
    let steps = zip(pair.sent, pair.sent.dropFirst()).map { $1.header.timestamp &- $0.header.timestamp }
    #expect(Set(steps) == [UInt32(48 * ptime)])
    #expect(toneFit(pair.heard.suffix(24_000), 1_000).ratio > 15)
  }

  @Test(arguments: [AudioCodec.pcmu, .g722]) func `a change of codec in a call is not heard as loss`(other: AudioCodec)
  {
    let pair = AudioStreamPair([.opus, other])
    pair.run(tone(1_000, count: 48_000))
    pair.change(to: other)
    pair.run(tone(1_000, count: 48_000))
    #expect(toneFit(pair.heard.suffix(19_200), 1_000).ratio > 30)
    pair.change(to: .opus)
    pair.run(tone(1_000, count: 48_000))
    #expect(toneFit(pair.heard.suffix(19_200), 1_000).ratio > 15)
    #expect(pair.statistics.concealed == 0 && pair.statistics.comfort == 0 && pair.statistics.malformed == 0)
    // The clock goes on by the old rate up to the first packet of the new one (RFC 7160).
    let steps = zip(pair.sent, pair.sent.dropFirst()).map { $1.header.timestamp &- $0.header.timestamp }
    #expect(steps[..<50].allSatisfy { $0 == 960 } && steps[50..<100].allSatisfy { $0 == 160 })
    #expect(steps[100...].allSatisfy { $0 == 960 })
    #expect(
      zip(pair.sent, pair.sent.dropFirst()).allSatisfy { $1.header.sequenceNumber == $0.header.sequenceNumber &+ 1 })
  }

  @Test func `jitter is measured with the clock of each codec`() {
    let pair = AudioStreamPair([.opus, .pcmu])
    pair.run(tone(1_000, count: 48_000))
    pair.change(to: .pcmu)
    pair.run(tone(1_000, count: 48_000))
    #expect(pair.receive.sources[0].rtp.inbound.jitter < 0.001)
  }

  // MARK: Redundancy

  @Test(arguments: [1, 2]) func `redundancy restores losses of as many packets in a row as it repeats`(count: Int) {
    let lost = { (number: Int) in number > 20 && number % 10 < count }
    let pairs = [[AudioCodec.opus, .redundancy], [.opus]].map { codecs in
      AudioStreamPair(codecs) {
        $0.redundantPackets = count
        $0.inBandFEC = false
      }
    }
    for pair in pairs {
      pair.isLost = lost
      pair.run(tone(1_000, count: 144_000))
    }
    #expect(pairs[0].statistics.recovered >= Int64(12 * count * 960))
    #expect(pairs[0].statistics.concealed <= Int64(2 * count * 960) && pairs[0].statistics.malformed == 0)
    #expect(pairs[1].statistics.concealed >= Int64(12 * count * 960))
    #expect(pairs[0].sent.allSatisfy { $0.header.payloadType == 63 })
  }

  @Test func `redundancy that was negotiated is not sent unless it is wanted`() {
    let pair = AudioStreamPair(AudioCodec.chromium)
    pair.run(tone(1_000, count: 48_000))
    #expect(pair.sent.allSatisfy { $0.header.payloadType == 111 })
  }

  // MARK: Comfort noise

  /// Noise of the given root mean square.
  func noise(_ level: Double, count: Int) -> [Int16] {
    var random = RandomSource(seed: 9).stream("noise")
    return (0..<count).map { _ in
      Int16(level * 1.732 * (Double(random.uniform(below: 20_001)) / 10_000 - 1))
    }
  }

  @Test(arguments: [AudioCodec.pcmu, .pcma, .g722]) func `comfort noise replaces a pause, at its level`(
    codec: AudioCodec
  ) {
    let pair = AudioStreamPair([codec, .comfortNoise]) { $0.dtx = true }
    pair.run(tone(1_000, count: 48_000))
    pair.run(noise(40, count: 96_000))
    let pause = pair.sent.dropFirst(60)
    #expect(pause.allSatisfy { $0.header.payloadType == 13 && $0.payload.count == 9 })
    #expect((17...20).contains(pause.count))
    // Of the noise, the codec's band is described: an eighth or sixth of the power is beyond.
    let heard = AudioLevel(of: Array(pair.heard.suffix(24_000)).span)
    #expect(heard > AudioLevel(70) && heard < AudioLevel(55))
    #expect(pair.statistics.concealed == 0 && pair.statistics.comfort > 40_000)
    pair.run(tone(1_000, count: 48_000))
    #expect(toneFit(pair.heard.suffix(19_200), 1_000).ratio > 28)
    #expect(pair.sent.last?.header.payloadType != 13 && pair.statistics.concealed == 0)
    #expect(pair.sent.filter(\.header.marker).count == 2)
  }

  @Test func `without comfort noise in the negotiation pauses are sent as sound`() {
    let pair = AudioStreamPair([.pcmu]) { $0.dtx = true }
    pair.run(noise(20, count: 96_000))
    #expect(pair.sent.count == 100)
  }

  // MARK: Telephone events

  @Test(arguments: [AudioCodec.pcmu, .opus], [0, 1, 2, 3]) func `each digit arrives once under loss`(
    codec: AudioCodec, seed: UInt64
  ) {
    let pair = AudioStreamPair([codec, .telephoneEvents])
    var random = RandomSource(seed: seed).stream("loss")
    pair.isLost = { _ in random.uniform(below: 10) < 3 }
    pair.run(tone(1_000, count: 24_000))
    for digit in "1590*#D" { #expect(pair.send.sendTelephoneEvent(digit)) }
    pair.run(tone(1_000, count: 96_000))
    #expect(pair.reports.filter { $0.phase == .began }.compactMap(\.digit) == Array("1590*#D"))
    let ends = pair.reports.filter { $0.phase != .began }
    #expect(ends.compactMap(\.digit) == Array("1590*#D"))
    for case .ended(let duration) in ends.map(\.phase) { #expect(duration <= .milliseconds(100)) }
  }

  @Test func `an event has the payloads of RFC 4733, and its end is sent three times`() {
    let pair = AudioStreamPair([.pcmu, .telephoneEvents])
    pair.run(tone(1_000, count: 4_800))
    #expect(pair.send.sendTelephoneEvent("5"))
    pair.run(tone(1_000, count: 19_200))
    let events = pair.sent.filter { $0.header.payloadType == 126 }
    #expect(events.map(\.header.marker) == [true] + Array(repeating: false, count: 6))
    #expect(Set(events.map(\.header.timestamp)).count == 1)
    let beginnings = events.map { Array($0.payload.prefix(2)) }
    #expect(Array(beginnings.prefix(4)) == [[5, 10], [5, 10], [5, 10], [5, 10]])
    #expect(Array(beginnings.dropFirst(4)) == [[5, 0x8A], [5, 0x8A], [5, 0x8A]])
    let durations = events.map { Int($0.payload[2]) << 8 | Int($0.payload[3]) }
    #expect(durations == [160, 320, 480, 640, 800, 800, 800])
    // Sound pauses for the duration of the event, not for the repetitions of its end.
    #expect(pair.sent.count { $0.header.payloadType == 0 } == 25 - 5)
    #expect(pair.reports.map(\.phase) == [.began, .ended(.milliseconds(100))])
    #expect(pair.statistics.concealed == 0 && pair.statistics.malformed == 0)
  }

  @Test func `the tones of a digit are heard in place of the sound`() {
    let pair = AudioStreamPair([.pcmu, .telephoneEvents])
    pair.run(tone(1_000, count: 48_000))
    #expect(pair.send.sendTelephoneEvent("1", duration: .milliseconds(400)))
    pair.heard = []
    pair.run(tone(1_000, count: 48_000))
    let loudest = { (frequency: Double) in
      stride(from: 0, to: 40_000, by: 4_800).map { toneFit(pair.heard[$0..<$0 + 4_800], frequency).amplitude }.max()
    }
    #expect((loudest(697) ?? 0) > 4_000 && (loudest(1_209) ?? 0) > 4_000)
    #expect(toneFit(pair.heard.suffix(9_600), 1_000).ratio > 30)
  }

  @Test func `an event longer than its field goes on in segments, as one`() {
    let pair = AudioStreamPair([.opus, .telephoneEvents])
    pair.run(tone(1_000, count: 9_600))
    #expect(pair.send.sendTelephoneEvent("9", duration: .seconds(3)))
    pair.run(tone(1_000, count: 192_000))
    #expect(Set(pair.sent.filter { $0.header.payloadType == 110 }.map(\.header.timestamp)).count == 3)
    #expect(pair.reports.map(\.phase) == [.began, .ended(.seconds(3))])
    #expect(toneFit(pair.heard.suffix(9_600), 1_000).ratio > 15)
  }

  @Test func `events that were not negotiated are refused`() {
    #expect(!AudioStreamPair([.pcmu]).send.sendTelephoneEvent("1"))
    #expect(!AudioStreamPair([.pcmu, .telephoneEvents]).send.sendTelephoneEvent("x"))
  }

  @Test func `events do not count as jitter`() {
    let pair = AudioStreamPair([.pcmu, .telephoneEvents])
    pair.run(tone(1_000, count: 48_000))
    for _ in 0..<4 { #expect(pair.send.sendTelephoneEvent("1")) }
    pair.run(tone(1_000, count: 48_000))
    #expect(pair.reports.count == 8 && pair.receive.sources[0].rtp.inbound.jitter < 0.001)
  }

  // MARK: Stereo

  /// Pairs of samples, each a tone of its own.
  func pairs(_ left: Double, _ right: Double, count: Int) -> [Int16] {
    zip(tone(left, count: count), tone(right, count: count)).flatMap { [$0, $1] }
  }

  @Test func `stereo is sent if the remote side asks for it, and heard in mono`() {
    let pair = AudioStreamPair([.opus]) {
      $0.stereo = true
      $0.bitrate = .kilobitsPerSecond(64)
    }
    pair.run(pairs(600, 1_500, count: 96_000), channels: 2)
    #expect(pair.sent.suffix(50).allSatisfy { OpusPacket(bytes: $0.payload)?.isStereo == true })
    #expect(pair.sent.count == 100)
    for frequency in [600.0, 1_500] {
      #expect(abs(toneFit(pair.heard.suffix(24_000), frequency).amplitude - 4_000) < 600)
    }
  }

  @Test(arguments: [AudioCodec.opus, .pcmu]) func `what is recorded in stereo is mixed for a remote side in mono`(
    codec: AudioCodec
  ) {
    let pair = AudioStreamPair([codec], asked: false) {
      $0.stereo = true
      $0.bitrate = .kilobitsPerSecond(64)
    }
    pair.run(pairs(600, 1_500, count: 96_000), channels: 2)
    #expect(pair.sent.count == 100)
    if codec == .opus {
      #expect(pair.sent.allSatisfy { OpusPacket(bytes: $0.payload)?.isStereo == false })
    }
    for frequency in [600.0, 1_500] {
      #expect(abs(toneFit(pair.heard.suffix(24_000), frequency).amplitude - 4_000) < 600)
    }
  }

  // MARK: What does not change

  @Test func `the packets of Opus alone are those of a stack without other codecs`() {
    let pair = AudioStreamPair([.opus], fidelity: .synthetic)
    for _ in 0..<100 {
      pair.send.append(AudioLevel(20), duration: .milliseconds(10))
      pair.run(Array(repeating: 0, count: 480))
    }
    var digest = FNV1a()
    for packet in pair.sent {
      digest.mix([packet.header.payloadType, packet.header.marker ? 1 : 0])
      digest.mix(packet.payload)
      withUnsafeBytes(of: packet.header.timestamp.bigEndian) { digest.mix($0) }
      withUnsafeBytes(of: packet.header.sequenceNumber.bigEndian) { digest.mix($0) }
    }
    #expect(digest.value == 5_660_567_191_600_756_404)
  }
}
