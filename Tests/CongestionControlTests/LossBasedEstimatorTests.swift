import CallCore
import Testing

@testable import CongestionControl

/// The model of loss, with the defaults of libwebrtc.
@Suite struct LossBasedEstimatorTests {
  /// Packets at a rate, of which some are lost.
  private final class Source {
    var estimator = LossBasedEstimator()
    var number: Int64 = 0
    var now = Instant.zero
    /// The share of a packet to be lost before the next one.
    private var debt = 0.0
    /// The estimate from delay.
    var delayEstimate: DataRate? = .kilobitsPerSecond(2_000)

    /// Sends for some time, with feedback each 50 ms.
    func send(_ kilobits: Int64, loss: Double, milliseconds: Int64, isLimited: Bool = false) {
      for _ in 0..<milliseconds / 50 {
        var packets: [TransportSequencer.Result] = []
        let count = max(1, kilobits * 50 / 8_000)
        for index in 0..<count {
          number += 1
          let sent = now + .milliseconds(50) * index / count
          debt += loss
          let isLost = debt >= 1
          if isLost { debt -= 1 }
          packets.append(
            TransportSequencer.Result(
              number: number, byteCount: Int(kilobits * 50 / 8 / count), sent: sent, arrived: isLost ? nil : sent))
        }
        now += .milliseconds(50)
        estimator.update(packets, delayEstimate: delayEstimate, isApplicationLimited: isLimited)
      }
    }
  }

  @Test func `it takes three observations of 250 ms`() {
    let source = Source()
    source.send(500, loss: 0, milliseconds: 700)
    #expect(source.estimator.estimate == nil)
    source.send(500, loss: 0, milliseconds: 200)
    #expect(source.estimator.estimate != nil)
  }

  @Test func `without loss the estimate from delay stands`() {
    let source = Source()
    source.send(500, loss: 0, milliseconds: 3_000)
    #expect(source.estimator.estimate == .kilobitsPerSecond(2_000) && source.estimator.state == .delayBased)
    source.delayEstimate = .kilobitsPerSecond(700)
    source.send(500, loss: 0, milliseconds: 300)
    #expect(source.estimator.estimate == .kilobitsPerSecond(700))
  }

  @Test func `loss of one percent is taken for that of the path`() {
    let source = Source()
    source.send(1_500, loss: 0.01, milliseconds: 10_000)
    #expect(source.estimator.estimate == .kilobitsPerSecond(2_000), "\(String(describing: source.estimator.estimate))")
  }

  @Test(arguments: [0.3, 0.5, 1]) func `heavy loss limits the estimate as it does TCP`(loss: Double) {
    let source = Source()
    source.send(1_000, loss: loss, milliseconds: 5_000)
    let limit = 75 / (loss - 0.05)
    let estimate = source.estimator.estimate?.kilobits ?? .infinity
    // Packets of one observation are lost in another proportion.
    #expect(estimate <= limit * 1.05 && source.estimator.state != .delayBased, "\(estimate)")
  }

  @Test func `after loss the estimate rises by 1_3 per 300 ms at most`() {
    let source = Source()
    source.send(1_000, loss: 0.3, milliseconds: 5_000)
    var last = source.estimator.estimate ?? .zero
    var (rises, largest) = (0, 0.0)
    for _ in 0..<60 {
      source.send(200, loss: 0, milliseconds: 300)
      let next = source.estimator.estimate ?? .zero
      if next > last, source.estimator.state != .delayBased {
        rises += 1
        largest = max(largest, next.bits / last.bits)
      }
      last = next
    }
    #expect(rises >= 3 && largest <= 1.3 * 1.3 + 1e-6, "\(rises) \(largest)")
    #expect(last == .kilobitsPerSecond(2_000))
  }

  @Test func `the estimate does not rise while there is more loss than the path is known for`() {
    for loss in [0, 0.12] {
      let source = Source()
      source.delayEstimate = .kilobitsPerSecond(900)
      // The end of an observation. Behind the limit the estimate has risen by 2 % in each.
      source.send(800, loss: 0, milliseconds: 2_800)
      source.delayEstimate = .kilobitsPerSecond(2_000)
      source.send(800, loss: loss, milliseconds: 1_000)
      let estimate = source.estimator.estimate ?? .zero
      #expect((estimate > .kilobitsPerSecond(1_150)) == (loss == 0), "\(loss): \(estimate)")
    }
  }

  @Test(arguments: [true, false]) func `a packet that was reported lost and has come is not lost`(comes: Bool) {
    var estimator = LossBasedEstimator()
    for first in stride(from: Int64(0), to: 400, by: 20) {
      let packets = (first..<first + 20).map {
        TransportSequencer.Result(
          number: $0, byteCount: 1_000, sent: .zero + .milliseconds(15) * $0, arrived: .zero + .milliseconds(15) * $0)
      }
      // The second feedback completes an observation of 300 ms.
      let missing = packets[..<10].map {
        TransportSequencer.Result(number: $0.number, byteCount: $0.byteCount, sent: $0.sent, arrived: nil)
      }
      estimator.update(missing, delayEstimate: .kilobitsPerSecond(900), isApplicationLimited: false)
      let rest = comes ? packets : Array(packets[10...])
      estimator.update(rest, delayEstimate: .kilobitsPerSecond(900), isApplicationLimited: false)
    }
    #expect((estimator.estimate == .kilobitsPerSecond(900)) == comes)
  }
}
