import CallCore
import Codecs
import StackWorlds
import Testing

@testable import JitterBuffer

/// What loss is left where each packet repeats the ones before it (RFC 2198), against the closed forms.
@Suite struct RepeatedPacketTests {
  /// A channel with two states, of which the bad one loses every packet.
  struct Channel: CustomTestStringConvertible {
    /// The probability that a packet after one that arrives is lost, and that one after a lost one arrives.
    let entering: Double
    let leaving: Double

    /// Random loss has no memory.
    static func random(_ loss: Double) -> Channel { Channel(entering: loss, leaving: 1 - loss) }
    /// The mean number of packets in a burst is one divided by the probability to leave it.
    static func bursts(_ loss: Double, mean: Double) -> Channel {
      Channel(entering: loss / (1 - loss) / mean, leaving: 1 / mean)
    }

    var loss: Double { entering / (entering + leaving) }
    var testDescription: String { "loss \(loss), bursts of \(1 / leaving)" }

    /// The share of packets that are lost together with the next `depth` ones, which would repeat them.
    func residual(_ depth: Int) -> Double { loss * power(1 - leaving, depth) }

    /// The variance of the measured share over `count` packets: neighbours are lost together.
    func variance(_ depth: Int, count: Int) -> Double {
      let mean = residual(depth)
      var sum = mean * (1 - mean)
      for distance in 1...1_000 {
        // Both are lost for good: at this distance, or after the chain has come back to a lost packet.
        let again = loss + (1 - loss) * power(1 - entering - leaving, max(0, distance - depth))
        let both = distance <= depth ? mean * power(1 - leaving, distance) : mean * again * power(1 - leaving, depth)
        sum += 2 * (both - mean * mean)
      }
      return sum / Double(count)
    }

    private func power(_ base: Double, _ exponent: Int) -> Double {
      (0..<exponent).reduce(1) { value, _ in value * base }
    }
  }

  private static let count = 20_000

  @Test(
    arguments: [.random(0.1), .random(0.2), .random(0.3), .bursts(0.1, mean: 2), .bursts(0.1, mean: 3)] as [Channel],
    [1, 2])
  func `what is left of loss is the share of packets that the next ones are lost with`(channel: Channel, depth: Int) {
    var random = RandomSource(seed: 21).stream("loss")
    var isBad = random.chance(channel.loss)
    let lost = (0..<Self.count).map { _ in
      defer { isBad = isBad ? !random.chance(channel.leaving) : random.chance(channel.entering) }
      return isBad
    }
    let residual = Double(concealed(lost, depth: depth)) / Double(960 * Self.count)
    let deviation = channel.variance(depth, count: Self.count).squareRoot()
    #expect(abs(residual - channel.residual(depth)) < 3 * deviation, "\(residual) for \(channel.residual(depth))")
  }

  /// Returns the number of concealed samples where each packet repeats `depth` earlier ones.
  private func concealed(_ lost: [Bool], depth: Int) -> Int64 {
    var settings = AudioJitterBuffer.Settings()
    settings.minimumDelay = .milliseconds(80)
    settings.initialDelay = .milliseconds(80)
    settings.maximumDelay = .milliseconds(80)
    var buffer = AudioJitterBuffer(decoder: .synthetic(SyntheticAudioDecoder()), settings: settings)
    var talker = Talker()
    let arrivals = talker.stream(lost.count)
    let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
    defer { room.deallocate() }
    var now = Instant.zero
    for index in arrivals.indices {
      // The first ones begin playout, and the last ones are not played.
      if !lost[index] || index < 10 {
        for back in stride(from: min(depth, index), to: 0, by: -1) {
          let copy = arrivals[index - back]
          let payload = copy.payload
          buffer.insertRedundant(copy.header, payload: payload.span.bytes, at: now)
        }
        let payload = arrivals[index].payload
        buffer.insert(arrivals[index].header, payload: payload.span.bytes, at: now)
      }
      for _ in 0..<2 {
        var output = OutputSpan<Int16>(buffer: room, initializedCount: 0)
        _ = buffer.pull(into: &output, at: now)
        _ = output.finalize(for: room)
        now += .milliseconds(10)
      }
    }
    return buffer.statistics.concealedSamples
  }
}
