import CallCore
import RTP
import Testing

@testable import CongestionControl

/// Probes and padding.
@Suite struct PacerProbeTests {
  /// A pacer with its own deadlines, and all that leaves it.
  private final class Sender {
    struct Departure {
      let priority: PacketPriority
      let byteCount: Int
      let probe: Int32?
      let at: Instant
    }

    var pacer: Pacer
    private(set) var departures: [Departure] = []
    var now = Instant.zero + .seconds(1)
    /// Whether padding can be made.
    var pads = true
    private(set) var wakes = 0

    init(_ kilobits: Int64) { pacer = Pacer(settings: Pacer.Settings(rate: .kilobitsPerSecond(kilobits))) }

    func enqueue(_ priority: PacketPriority = .video, size: Int, count: Int = 1) {
      for _ in 0..<count {
        _ = pacer.enqueue(priority, at: now) { output in self.write(size, into: &output) }
      }
    }

    private func write(_ size: Int, into output: inout OutputSpan<UInt8>) -> OutgoingPacket? {
      let header = RTPHeader(payloadType: 96, sequenceNumber: 0, timestamp: 0, ssrc: 1)
      _ = header.write(into: &output)
      for _ in 0..<max(1, size - 12) { output.append(0) }
      return OutgoingPacket(header: header, headerSize: 12, captured: now)
    }

    func probe(_ id: Int32, _ kilobits: Int64) {
      pacer.probe(
        ProbeCluster(
          id: id, rate: .kilobitsPerSecond(kilobits), duration: .milliseconds(15), packetCount: 5,
          slot: .milliseconds(2), requested: now))
    }

    func setPadding(_ kilobits: Int64) { pacer.setPaddingRate(.kilobitsPerSecond(kilobits), at: now) }

    /// Runs to a time, with a wake at each deadline.
    func run(milliseconds: Int64) {
      let end = now + .milliseconds(milliseconds)
      drain()
      while let deadline = pacer.deadline, deadline <= end {
        now = max(now, deadline)
        wakes += 1
        drain()
        guard wakes < 10_000 else { return }
      }
      now = end
    }

    func drain() {
      let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
      defer { memory.deallocate() }
      while true {
        pacer.pad(at: now) { self.pads ? self.write(min($0, 1_000), into: &$1) : nil }
        var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
        guard let packet = pacer.next(into: &output, at: now) else { return }
        _ = output.finalize(for: memory)
        departures.append(
          Departure(priority: packet.priority, byteCount: packet.byteCount, probe: packet.probe, at: now))
      }
    }

    func departures(of probe: Int32) -> [Departure] { departures.filter { $0.probe == probe } }

    /// The rate of a probe in kbit/s, from its first packet to its last.
    func rate(of probe: Int32) -> Double {
      let packets = departures(of: probe)
      guard let first = packets.first, let last = packets.last else { return 0 }
      let bytes = packets.dropLast().reduce(0) { $0 + $1.byteCount }
      return Double(bytes * 8) / (last.at - first.at).inMilliseconds
    }
  }

  @Test func `a probe leaves at its rate, whatever the pacing rate, and begins with a small packet`() {
    let sender = Sender(100)
    sender.enqueue(size: 1_000)
    sender.run(milliseconds: 1)
    sender.probe(7, 2_000)
    sender.enqueue(size: 500, count: 20)
    sender.run(milliseconds: 30)
    let packets = sender.departures(of: 7)
    #expect(packets.first?.priority == .padding && (packets.first?.byteCount ?? .max) < 50)
    #expect(packets.count >= 5 && packets.reduce(0) { $0 + $1.byteCount } >= 3_750)
    #expect(abs(sender.rate(of: 7) - 2_000) < 300, "\(sender.rate(of: 7))")
    // What is left waits for the debt of the probe.
    #expect(sender.departures.count < 21)
    #expect(sender.pacer.deadline.map { $0 > sender.now } == true)
  }

  @Test func `padding fills a probe when nothing waits`() {
    let sender = Sender(1_000)
    sender.probe(1, 6_000)
    sender.enqueue(size: 300)
    sender.run(milliseconds: 100)
    let packets = sender.departures(of: 1)
    #expect(packets.filter { $0.priority == .padding }.count >= 5)
    #expect(abs(sender.rate(of: 1) - 6_000) < 900, "\(sender.rate(of: 1))")
    #expect(packets.last.map { $0.at < .zero + .milliseconds(1_025) } == true)
  }

  @Test func `without padding a probe waits for packets, and no timer runs`() {
    let sender = Sender(1_000)
    sender.pads = false
    sender.probe(1, 900)
    sender.run(milliseconds: 100)
    #expect(sender.departures.isEmpty && sender.pacer.deadline == nil)
    sender.enqueue(size: 199)
    sender.run(milliseconds: 100)
    #expect(sender.departures.map(\.probe) == [nil])
    sender.enqueue(size: 200, count: 10)
    sender.run(milliseconds: 100)
    #expect(sender.departures(of: 1).count >= 9 && sender.wakes < 40)
  }

  @Test func `a slot that is more than 10 ms late ends the probe`() {
    for (late, expected) in [(9, true), (30, false)] as [(Int64, Bool)] {
      let sender = Sender(10_000)
      sender.pads = false
      sender.probe(1, 900)
      sender.enqueue(size: 225)
      sender.drain()
      sender.now += .milliseconds(2 + late)
      sender.enqueue(size: 225)
      sender.drain()
      #expect((sender.departures.last?.probe == 1) == expected && sender.departures.count == 2)
    }
  }

  @Test func `five probes wait at most, and five seconds at most`() {
    let sender = Sender(1_000)
    for id in 1...7 as ClosedRange<Int32> { sender.probe(id, 5_000) }
    sender.enqueue(size: 1_000)
    sender.run(milliseconds: 500)
    #expect((1...7).filter { !sender.departures(of: $0).isEmpty } == [3, 4, 5, 6, 7])
    let other = Sender(1_000)
    other.probe(1, 5_000)
    other.now += .seconds(6)
    other.probe(2, 5_000)
    other.enqueue(size: 1_000)
    other.run(milliseconds: 500)
    #expect(other.departures(of: 1).isEmpty && !other.departures(of: 2).isEmpty)
  }

  @Test func `audio leaves at once during a probe, and is part of it`() {
    let sender = Sender(100)
    sender.enqueue(size: 100)
    sender.drain()
    sender.probe(1, 900)
    sender.enqueue(size: 1_100, count: 4)
    sender.drain()
    let before = sender.departures.count
    sender.enqueue(.audio, size: 100)
    sender.drain()
    #expect(sender.departures.count == before + 1)
    #expect(sender.departures.last?.priority == .audio && sender.departures.last?.probe == 1)
  }

  @Test func `padding fills what media leaves of its rate, and only then`() {
    let sender = Sender(1_000)
    sender.setPadding(200)
    sender.run(milliseconds: 1_000)
    // It must follow media.
    #expect(sender.departures.isEmpty)
    for _ in 0..<10 {
      sender.enqueue(size: 1_000)
      sender.run(milliseconds: 100)
    }
    let bytes = sender.departures.reduce(0) { $0 + $1.byteCount }
    #expect(abs(bytes - 25_000) < 1_500, "\(bytes)")
    #expect(sender.departures.contains { $0.priority == .padding })
    let busy = Sender(1_000)
    busy.setPadding(200)
    for _ in 0..<10 {
      busy.enqueue(size: 1_000, count: 3)
      busy.run(milliseconds: 100)
    }
    #expect(!busy.departures.contains { $0.priority == .padding })
  }

  @Test func `padding that is due where nothing can be sent costs no timers`() {
    let sender = Sender(1_000)
    sender.setPadding(200)
    sender.enqueue(size: 500)
    sender.run(milliseconds: 100)
    #expect(sender.pacer.deadline != nil)
    sender.pacer.removeAll { _ in }
    #expect(sender.pacer.deadline == nil)
    sender.enqueue(size: 500)
    sender.run(milliseconds: 100)
    #expect(sender.pacer.deadline != nil)
  }

  @Test func `padding that cannot be made costs no timers`() {
    let sender = Sender(1_000)
    sender.pads = false
    sender.setPadding(200)
    sender.enqueue(size: 500)
    sender.run(milliseconds: 10_000)
    #expect(sender.departures.count == 1 && sender.wakes < 5)
  }
}
