package import CallCore
package import Codecs
package import JitterBuffer
package import RTP

/// A packet on its way, with the instant it arrives.
package struct Arrival {
  package var at: Instant
  package var header: RTPHeader
  package var payload: [UInt8]

  package init(at: Instant, header: RTPHeader, payload: [UInt8]) {
    self.at = at
    self.header = header
    self.payload = payload
  }
}

/// A jitter buffer with a device that pulls it at its own rate.
package final class Playback {
  private var buffer: AudioJitterBuffer
  private let pullInterval: Double
  private let pullSamples: Int
  private var pulls = 0
  private let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 5_760 * 2)
  /// Every pull's result, unless `keepsFrames` is off.
  package private(set) var frames: [PlayoutFrame] = []
  package private(set) var samples: [Int16] = []
  package var keepsFrames = true
  package var keepsSamples = false

  /// - Parameter drift: how much faster than the sender's the device's clock runs, in parts per million.
  package init(
    decoder: AudioDecoder = .synthetic(SyntheticAudioDecoder()), settings: AudioJitterBuffer.Settings = .init(),
    drift: Double = 0, pullSamples: Int = 480
  ) {
    buffer = AudioJitterBuffer(decoder: decoder, settings: settings)
    pullInterval = Double(pullSamples) / 48_000 * 1e9 / (1 + drift / 1e6)
    self.pullSamples = pullSamples
  }

  deinit { room.deallocate() }

  package var statistics: AudioJitterBufferStatistics { buffer.statistics }
  package var targetDelay: Interval { buffer.targetDelay }
  package var currentDelay: Interval { buffer.currentDelay }
  package var packetCount: Int { buffer.packetCount }
  package var playedTimestamp: UInt32? { buffer.playedTimestamp }
  package var now: Instant { Instant(nanoseconds: 5_000_000 + Int64(Double(pulls) * pullInterval)) }

  package func insert(_ arrival: Arrival) {
    buffer.insert(arrival.header, payload: arrival.payload.span.bytes, at: arrival.at)
  }

  /// Pulls up to `end`, with the packets arriving in between; they must be in order of arrival.
  package func run(_ arrivals: some Sequence<Arrival>, until end: Instant) {
    for arrival in arrivals {
      pull(until: arrival.at)
      insert(arrival)
    }
    pull(until: end)
  }

  private func pull(until end: Instant) {
    while now < end {
      var output = OutputSpan<Int16>(buffer: room, initializedCount: 0)
      let frame = buffer.pull(samples: pullSamples, into: &output, at: now)
      let count = output.finalize(for: room)
      if keepsFrames { frames.append(frame) }
      if keepsSamples { samples.append(contentsOf: room[..<count]) }
      pulls += 1
    }
  }
}

/// A sender of synthetic packets of constant loudness.
package struct Talker {
  package var settings = SyntheticAudioEncoder.Settings()
  package var ssrc: UInt32 = 1
  package var sequence: UInt16 = 65_500
  package var timestamp = UInt32.max - 100_000
  package let level = AudioLevel(20)

  package init(_ duration: PacketDuration = .ms20, redundancy: Bool = false) {
    settings.packetDuration = duration
    settings.usesInBandFEC = redundancy
    settings.bitrate = .kilobitsPerSecond(8)
  }

  /// The next packet, sent at `at`.
  package mutating func packet(at: Instant, level: AudioLevel? = nil, encoder: SyntheticAudioEncoder) -> Arrival {
    let payload = [UInt8](unsafeUninitializedCapacity: 4_000) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      _ = try? encoder.encode(level ?? self.level, into: &output)
      count = output.finalize(for: buffer)
    }
    defer {
      sequence &+= 1
      timestamp &+= UInt32(settings.packetDuration.samplesPerChannel)
    }
    return Arrival(
      at: at, header: RTPHeader(payloadType: 111, sequenceNumber: sequence, timestamp: timestamp, ssrc: ssrc),
      payload: payload)
  }

  /// An even stream, one packet a packet duration from `start` on.
  package mutating func stream(_ count: Int, from start: Instant = .zero) -> [Arrival] {
    let encoder = SyntheticAudioEncoder(settings: settings)
    return (0..<count).map { index in
      packet(at: start + settings.packetDuration.interval * Int64(index), encoder: encoder)
    }
  }
}

extension Instant {
  package static func milliseconds(_ count: Int64) -> Instant { .zero + .milliseconds(count) }
  package static func seconds(_ count: Int64) -> Instant { .zero + .seconds(count) }
}

extension [Arrival] {
  /// Every packet delayed by what `delay` says of its index, in order of arrival.
  package func delayed(_ delay: (Int) -> Interval) -> [Arrival] {
    var result = self
    for index in indices { result[index].at += delay(index) }
    // Arrivals at the same instant keep their order.
    let order = result.indices.sorted { (result[$0].at, $0) < (result[$1].at, $1) }
    return order.map { result[$0] }
  }

  package func without(_ isLost: (Int) -> Bool) -> [Arrival] { indices.filter { !isLost($0) }.map { self[$0] } }
}

// Expectations cannot hold spans: this takes the bytes themselves.
extension OpusPacket {
  package init?(bytes: [UInt8]) { self.init(parsing: bytes.span.bytes) }
}
