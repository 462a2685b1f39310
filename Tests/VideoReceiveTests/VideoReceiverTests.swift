import CallCore
import RTP
import Testing

@testable import VideoReceive

@Suite struct VideoReceiverTests {
  static let formats: [VideoFormat] = [.vp8, .vp9, .h264, .av1, .generic]

  static func receiver(_ format: VideoFormat, _ change: (inout VideoReceiver.Settings) -> Void = { _ in })
    -> VideoReceiver
  {
    var settings = VideoReceiver.Settings(codecs: [.init(payloadType: 96, format: format)])
    change(&settings)
    return VideoReceiver(settings: settings, at: .zero)
  }

  /// What a call brought.
  struct Outcome {
    var pictures: [(data: [UInt8], taken: Instant, renderTime: Instant)] = []
    var nacked: [UInt16] = []
    var keyFrameRequests: [(at: Instant, reason: KeyFrameRequester.Reason)] = []
    var waits = 0
  }

  /// A call over a link with loss and delay: lost packets come again a round trip after they are requested, and a
  /// requested key frame with the next frame.
  static func call(
    _ receiver: inout VideoReceiver, _ source: inout MediaSource, frames: Int, loss: Double, jitter: Int64 = 0,
    repairs: Bool = true, seed: UInt64 = 1
  ) -> Outcome {
    var random = RandomSource(seed: seed).stream("link")
    var outcome = Outcome()
    var events: [(at: Instant, order: Int, packet: Packet, isRetransmission: Bool)] = []
    var sent: [UInt16: Packet] = [:]
    var (order, sorted, sentFrames, wantsKey) = (0, 0, 0, true)
    var now = Instant.zero
    let end = Instant.zero + .milliseconds(Int64(frames) * 33 + 2_000)
    while now < end {
      if sentFrames < frames, now >= .milliseconds(Int64(sentFrames) * 33) {
        for packet in source.next(isKeyFrame: wantsKey) {
          sent[packet.number] = packet
          guard !random.chance(loss) else { continue }
          let delay = 50 + (jitter > 0 ? random.uniform(in: 0...jitter) : 0)
          order += 1
          events.append((now + .milliseconds(delay), order, packet, false))
        }
        (sentFrames, wantsKey) = (sentFrames + 1, false)
      }
      if order != sorted { events.sort { ($0.at, $0.order) < ($1.at, $1.order) } }
      sorted = order
      while let event = events.first, event.at <= now {
        events.removeFirst()
        receiver.receive(event.packet, isRetransmission: event.isRetransmission, at: now)
        drain(&receiver, &outcome, at: now)
      }
      receiver.advance(to: now)
      drain(&receiver, &outcome, at: now)
      for number in outcome.nacked.suffix(from: outcome.waits) where repairs && !random.chance(loss) {
        guard let packet = sent[number] else { continue }
        order += 1
        events.append((now + .milliseconds(100), order, packet, true))
      }
      outcome.waits = outcome.nacked.count
      if let request = outcome.keyFrameRequests.last, request.at == now { wantsKey = true }
      now += .milliseconds(1)
    }
    return outcome
  }

  static func drain(_ receiver: inout VideoReceiver, _ outcome: inout Outcome, at now: Instant) {
    while let picture = receiver.takePicture(at: now) {
      for frame in picture.frames { outcome.pictures.append((frame.data, now, picture.renderTime)) }
    }
    while let numbers = receiver.takeNACK(at: now) {
      #expect(numbers.count <= 253)
      outcome.nacked += numbers
    }
    if let reason = receiver.takeKeyFrameRequest(at: now) { outcome.keyFrameRequests.append((now, reason)) }
  }

  @Test(arguments: formats) func `without loss every frame is decoded once, in order and evenly`(format: VideoFormat) {
    var receiver = Self.receiver(format)
    var source = MediaSource(format)
    let outcome = Self.call(&receiver, &source, frames: 150, loss: 0)
    #expect(outcome.pictures.map(\.data) == source.frames)
    #expect(outcome.nacked.isEmpty)
    #expect(outcome.keyFrameRequests.isEmpty)
    #expect(receiver.statistics.framesReceived == 150)
    #expect(receiver.statistics.framesDropped == 0)
    let late = outcome.pictures.filter { $0.taken > $0.renderTime }
    #expect(late.isEmpty)
    let gaps = zip(outcome.pictures.dropFirst(60), outcome.pictures.dropFirst(61)).map { $1.renderTime - $0.renderTime }
    #expect(gaps.allSatisfy { $0 > .milliseconds(28) && $0 < .milliseconds(38) })
  }

  @Test(arguments: formats) func `lost packets are requested, and every frame is decoded`(format: VideoFormat) {
    var receiver = Self.receiver(format)
    receiver.setRoundTrip(.milliseconds(100))
    var source = MediaSource(format, seed: 2)
    let outcome = Self.call(&receiver, &source, frames: 200, loss: 0.03)
    #expect(!outcome.nacked.isEmpty)
    let decoded = outcome.pictures.map(\.data)
    #expect(Set(decoded).isSubset(of: Set(source.frames)))
    #expect(Set(decoded).count == decoded.count)
    // The last frames may still be on their way.
    #expect(decoded.count >= 195)
    #expect(receiver.nack?.abandonedCount == 0)
  }

  @Test(arguments: formats) func `without repair a key frame is asked for, and video goes on`(format: VideoFormat) {
    var receiver = Self.receiver(format) { $0.nack = nil }
    receiver.setRoundTrip(.milliseconds(100))
    var source = MediaSource(format, seed: 3)
    let outcome = Self.call(&receiver, &source, frames: 600, loss: 0.004, repairs: false)
    #expect(outcome.nacked.isEmpty)
    #expect(outcome.keyFrameRequests.contains { $0.reason == .timeout })
    // Nothing after a gap is decoded before a key frame.
    let decoded = outcome.pictures.compactMap { picture in source.frames.firstIndex(of: picture.data) }
    #expect(decoded.count == outcome.pictures.count)
    #expect(decoded == decoded.sorted())
    #expect((decoded.last ?? 0) > 500)
    for (a, b) in zip(outcome.keyFrameRequests, outcome.keyFrameRequests.dropFirst()) {
      #expect(b.at - a.at >= .milliseconds(100))
    }
  }

  @Test func `jitter is absorbed by delay`() {
    var receiver = Self.receiver(.vp8) { $0.nack = nil }
    var source = MediaSource(.vp8, seed: 4)
    source.payloadSize = 1_200...1_200
    let outcome = Self.call(&receiver, &source, frames: 600, loss: 0, jitter: 60, repairs: false)
    let settled = outcome.pictures.dropFirst(200)
    let gaps = zip(settled, settled.dropFirst()).map { $1.renderTime - $0.renderTime }
    let uneven = gaps.filter { $0 > .milliseconds(60) || $0 < .milliseconds(10) }
    #expect(settled.count >= 395)
    #expect(Double(uneven.count) / Double(max(1, gaps.count)) < 0.05)
  }

  @Test func `a stream that begins with a delta frame asks for a key frame at once`() {
    var receiver = Self.receiver(.vp8)
    var source = MediaSource(.vp8)
    for packet in source.next(isKeyFrame: false) { receiver.receive(packet, at: .milliseconds(5)) }
    let reason = receiver.takeKeyFrameRequest(at: .milliseconds(5))
    #expect(reason == .firstFrameIsDelta)
    let picture = receiver.takePicture(at: .milliseconds(5))
    #expect(picture == nil)
  }

  @Test func `while a key frame is missing it is asked for every 200 ms, and not of a silent sender`() {
    var receiver = Self.receiver(.vp8)
    var source = MediaSource(.vp8)
    for packet in source.next(isKeyFrame: false) { receiver.receive(packet, at: .zero) }
    var times: [Int64] = []
    for time: Int64 in 0..<20_000 {
      receiver.advance(to: .milliseconds(time))
      if receiver.takeKeyFrameRequest(at: .milliseconds(time)) != nil { times.append(time) }
    }
    #expect(times == stride(from: 0, to: 5_000, by: 200).map { $0 })
    #expect(receiver.deadline == nil)
    // The time without pictures is a pause, and no freeze.
    receiver.pictureRendered(at: .milliseconds(20_000))
    #expect(receiver.freezes.freezeCount == 0)
  }

  @Test func `no key frame is asked for while one arrives`() {
    var receiver = Self.receiver(.vp8)
    var source = MediaSource(.vp8)
    source.payloadSize = 100...100
    for packet in source.next(isKeyFrame: false, size: 50) { receiver.receive(packet, at: .zero) }
    let key = source.next(isKeyFrame: true, size: 500)
    var times: [Int64] = []
    for time: Int64 in 0...600 {
      if time == 150 { receiver.receive(key[0], at: .milliseconds(time)) }
      receiver.advance(to: .milliseconds(time))
      if receiver.takeKeyFrameRequest(at: .milliseconds(time)) != nil { times.append(time) }
    }
    #expect(times == [0, 400, 600])
  }

  @Test func `packets before a key frame are requested no more`() {
    var receiver = Self.receiver(.generic)
    var source = MediaSource(.generic)
    for packet in source.next(isKeyFrame: true, size: 20) { receiver.receive(packet, at: .zero) }
    let lost = source.next(isKeyFrame: false, size: 3_000)
    for packet in source.next(isKeyFrame: false, size: 20) { receiver.receive(packet, at: .zero) }
    #expect(receiver.nack?.missingCount == lost.count)
    for packet in source.next(isKeyFrame: true, size: 20) { receiver.receive(packet, at: .zero) }
    #expect(receiver.nack?.missingCount == 0)
  }

  @Test func `a repaired frame does not move the clock`() {
    var receiver = Self.receiver(.generic)
    var source = MediaSource(.generic)
    for index: Int64 in 0..<40 {
      for packet in source.next(isKeyFrame: index == 0, size: 50) {
        receiver.receive(packet, at: .milliseconds(index * 100 / 3))
      }
    }
    let before = receiver.timing.renderTime(of: source.timestamp &+ 9_000, at: .zero)
    for packet in source.next(isKeyFrame: false, size: 50) {
      receiver.receive(packet, isRetransmission: true, at: .milliseconds(2_000))
    }
    let repaired = receiver.timing.renderTime(of: source.timestamp &+ 6_000, at: .zero)
    #expect(repaired == before)
    for packet in source.next(isKeyFrame: false, size: 50) { receiver.receive(packet, at: .milliseconds(2_000)) }
    #expect(receiver.timing.renderTime(of: source.timestamp &+ 3_000, at: .zero) != before)
  }

  @Test func `a sender that stops and goes on has paused, not frozen`() {
    var receiver = Self.receiver(.generic)
    var source = MediaSource(.generic)
    var outcome = Outcome()
    func play(_ index: Int, at milliseconds: Int64) {
      for packet in source.next(isKeyFrame: index == 0, size: 50) {
        receiver.receive(packet, at: .milliseconds(milliseconds))
      }
      Self.drain(&receiver, &outcome, at: .milliseconds(milliseconds + 30))
      receiver.pictureRendered(at: .milliseconds(milliseconds + 30))
    }
    for index in 0..<40 { play(index, at: Int64(index) * 33) }
    for time: Int64 in 1_320..<9_000 { receiver.advance(to: .milliseconds(time)) }
    play(40, at: 9_000)
    #expect(receiver.freezes.pauseCount == 1)
    #expect(receiver.freezes.freezeCount == 0)
    // Packets that go on without a picture are a freeze.
    play(41, at: 9_033)
    play(42, at: 9_500)
    #expect(receiver.freezes.freezeCount == 1)
  }

  @Test func `a decoder that fails is given nothing but a key frame`() {
    var receiver = Self.receiver(.generic)
    var source = MediaSource(.generic)
    var outcome = Outcome()
    for packet in source.next(isKeyFrame: true, size: 50) { receiver.receive(packet, at: .zero) }
    Self.drain(&receiver, &outcome, at: .zero)
    #expect(outcome.pictures.count == 1)
    receiver.decodingFailed(at: .milliseconds(1))
    receiver.decodingFailed(at: .milliseconds(2))
    #expect(receiver.keyFrames.neededCount == 1)
    for index: Int64 in 1...3 {
      for packet in source.next(isKeyFrame: index == 3, size: 50) {
        receiver.receive(packet, at: .milliseconds(33 * index))
      }
      Self.drain(&receiver, &outcome, at: .milliseconds(33 * index))
    }
    #expect(outcome.pictures.map(\.data) == [source.frames[0], source.frames[3]])
    #expect(outcome.keyFrameRequests.map(\.reason) == [.decodeError])
  }

  @Test func `an H_264 key frame without parameter sets is refused until they are known`() {
    var receiver = Self.receiver(.h264)
    let slice: [UInt8] = [0x65, 0x88, 0x84, 7]
    func packet(_ number: UInt16, _ payload: [UInt8]) -> Packet {
      let header = RTPHeader(
        payloadType: 96, marker: true, sequenceNumber: number, timestamp: UInt32(number) * 3_000, ssrc: 1)
      return Packet(bytes: written { _ = header.write(into: &$0) } + payload, frame: 0, number: number)
    }
    // A packet before it shows where the frame begins.
    receiver.receive(packet(9, [0x61, 0x88, 1]), at: .zero)
    receiver.receive(packet(10, slice), at: .zero)
    #expect(receiver.statistics.undecodableFrameCount == 1)
    let none = receiver.takePicture(at: .zero)
    #expect(none == nil)
    // A picture parameter set of another sequence parameter set does not help.
    let foreign: [UInt8] = [0x68, 0xA8]
    for set in [MediaSource.sequenceSet, foreign] { receiver.insertParameterSet(set.span.bytes) }
    receiver.receive(packet(11, slice), at: .zero)
    #expect(receiver.statistics.undecodableFrameCount == 2)
    for set in [MediaSource.sequenceSet, MediaSource.pictureSet] { receiver.insertParameterSet(set.span.bytes) }
    receiver.receive(packet(12, slice), at: .zero)
    let picture = receiver.takePicture(at: .zero)
    #expect(picture?.frames.first?.width == 640)
  }

  @Test func `more missing packets than can be requested need a key frame`() {
    var receiver = Self.receiver(.generic)
    var source = MediaSource(.generic)
    for packet in source.next(isKeyFrame: true, size: 50) { receiver.receive(packet, at: .zero) }
    source.number &+= 1_200
    for packet in source.next(isKeyFrame: false, size: 50) { receiver.receive(packet, at: .zero) }
    let reason = receiver.takeKeyFrameRequest(at: .zero)
    #expect(reason == .nackOverflow)
    let numbers = receiver.takeNACK(at: .zero)
    #expect(numbers == nil)
  }

  @Test func `a descriptor without its structure asks for a key frame, and then tells references`() {
    let structure = FrameDependencyStructure(
      decodeTargetCount: 1,
      templates: [
        FrameDependencies(decodeTargets: [.switchPoint]),
        FrameDependencies(decodeTargets: [.switchPoint], frameDistances: [1]),
      ], resolutions: [.init(width: 320, height: 180)])
    func packet(_ number: UInt16, isKeyFrame: Bool) -> Packet {
      let descriptor = DependencyDescriptor(
        isFirstPacket: true, isLastPacket: true, frameNumber: number,
        dependencies: structure.templates[isKeyFrame ? 0 : 1], structure: isKeyFrame ? structure : nil)
      var extensions = RTPHeaderExtensions()
      if let bytes = descriptor.encoded(structure: structure) { extensions.append(id: 5, bytes: bytes.span.bytes) }
      let header = RTPHeader(
        payloadType: 96, marker: true, sequenceNumber: number, timestamp: UInt32(number) * 3_000, ssrc: 1)
      let bytes = written { _ = header.write(into: &$0, extensions: extensions) }
      return Packet(
        bytes: bytes + [isKeyFrame ? 0x18 : 0x10, 0x30, UInt8(truncatingIfNeeded: number)], frame: 0, number: number)
    }
    var receiver = Self.receiver(.av1) { $0.dependencyDescriptorID = 5 }
    let verdict = receiver.receive(packet(1, isKeyFrame: false), at: .zero)
    #expect(verdict == .missingStructure)
    let reason = receiver.takeKeyFrameRequest(at: .zero)
    #expect(reason == .missingStructure)
    receiver.receive(packet(2, isKeyFrame: true), at: .milliseconds(33))
    let key = receiver.takePicture(at: .milliseconds(33))
    #expect(key?.frames.first?.width == 320)
    receiver.receive(packet(3, isKeyFrame: false), at: .milliseconds(66))
    let delta = receiver.takePicture(at: .milliseconds(500))
    #expect(delta?.frames.first?.references.ids == [2])
  }

  @Test func `a picture more than 5 ms late is passed over when a later one can be decoded`() {
    var receiver = Self.receiver(.generic)
    var source = MediaSource(.generic)
    var outcome = Outcome()
    for index: Int64 in 0..<30 {
      for packet in source.next(isKeyFrame: index == 0, size: 50) {
        receiver.receive(packet, at: .milliseconds(index * 100 / 3))
      }
      Self.drain(&receiver, &outcome, at: .milliseconds(index * 100 / 3 + 25))
    }
    // Repaired frames, which come late, say nothing of the path's delay.
    let packets = [source.next(isKeyFrame: true, size: 50), source.next(isKeyFrame: true, size: 50)].reversed()
    for packet in packets.joined() { receiver.receive(packet, isRetransmission: true, at: .milliseconds(1_400)) }
    Self.drain(&receiver, &outcome, at: .milliseconds(1_400))
    #expect(outcome.pictures.last?.data == source.frames[31])
    #expect(outcome.pictures.count == 31)
  }

  @Test func `a source that goes on at other numbers is received after a restart`() {
    var receiver = Self.receiver(.vp8)
    var source = MediaSource(.vp8, number: 40_000)
    var outcome = Outcome()
    for packet in source.next(isKeyFrame: true, size: 50) { receiver.receive(packet, at: .zero) }
    Self.drain(&receiver, &outcome, at: .zero)
    source.number = 10_000
    receiver.restart()
    for packet in source.next(isKeyFrame: true, size: 50) { receiver.receive(packet, at: .milliseconds(33)) }
    Self.drain(&receiver, &outcome, at: .milliseconds(200))
    #expect(outcome.pictures.count == 2)
  }

  @Test func `a packet from before a change of codec that is repaired after it disturbs nothing`() {
    var receiver = Self.receiver(.vp8) { $0.codecs.append(.init(payloadType: 97, format: .vp9)) }
    var old = MediaSource(.vp8, number: 100)
    var new = MediaSource(.vp9)
    new.payloadType = 97
    var outcome = Outcome()
    for packet in old.next(isKeyFrame: true, size: 50) { receiver.receive(packet, at: .zero) }
    let lost = old.next(isKeyFrame: false, size: 50)
    (new.number, new.timestamp) = (old.number, old.timestamp)
    for packet in new.next(isKeyFrame: true, size: 50) { receiver.receive(packet, at: .milliseconds(66)) }
    for packet in lost {
      #expect(receiver.receive(packet, isRetransmission: true, at: .milliseconds(80)) == .old)
    }
    for packet in new.next(isKeyFrame: false, size: 50) { receiver.receive(packet, at: .milliseconds(99)) }
    for time in 0...40 { Self.drain(&receiver, &outcome, at: .milliseconds(Int64(time) * 10)) }
    #expect(outcome.pictures.map(\.data) == [old.frames[0]] + new.frames)
    #expect(receiver.statistics.framesReceived == 3)
  }

  @Test func `packets of unknown types and damaged ones are counted and change nothing`() {
    var receiver = Self.receiver(.vp8)
    let header = RTPHeader(payloadType: 97, sequenceNumber: 1, timestamp: 1, ssrc: 1)
    let unknown = receiver.receive(
      Packet(bytes: written { _ = header.write(into: &$0) } + [0x10, 1], frame: 0, number: 1), at: .zero)
    #expect(unknown == .unknownPayloadType)
    var known = header
    known.payloadType = 96
    let damaged = receiver.receive(
      Packet(bytes: written { _ = known.write(into: &$0) } + [0x90, 0x80], frame: 0, number: 1), at: .zero)
    #expect(damaged == .malformed)
    #expect(receiver.statistics.malformedPacketCount == 1 && receiver.statistics.unknownPayloadTypeCount == 1)
  }

  @Test func `no sequence of damaged packets and times traps`() {
    for seed: UInt64 in 1...10 {
      let format = Self.formats[Int(seed) % 5]
      var random = RandomSource(seed: seed).stream("noise")
      var source = MediaSource(format, seed: seed)
      var receiver = Self.receiver(format) { $0.dependencyDescriptorID = 3 }
      var outcome = Outcome()
      var now = Instant.zero
      for index in 0..<120 {
        for var packet in source.next(isKeyFrame: index % 9 == 0, size: 200) {
          for _ in 0..<(random.chance(0.4) ? 2 : 0) {
            packet.bytes[Int(random.uniform(below: UInt64(packet.bytes.count)))] = UInt8(random.next() >> 56)
          }
          receiver.receive(packet, isRetransmission: random.chance(0.1), at: now)
        }
        if random.chance(0.1) { receiver.decodingFailed(at: now) }
        if random.chance(0.1) { receiver.pictureDecoded(in: .milliseconds(random.uniform(in: -5...900)), at: now) }
        if random.chance(0.02) { receiver.restart() }
        receiver.advance(to: now)
        Self.drain(&receiver, &outcome, at: now)
        now += .milliseconds(random.chance(0.02) ? 15_000 : random.uniform(in: 0...60))
      }
      #expect(receiver.statistics.framesReceived > 0)
    }
  }
}
