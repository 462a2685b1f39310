package import CallCore

/// Estimates how much later than expected frames arrive, from their sizes and delays, as libwebrtc does.
package struct JitterEstimator: Sendable {
  private static let startupSamples = 30
  private static let sizeSamples = 5
  private static let maximumEstimate = 10_000.0
  /// The allowance for the scheduling of the operating system, in milliseconds.
  private static let systemJitter = 10.0
  private static let nackLimit = 3
  private static let nackTimeout = Interval.seconds(60)
  /// The share of the round trip added once frames had to be repaired, and its maximum.
  private static let roundTripFactor = 0.9
  private static let maximumRoundTripPart = Interval.milliseconds(200)

  private var filter = FrameDelayFilter()
  private var averageSize = 500.0
  private var maximumSize = 500.0
  private var sizeVariance = 100.0
  private var sizeSum = 0.0
  private var sizeCount = 0
  private var previousSize: Double?
  private var noiseMean = 0.0
  private var noiseVariance = 4.0
  private var weight = 1
  private var samples = 0
  private var filtered = 0.0
  private var previous: Double?
  private var lastUpdate: Instant?
  private var rate = FrameRateWindow()
  private var nacks: (count: Int, last: Instant)?
  /// The round trip, part of which is added while packets are retransmitted.
  package var roundTrip: Interval

  package init(roundTrip: Interval = .zero) { self.roundTrip = roundTrip }

  /// Takes a frame.
  ///
  /// - Parameters:
  ///   - delay: how much longer it was on its way than the one before.
  ///   - size: its size in bytes.
  package mutating func update(delay: Interval, size: Int, at now: Instant) {
    guard size > 0 else { return }
    let size = Double(size)
    let change = size - (previousSize ?? 0)
    updateSizes(size)
    let isFirst = previousSize == nil
    previousSize = size
    guard !isFirst else { return }
    let bound = 3.5 * noiseVariance.squareRoot() + 0.5
    // Whole milliseconds, as in libwebrtc, whose figures are for them.
    let delay = min(max(Double(delay.nanoseconds) / 1e6, -bound), bound).rounded()
    let deviation = delay - filter.expected(bytes: change)
    let limit = 15 * noiseVariance.squareRoot()
    // A large frame's delay shows that the slope is wrong, however far off it is.
    if deviation.magnitude < limit || size > averageSize + 3 * sizeVariance.squareRoot() {
      updateNoise(deviation, at: now)
      // A frame much smaller than the last one waited behind it.
      if change > -0.25 * maximumSize {
        filter.update(delay: delay, bytes: change, maximumSize: maximumSize, noise: noiseVariance)
      }
    } else {
      updateNoise(deviation >= 0 ? limit : -limit, at: now)
    }
    if samples >= Self.startupSamples { filtered = calculate() } else { samples += 1 }
  }

  /// Takes a frame of which a packet had to be requested again.
  package mutating func frameWasRequested(at now: Instant) {
    nacks = (min((nacks?.count ?? 0) + 1, Self.nackLimit), now)
  }

  /// Returns the delay that a receiver adds against jitter.
  package mutating func estimate(at now: Instant) -> Interval {
    var jitter = max(calculate() + Self.systemJitter, filtered)
    if let nacks, now - nacks.last > Self.nackTimeout { self.nacks = nil }
    if nacks?.count ?? 0 >= Self.nackLimit {
      let part = min(roundTrip.scaled(by: Self.roundTripFactor), Self.maximumRoundTripPart)
      jitter += Double(part.nanoseconds) / 1e6
    }
    // Jitter matters less the longer a frame is shown.
    if let rate = rate.framesPerSecond {
      if rate < 5 { return .zero }
      if rate < 10 { jitter *= (rate - 5) / 5 }
    }
    return Interval.milliseconds(1).scaled(by: max(0, jitter))
  }

  private mutating func updateSizes(_ size: Double) {
    if sizeCount < Self.sizeSamples {
      sizeSum += size
      sizeCount += 1
    } else if sizeCount == Self.sizeSamples {
      averageSize = sizeSum / Double(sizeCount)
      sizeCount += 1
    }
    let average = 0.97 * averageSize + 0.03 * size
    // Key frames do not raise the average.
    if size < averageSize + 2 * sizeVariance.squareRoot() { averageSize = average }
    let difference = size - average
    sizeVariance = max(1, 0.97 * sizeVariance + 0.03 * difference * difference)
    maximumSize = max(0.9999 * maximumSize, size)
  }

  private mutating func updateNoise(_ deviation: Double, at now: Instant) {
    if let lastUpdate { rate.append(now - lastUpdate) }
    lastUpdate = now
    var alpha = Double(weight - 1) / Double(weight)
    weight = min(weight + 1, 400)
    if let rate = rate.framesPerSecond {
      // A stream of few frames forgets as fast as one of 30 a second.
      var scale = 30 / rate
      if weight < Self.startupSamples {
        scale = (Double(weight) * scale + Double(Self.startupSamples - weight)) / Double(Self.startupSamples)
      }
      alpha = ElementaryFunctions.power(alpha, scale)
    }
    let difference = deviation - noiseMean
    noiseMean = alpha * noiseMean + (1 - alpha) * deviation
    noiseVariance = max(1, alpha * noiseVariance + (1 - alpha) * difference * difference)
  }

  private mutating func calculate() -> Double {
    let noise = max(1, 2.33 * noiseVariance.squareRoot() - 30)
    var result = filter.slope * (maximumSize - averageSize) + noise
    if result < 1 {
      result = previous.map { $0 <= 0.01 ? 1 : $0 } ?? 1
    }
    result = min(result, Self.maximumEstimate)
    previous = result
    return result
  }
}

/// The mean rate of the last 30 frames.
struct FrameRateWindow: Sendable {
  private var intervals = InlineArray<30, Int64>(repeating: 0)
  private var count = 0
  private var next = 0
  private var sum: Int64 = 0

  mutating func append(_ interval: Interval) {
    let value = max(0, interval.nanoseconds)
    sum += value - intervals[next]
    intervals[next] = value
    next = (next + 1) % 30
    count = min(count + 1, 30)
  }

  /// The frames per second, at most 200; nil before two frames.
  var framesPerSecond: Double? {
    guard count > 0, sum > 0 else { return nil }
    return min(200, 1e9 * Double(count) / Double(sum))
  }
}
