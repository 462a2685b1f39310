import CallCore
import Codecs
import StackWorlds
import Testing

@testable import JitterBuffer

/// What loss is left where lost packets are asked for again, over the round trip and the length of the buffer.
@Suite struct RetransmissionFigureTests {
  private static let count = 20_000
  private static let loss = 0.2

  /// Random loss that `rounds` retransmissions leave is p^(rounds + 1): all of it where the first comes too late.
  @Test(arguments: [(300, 0), (150, 1), (80, 2), (55, 3)] as [(Int64, Int)])
  func `as many retransmissions count as round trips fit into the buffer`(roundTrip: Int64, rounds: Int) {
    var random = RandomSource(seed: 5).stream("loss")
    var talker = Talker()
    var arrivals: [Arrival] = []
    for (index, original) in talker.stream(Self.count).enumerated() {
      var arrival = original
      // The first ones begin playout. The gap is seen with the next packet, 20 ms later.
      if index > 9, random.chance(Self.loss) {
        arrival.at += .milliseconds(20 + roundTrip)
        while random.chance(Self.loss) { arrival.at += .milliseconds(roundTrip) }
      }
      arrivals.append(arrival)
    }
    var settings = AudioJitterBuffer.Settings()
    (settings.minimumDelay, settings.initialDelay, settings.maximumDelay) = (
      .milliseconds(200), .milliseconds(200), .milliseconds(200)
    )
    let playback = Playback(settings: settings)
    playback.keepsFrames = false
    playback.run(arrivals.sorted { $0.at < $1.at }, until: .milliseconds(Int64(Self.count) * 20 - 40))
    let residual = Double(playback.statistics.concealedSamples) / Double(960 * Self.count)
    let expected = (0..<rounds).reduce(Self.loss) { left, _ in left * Self.loss }
    let deviation = (expected * (1 - expected) / Double(Self.count)).squareRoot()
    #expect(abs(residual - expected) < 3 * deviation, "\(residual) for \(expected)")
  }
}
