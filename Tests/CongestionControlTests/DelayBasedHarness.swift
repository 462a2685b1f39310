import CallCore

@testable import CongestionControl

/// Frames over a link of some capacity into an estimator, as the tests of libwebrtc's `DelayBasedBwe` do it.
struct DelayBasedHarness {
  var estimator = DelayBasedEstimator()
  var throughput = ThroughputEstimator()
  var probes = ProbeRateEstimator()
  var now = Instant.zero + .seconds(100)
  /// The capacity of the link, and the frames per second.
  var capacity = DataRate.kilobitsPerSecond(1_000)
  var framesPerSecond: Int64 = 30
  /// The difference of the receiver's clock.
  var clockOffset = Interval.zero
  /// The last result; nil when the last feedback gave none.
  private(set) var update: DataRate?
  private(set) var latest = DataRate.bitsPerSecond(0)
  /// The number of times that the path has drained.
  private(set) var recoveries = 0
  private var linkFree = Instant.zero + .seconds(100)
  private var nextFrame = Instant.zero
  private var isFirstUpdate = true
  private var number: Int64 = 0

  private static let packetSize: Int64 = 1_200

  /// Gives feedback about one packet.
  mutating func feedback(sent: Instant, arrived: Instant, byteCount: Int, probe: Int32? = nil) {
    receive([packet(sent: sent, arrived: arrived, byteCount: byteCount, probe: probe)])
  }

  private mutating func packet(
    sent: Instant, arrived: Instant, byteCount: Int, probe: Int32? = nil
  ) -> TransportSequencer.Result {
    number += 1
    return TransportSequencer.Result(
      number: number, byteCount: byteCount, sent: sent, arrived: arrived + clockOffset, probe: probe)
  }

  private mutating func receive(_ packets: [TransportSequencer.Result]) {
    var probe: DataRate?
    for packet in packets {
      throughput.add(packet, arrived: packet.arrived!)
      if let id = packet.probe { probe = probes.add(packet, of: id, arrived: packet.arrived!) ?? probe }
    }
    let result = estimator.receive(packets, acknowledged: throughput.rate, probe: probe, at: now)
    update = result.rate
    if result.hasRecovered { recoveries += 1 }
    if let update { latest = update }
  }

  /// Sends a frame and gives feedback about it.
  ///
  /// - Returns: whether the estimate is below the rate of the frames.
  mutating func frame(at rate: DataRate) -> Bool {
    let bits = (rate.bitsPerSecond + framesPerSecond / 2) / framesPerSecond
    let count = max((bits + 4 * Self.packetSize) / (8 * Self.packetSize), 1)
    let size = Int((bits + 4 * count) / (8 * count))
    var packets: [TransportSequencer.Result] = []
    for _ in 0..<count {
      linkFree = max(now, linkFree) + capacity.transmissionTime(byteCount: size)
      packets.append(packet(sent: now, arrived: linkFree, byteCount: size))
    }
    nextFrame = now + .seconds(1) / framesPerSecond
    now = linkFree
    receive(packets)
    var isBelow = false
    if let update {
      isBelow = !isFirstUpdate && update < rate
      isFirstUpdate = false
    }
    // The sender does not wait for the feedback.
    now = nextFrame
    return isBelow
  }
}
