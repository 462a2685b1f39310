import CallCore
import Testing

@testable import PeerSession
@testable import SDP

@Suite struct EncodingChoiceTests {
  private typealias Point = EncodingChoice.Point

  private static let codec = NegotiatedCodec(
    name: "VP8", clockRate: 90_000, channels: 1, payloadType: 96, retransmissionPayloadType: nil,
    parameters: FormatParameters(), feedback: [])

  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  private func packet(_ point: Point, _ kilobits: Int64?) -> ForwardedPacket {
    ForwardedPacket(
      transceiver: Transceiver.ID(number: 0), ssrc: 1, stream: point.encoding, number: 0, timestamp: 0, marker: true,
      codec: Self.codec, encoding: point.encoding, layer: ForwardedLayer(index: point.layer, isSwitchPoint: true),
      rate: kilobits.map { .kilobitsPerSecond($0) }, isEntry: false, picture: nil, payload: [0])
  }

  /// Notes a packet of each encoding of 100, 500 and 2000 kbit/s, or of the layers of the first if it has any.
  private func note(_ choice: inout EncodingChoice, layers: [Int64] = [], at milliseconds: Int64) {
    let encodings: [(Point, Int64)] = [100, 500, 2_000].enumerated().map { (Point(encoding: $0, layer: 0), $1) }
    let own = layers.enumerated().map { (Point(encoding: 0, layer: $0), $1) }
    for (point, kilobits) in layers.isEmpty ? encodings : own {
      choice.note(packet(point, kilobits), at: at(milliseconds))
    }
  }

  private func set(_ choice: inout EncodingChoice, _ kilobits: Int64, isDelivered: Bool = false) {
    (choice.share, choice.isDelivered) = (.kilobitsPerSecond(kilobits), isDelivered)
  }

  @Test func `without a share it is the smallest encoding`() {
    var choice = EncodingChoice()
    note(&choice, at: 0)
    #expect(choice.wanted == Point(encoding: 0, layer: 0))
  }

  @Test func `more is chosen with a margin`() {
    var choice = EncodingChoice()
    set(&choice, 599)
    note(&choice, at: 0)
    #expect(choice.wanted == Point(encoding: 0, layer: 0))
    set(&choice, 600)
    note(&choice, at: 100)
    #expect(choice.wanted == Point(encoding: 1, layer: 0))
    // To stay, the rate itself suffices.
    set(&choice, 500)
    note(&choice, at: 200)
    #expect(choice.wanted == Point(encoding: 1, layer: 0))
  }

  /// Notes packets every 100 ms up to a time, and at it.
  private func note(_ choice: inout EncodingChoice, from begin: Int64, through end: Int64) {
    for time in stride(from: begin, to: end, by: 100) { note(&choice, at: time) }
    note(&choice, at: end)
  }

  @Test func `a smaller encoding waits for two seconds`() {
    var choice = EncodingChoice()
    set(&choice, 600)
    note(&choice, at: 0)
    set(&choice, 400)
    note(&choice, from: 100, through: 2_099)
    #expect(choice.wanted == Point(encoding: 1, layer: 0))
    note(&choice, at: 2_100)
    #expect(choice.wanted == Point(encoding: 0, layer: 0))
  }

  @Test func `a smaller encoding waits as long as everything arrives`() {
    var choice = EncodingChoice()
    set(&choice, 600)
    note(&choice, at: 0)
    set(&choice, 400, isDelivered: true)
    note(&choice, from: 100, through: 20_000)
    #expect(choice.wanted == Point(encoding: 1, layer: 0))
  }

  @Test func `a deep fall of the share does not wait, but for a second after a rise`() {
    var choice = EncodingChoice()
    note(&choice, at: 0)
    set(&choice, 600)
    note(&choice, at: 100)
    set(&choice, 150)
    note(&choice, from: 200, through: 1_099)
    #expect(choice.wanted == Point(encoding: 1, layer: 0))
    note(&choice, at: 1_100)
    #expect(choice.wanted == Point(encoding: 0, layer: 0))
  }

  @Test func `after a fall the larger encoding is not tried for a while, each time twice as long`() {
    var choice = EncodingChoice()
    var now: Int64 = 0
    note(&choice, at: now)
    for hold: Int64 in [4_000, 8_000, 16_000, 32_000, 32_000] {
      set(&choice, 600)
      now += 1
      note(&choice, at: now)
      #expect(choice.wanted == Point(encoding: 1, layer: 0))
      set(&choice, 150)
      note(&choice, from: now + 100, through: now + 1_000)
      now += 1_000
      #expect(choice.wanted == Point(encoding: 0, layer: 0))
      set(&choice, 600)
      note(&choice, from: now + 100, through: now + hold - 1)
      now += hold - 1
      #expect(choice.wanted == Point(encoding: 0, layer: 0), "\(hold)")
    }
  }

  @Test func `an encoding whose rate is not known yet is not chosen before one that is`() {
    var choice = EncodingChoice()
    set(&choice, 10_000)
    for encoding in 0..<3 { choice.note(packet(Point(encoding: encoding, layer: 0), nil), at: at(0)) }
    #expect(choice.wanted == Point(encoding: 0, layer: 0) && choice.rates == [] && choice.rate == .zero)
    choice.note(packet(Point(encoding: 1, layer: 0), 500), at: at(100))
    #expect(choice.wanted == Point(encoding: 1, layer: 0))
  }

  @Test func `an encoding of which nothing comes is not there`() {
    var choice = EncodingChoice()
    set(&choice, 10_000)
    note(&choice, at: 0)
    #expect(choice.wanted == Point(encoding: 2, layer: 0))
    note(&choice, layers: [100], at: 1_000)
    #expect(choice.wanted == Point(encoding: 0, layer: 0))
  }

  @Test func `layers of an encoding fall at once, and rise with the margin`() {
    var choice = EncodingChoice()
    set(&choice, 400)
    note(&choice, layers: [100, 200, 300], at: 0)
    #expect(choice.wanted == Point(encoding: 0, layer: 2) && choice.layer(of: 0) == 2)
    set(&choice, 299)
    note(&choice, layers: [100, 200, 300], at: 100)
    #expect(choice.wanted == Point(encoding: 0, layer: 1))
    set(&choice, 350)
    note(&choice, layers: [100, 200, 300], at: 200)
    #expect(choice.wanted == Point(encoding: 0, layer: 1))
    set(&choice, 360)
    note(&choice, layers: [100, 200, 300], at: 300)
    #expect(choice.wanted == Point(encoding: 0, layer: 2))
  }

  @Test func `without a share nothing is sent where that is wished, and the smallest encoding elsewhere`() {
    for pauses in [true, false] {
      var choice = EncodingChoice()
      choice.pauses = pauses
      set(&choice, 0)
      note(&choice, from: 0, through: 1_900)
      #expect(choice.wanted == Point(encoding: 0, layer: 0) && !choice.isPaused)
      note(&choice, at: 2_000)
      #expect(choice.isPaused == pauses && choice.wanted == (pauses ? nil : Point(encoding: 0, layer: 0)))
    }
  }

  @Test func `what has just begun is not paused, because its rate is not known`() {
    var choice = EncodingChoice()
    choice.pauses = true
    set(&choice, 0)
    for time in [0, 1_000, 2_000, 3_000] { choice.note(packet(Point(encoding: 0, layer: 0), nil), at: at(Int64(time))) }
    #expect(!choice.isPaused)
  }

  @Test func `what arrives is not paused, and what is paused does not go on because nothing is sent`() {
    var choice = EncodingChoice()
    choice.pauses = true
    set(&choice, 0, isDelivered: true)
    note(&choice, from: 0, through: 5_000)
    #expect(!choice.isPaused)
    set(&choice, 0)
    note(&choice, from: 5_100, through: 7_100)
    #expect(choice.isPaused)
    set(&choice, 0, isDelivered: true)
    note(&choice, from: 7_200, through: 60_000)
    #expect(choice.isPaused)
  }

  @Test func `a video is paused once no video of less priority is sent, and does not go on because one is`() {
    var choice = EncodingChoice()
    (choice.pauses, choice.isPreferred) = (true, true)
    set(&choice, 0)
    note(&choice, from: 0, through: 5_000)
    #expect(!choice.isPaused)
    choice.isPreferred = false
    note(&choice, from: 5_100, through: 7_000)
    #expect(!choice.isPaused)
    note(&choice, from: 7_100, through: 7_200)
    #expect(choice.isPaused)
    choice.isPreferred = true
    note(&choice, from: 7_300, through: 30_000)
    #expect(choice.isPaused)
  }

  @Test func `a source that falls silent in a pause and comes back does not end it`() {
    var choice = EncodingChoice()
    choice.pauses = true
    set(&choice, 0)
    note(&choice, from: 0, through: 2_000)
    #expect(choice.isPaused)
    choice.note(packet(Point(encoding: 0, layer: 0), nil), at: at(6_000))
    #expect(choice.isPaused)
  }
}
