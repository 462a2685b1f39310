import CallCore
import Codecs
import RTP
import SDP
import StackWorlds
import Statistics
import Testing

@testable import PeerSession

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Which of several tracks a packet belongs to, and what they sound like together.
@Suite struct RoutingTests {
  /// 20 ms of modelled audio at −20 dBov, as the far side's stack would write it.
  private func packet(ssrc: UInt32, number: UInt16, payloadType: UInt8 = 111) -> [UInt8] {
    let timestamp = UInt32(number) * 960
    return [0x80, payloadType] + [number.bytes, timestamp.bytes, ssrc.bytes].flatMap(\.self)
      + [0xA5, 8, 20, 0, 0] + Array(repeating: 0, count: 75)
  }

  private func deliver(_ packet: [UInt8], to pair: SessionPair) {
    let path = Path(local: pair.b.interface.socket, remote: pair.a.interface.socket)
    pair.b.session.receive(packet.span.bytes, on: path, at: pair.now)
    pair.drain(pair.b)
  }

  private func unprotectedCall(tracks: Int) throws -> SessionPair {
    let pair = SessionPair { $0.protection = .none }
    for _ in 1..<tracks { try pair.a.session.addTrack() }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  @Test func `a source that changes in the middle of a call is played on, and counted for itself`() throws {
    let pair = try unprotectedCall(tracks: 1)
    let first = try #require(pair.b.sources("inbound-rtp").first)
    try pair.a.session.setDirection(.inactive, of: pair.a.microphone)
    pair.a.session.setAudioEnabled(false)
    pair.run(for: .seconds(1))
    pair.b.loudest = .silence
    for number in UInt16(0)..<50 {
      deliver(packet(ssrc: 7, number: 500 + number), to: pair)
      pair.run(for: .milliseconds(20))
      if number == 25 { pair.b.loudest = .silence }
    }
    #expect(pair.b.loudest == AudioLevel(20))
    #expect(pair.b.sources("inbound-rtp") == [7, first])
    // What the first one has counted stays with it, and the second begins from nothing.
    let entries = pair.b.session.statistics(at: pair.now).entries.filter { $0.type == "inbound-rtp" }
    #expect(entries[0]["packetsReceived"] == .integer(50))
    guard case .integer(let played)? = entries[0]["totalSamplesReceived"],
      case .integer(let before)? = entries[1]["totalSamplesReceived"],
      case .real(let duration)? = entries[0]["totalSamplesDuration"]
    else {
      Issue.record("no playout")
      return
    }
    #expect((44_000...48_000).contains(played) && (70_000...97_000).contains(before))
    #expect(abs(duration - Double(played) / 48_000) < 0.001)
    #expect(entries[0]["packetsDiscarded"] == .integer(0))
  }

  /// A packet with one byte of MID, such as "0", in a one-byte header extension.
  private func packet(ssrc: UInt32, number: UInt16, mid: Character, in pair: SessionPair) throws -> [UInt8] {
    let negotiated = pair.b.session.media.midExtensionID
    let id = try #require(negotiated)
    let name = try #require(mid.asciiValue)
    var bytes = packet(ssrc: ssrc, number: number)
    bytes[0] |= 0x10
    bytes.insert(contentsOf: [0xBE, 0xDE, 0, 1, id << 4, name, 0, 0], at: 12)
    return bytes
  }

  @Test func `more sources than a report has room for take turns in it`() throws {
    let pair = try unprotectedCall(tracks: 10)
    let start = pair.now
    for round in UInt16(0)..<10 {
      for index in UInt32(0)..<30 {
        let mid = Character(Unicode.Scalar(UInt8(48 + index / 3)))
        deliver(try packet(ssrc: 1_000 + index, number: round, mid: mid, in: pair), to: pair)
      }
      pair.run(for: .seconds(4))
    }
    var reported: Set<UInt32> = []
    for datagram in pair.sent where !datagram.fromA && datagram.time > start && datagram.isMedia && !datagram.isRTP {
      var reader = RTCPReader()
      while let packet = reader.next(in: datagram.bytes.span.bytes) {
        guard case .senderReport(let report) = packet else { continue }
        #expect(report.blocks.count <= 31 && datagram.bytes.count <= 1_200)
        reported.formUnion(report.blocks.map(\.ssrc))
      }
    }
    let heard = pair.b.sources("inbound-rtp")
    #expect(heard.count == 40)
    #expect(reported.isSuperset(of: heard))
  }

  @Test(arguments: [(PacketDuration.ms20, 2), (.ms120, 1), (.ms120, 2)])
  func `what the far side codes in stereo or in long packets is heard`(duration: PacketDuration, channels: Int) throws {
    let pair = SessionPair {
      $0.protection = .none
      $0.media = .real
    }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    try pair.a.session.removeTrack(pair.a.microphone)
    var settings = OpusEncoder.Settings()
    settings.channels = channels
    settings.packetDuration = duration
    settings.bitrate = .kilobitsPerSecond(40)
    let encoder = try OpusEncoder(settings: settings)
    let count = duration.samplesPerChannel
    for number in 0..<(48_000 / count) {
      var header = packet(ssrc: 7, number: UInt16(number)).prefix(12)
      header.replaceSubrange(4..<8, with: UInt32(number * count).bytes)
      let samples = (0..<count * channels).map { index -> Int16 in
        let time = Double(number * count + index / channels) / 48_000
        return Int16(8_000 * sin(2 * Double.pi * 440 * time))
      }
      let payload = try [UInt8](unsafeUninitializedCapacity: 1_400) { buffer, used in
        var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
        _ = try encoder.encode(samples.span, into: &output)
        used = output.finalize(for: buffer)
      }
      deliver(Array(header) + payload, to: pair)
      pair.run(for: duration.interval)
      if number == 4 { pair.b.heard = [] }
    }
    #expect(Spectrum(samples: pair.b.heard).amplitude(of: 440) > 5_000)
    let playout = pair.b.session.statistics(at: pair.now).first("inbound-rtp")
    #expect(playout?["ssrc"] == .integer(7) && playout?["concealedSamples"] == .integer(0))
  }

  @Test func `a source that its section's name moves to another takes its counts along`() throws {
    let pair = try unprotectedCall(tracks: 2)
    deliver(try packet(ssrc: 7, number: 1, mid: "0", in: pair), to: pair)
    deliver(try packet(ssrc: 7, number: 2, mid: "1", in: pair), to: pair)
    let entries = pair.b.session.statistics(at: pair.now).entries
    #expect(Set(entries.map(\.id)).count == entries.count)
    let moved = entries.filter { $0["ssrc"] == .integer(7) && $0.type == "inbound-rtp" }
    #expect(moved.count == 1 && moved[0]["mid"] == .text("1") && moved[0]["packetsReceived"] == .integer(2))
  }

  @Test func `late packets of the source before do not take the playout back`() throws {
    let pair = try unprotectedCall(tracks: 1)
    pair.a.session.setAudioEnabled(false)
    deliver(packet(ssrc: 7, number: 1), to: pair)
    pair.run(for: .milliseconds(100))
    #expect(pair.b.sources("inbound-rtp").first == 7)
    // The new one has been silent for long: the earlier one, which never stopped, plays again.
    pair.run(for: .seconds(1))
    #expect(pair.b.sources("inbound-rtp").first != 7)
  }

  @Test func `a source that goes on after its goodbye is heard and reported on again`() throws {
    let pair = try unprotectedCall(tracks: 1)
    let source = try #require(pair.b.sources("inbound-rtp").first)
    deliver([0x80, 201, 0, 1] + source.bytes + [0x81, 203, 0, 1] + source.bytes, to: pair)
    #expect(pair.b.trackEvents.last == "mute 0")
    pair.run(for: .milliseconds(100))
    #expect(pair.b.trackEvents.last == "unmute 0")
    let now = pair.now
    pair.run(for: .seconds(8))
    let reports = pair.sent.filter { !$0.fromA && $0.time > now && $0.isMedia && $0.bytes[1] == 200 }
    // A sender report with one block, which begins with the source it is about.
    #expect(!reports.isEmpty && reports.allSatisfy { $0.bytes[0] == 0x81 && Array($0.bytes[28..<32]) == source.bytes })
  }

  @Test func `the last packet, overtaken by its source's goodbye, does not unmute the track`() throws {
    let pair = try unprotectedCall(tracks: 1)
    for number in UInt16(1)...5 { deliver(packet(ssrc: 7, number: number), to: pair) }
    deliver([0x80, 201, 0, 1, 0, 0, 0, 7, 0x81, 203, 0, 1, 0, 0, 0, 7], to: pair)
    deliver(packet(ssrc: 7, number: 6), to: pair)
    #expect(pair.b.trackEvents.last == "mute 0")
    for number in UInt16(7)...8 { deliver(packet(ssrc: 7, number: number), to: pair) }
    #expect(pair.b.trackEvents.last == "unmute 0")
  }

  @Test func `sources without end are forgotten, the silent ones first`() throws {
    let pair = try unprotectedCall(tracks: 1)
    for ssrc in UInt32(1)...40 { deliver(packet(ssrc: ssrc, number: 1), to: pair) }
    #expect(pair.b.sources("inbound-rtp").count == 4)
    #expect(pair.b.sources("inbound-rtp").first == 40)
  }

  @Test func `a source nobody named is dropped and counted when its payload type fits two sections`() throws {
    let pair = try unprotectedCall(tracks: 2)
    let before = pair.b.sources("inbound-rtp")
    deliver(packet(ssrc: 7, number: 1), to: pair)
    #expect(pair.discarded == ["rtp-unknown-source"])
    #expect(pair.b.sources("inbound-rtp") == before && before.count == 2)
  }

  @Test func `packets name their section until the far side has reported on them`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(12))
    let named = pair.sent.filter { $0.fromA && $0.isMedia && !(192...223).contains($0.bytes[1]) }
      .map { RTPPacket(parsing: $0.bytes.span.bytes)?.mediaIdentification(id: 1, in: $0.bytes.span.bytes) != nil }
    let first = try #require(named.firstIndex(of: false))
    #expect((25...400).contains(first))
    #expect(named[..<first].allSatisfy { $0 } && !named[first...].contains(true))
  }

  @Test func `streams that play at once are added, and never overflow`() {
    let mixer = AudioMixer()
    let memory = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 4)
    defer { memory.deallocate() }
    var output = OutputSpan<Int16>(buffer: memory, initializedCount: 0)
    mixer.begin()
    let silence = mixer.level(of: output)
    #expect(silence == nil)
    for samples in [[Int16.max, 100, -30_000, 0], [1_000, 200, -30_000, 0]] {
      mixer.add(into: &output) {
        for sample in samples { $0.append(sample) }
        return AudioLevel(10)
      }
    }
    let level = mixer.level(of: output)
    let mixed = (0..<4).map { output.span[$0] }
    #expect(mixed == [.max, 300, .min, 0])
    #expect(level == AudioLevel(linear: (0.5).squareRoot()))
    _ = output.finalize(for: memory)
  }
}

extension FixedWidthInteger {
  fileprivate var bytes: [UInt8] {
    (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> Self($0 * 8)) }
  }
}
