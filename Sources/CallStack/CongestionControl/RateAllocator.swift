package import CallCore

/// Divides a target rate among streams, and a stream's rate among its encodings (libwebrtc `BitrateAllocator` and
/// `SimulcastRateAllocator`).
///
/// All streams get their minimum first, then their priority rate, then the rest in proportion to their priority up to
/// their maximum, and then up to twice of that. If the rate does not suffice for all minima, streams with an enforced
/// minimum get it, such as audio. Then those that are sent get theirs in order, then paused ones, with a margin;
/// where priorities differ, all of the greatest first.
package struct RateAllocator: Sendable {
  /// A layer of a simulcast stream, from the lowest resolution up.
  package struct Encoding: Hashable, Sendable, BitwiseCopyable {
    package var minimum: DataRate
    /// The rate up to which the encoding is filled before the next one.
    package var target: DataRate
    package var maximum: DataRate
    package var isActive: Bool

    package init(minimum: DataRate, target: DataRate, maximum: DataRate, isActive: Bool = true) {
      (self.minimum, self.target, self.maximum, self.isActive) = (minimum, target, maximum, isActive)
    }
  }

  package struct Stream: Hashable, Sendable, Identifiable {
    package var id: Int
    package var minimum: DataRate
    package var maximum: DataRate
    /// The rate that the stream gets before the rest is divided.
    package var priorityRate = DataRate.bitsPerSecond(0)
    /// The share of the rest, in proportion to those of other streams; it must be positive.
    package var priority = 1.0
    /// Whether the stream is sent at its minimum even if the target is lower.
    package var isMinimumEnforced = false
    /// The margin at which a simulcast layer that was off is turned on: libwebrtc uses 1.2, and 1.35 for a screen.
    package var layerMargin = 1.2
    /// Whether to pad simulcast to the lowest minimum only, because probes while the application is limited do the
    /// rest.
    package var padsToMinimum = false
    /// The layers of simulcast; a stream without it has none.
    package var encodings: [Encoding] = []

    /// Makes a stream with one encoding.
    package init(id: Int, minimum: DataRate, maximum: DataRate) {
      (self.id, self.minimum, self.maximum) = (id, minimum, maximum)
    }

    /// Makes a simulcast stream; layers that are not active count for nothing.
    package init(id: Int, encodings: [Encoding]) {
      let active = encodings.filter(\.isActive)
      self.init(id: id, minimum: active.first?.minimum ?? .zero, maximum: .zero)
      self.encodings = encodings
      for (index, encoding) in active.enumerated() {
        maximum += index == active.count - 1 ? encoding.maximum : encoding.target
      }
    }

    /// The rate to which padding fills the stream, so that its highest layer can be turned on.
    var padding: DataRate {
      let active = encodings.filter(\.isActive)
      guard active.count > 1, let top = active.last else { return .zero }
      if padsToMinimum { return minimum }
      return active.dropLast().reduce(.zero) { $0 + $1.target } + min(top.minimum * layerMargin, top.target)
    }
  }

  private struct Share: Sendable {
    var stream: Stream
    /// The allocated rate; nil for a stream that has not got one yet.
    var rate: DataRate?
    var layers: [DataRate]

    /// The minimum, with a margin for a paused stream.
    var minimum: DataRate {
      rate == .zero ? RateAllocator.resumption(of: stream) : stream.minimum
    }
    var isSent: Bool { rate != .zero }
  }

  private var shares: [Share] = []
  /// The rates of a distribution, by the index of the stream.
  private var rates: [DataRate] = []
  private var stableRates: [DataRate] = []
  private var order: [Int] = []

  /// The margin at which a paused stream resumes.
  private static let toggleShare = 0.1
  private static let toggleRate = DataRate.kilobitsPerSecond(20)
  /// The limit of a rate as a multiple of the maximum, for bursts.
  private static let burstFactor = 2.0

  package init() {}

  /// The rate at which a paused stream resumes.
  private static func resumption(of stream: Stream) -> DataRate {
    stream.minimum + max(stream.minimum * toggleShare, toggleRate)
  }

  /// Adds or changes a stream. A known one keeps its rate until the next allocation.
  package mutating func set(_ stream: Stream) {
    let layers = [DataRate](repeating: .zero, count: stream.encodings.count)
    if let index = shares.firstIndex(where: { $0.stream.id == stream.id }) {
      if shares[index].layers.count != layers.count { shares[index].layers = layers }
      shares[index].stream = stream
    } else {
      shares.append(Share(stream: stream, layers: layers))
    }
  }

  package mutating func remove(_ id: Int) { shares.removeAll { $0.stream.id == id } }

  /// Returns the rate of a stream; zero pauses it.
  package func rate(of id: Int) -> DataRate { shares.first { $0.stream.id == id }?.rate ?? .zero }

  /// Returns the rates of a stream's encodings; zero turns one off.
  package func layers(of id: Int) -> [DataRate] { shares.first { $0.stream.id == id }?.layers ?? [] }

  /// The sums of the streams' limits, for ``BandwidthEstimator``.
  package var limits: StreamLimits {
    var limits = StreamLimits()
    for share in shares {
      limits.maximum += share.stream.maximum
      limits.resumption += share.stream.isMinimumEnforced ? share.stream.minimum : Self.resumption(of: share.stream)
      if share.stream.isMinimumEnforced {
        limits.minimum += share.stream.minimum
        limits.padding += share.stream.padding
      } else {
        limits.padding += share.isSent ? share.stream.padding : max(share.minimum, share.stream.padding)
      }
    }
    return limits
  }

  /// Divides a target rate.
  ///
  /// - Parameter stable: a rate that changes less (``TargetRate/stable``), by which layers are turned on and off.
  package mutating func allocate(_ target: DataRate, stable: DataRate? = nil) {
    guard !shares.isEmpty else { return }
    divide(stable ?? target)
    swap(&rates, &stableRates)
    divide(target)
    for index in shares.indices {
      allocateLayers(of: index, rate: rates[index], stable: stableRates[index])
      shares[index].rate = rates[index]
    }
  }

  private mutating func divide(_ target: DataRate) {
    rates.removeAll(keepingCapacity: true)
    for _ in shares { rates.append(.zero) }
    guard target > .zero else { return }
    var (minima, maxima) = (DataRate.zero, DataRate.zero)
    for share in shares {
      minima += share.stream.minimum
      maxima += share.stream.maximum
    }
    if !suffices(target, minima: minima) {
      allocateLow(target)
    } else if target <= maxima {
      allocateNormal(target - minima)
    } else {
      for index in shares.indices { rates[index] = shares[index].stream.maximum }
      distribute(target - maxima, factor: Self.burstFactor, includesPaused: true)
    }
  }

  /// Returns whether an even division of the rest over the minima lets all streams be sent.
  private func suffices(_ target: DataRate, minima: DataRate) -> Bool {
    guard target >= minima else { return false }
    let extra = (target - minima) * (1 / Double(shares.count))
    return shares.allSatisfy { $0.stream.minimum + extra >= $0.minimum }
  }

  private mutating func allocateLow(_ target: DataRate) {
    // More than the target may be enforced.
    var rest = target.bitsPerSecond
    for index in shares.indices where shares[index].stream.isMinimumEnforced {
      rates[index] = shares[index].stream.minimum
      rest -= rates[index].bitsPerSecond
    }
    for priority in Set(shares.map(\.stream.priority)).sorted(by: >) {
      for isSent in [true, false] {
        for index in shares.indices
        where shares[index].stream.priority == priority && shares[index].isSent == isSent
          && !shares[index].stream.isMinimumEnforced
        {
          let minimum = shares[index].minimum
          guard rest > 0, rest >= minimum.bitsPerSecond else { continue }
          rates[index] = minimum
          rest -= minimum.bitsPerSecond
        }
      }
    }
    if rest > 0 { distribute(.bitsPerSecond(rest), factor: 1, includesPaused: false) }
  }

  private mutating func allocateNormal(_ rest: DataRate) {
    var rest = rest
    for index in shares.indices {
      let stream = shares[index].stream
      let extra = min(stream.priorityRate - stream.minimum, rest)
      rates[index] = stream.minimum + extra
      rest -= extra
    }
    // Streams that reach their maximum first leave the most to the others.
    var sum = 0.0
    sortStreams { ($0.maximum - $1).bits / $0.priority }
    for index in order { sum += shares[index].stream.priority }
    for index in order {
      let stream = shares[index].stream
      let extra = min(rest * (stream.priority / sum), stream.maximum - rates[index])
      rates[index] += extra
      rest -= extra
      sum -= stream.priority
    }
  }

  /// Divides a rate evenly, up to a multiple of each maximum.
  private mutating func distribute(_ rate: DataRate, factor: Double, includesPaused: Bool) {
    sortStreams { stream, _ in stream.maximum.bits }
    if !includesPaused { order.removeAll { rates[$0] == .zero } }
    var (rest, count) = (rate, order.count)
    for index in order {
      let limit = max(shares[index].stream.maximum * factor, rates[index])
      let extra = min(DataRate(bitsPerSecond: rest.bitsPerSecond / Int64(count)), limit - rates[index])
      rates[index] += extra
      rest -= extra
      count -= 1
    }
  }

  /// Sorts the indices of the streams by a key of the stream and its rate; equal ones keep their order.
  private mutating func sortStreams(_ key: (Stream, DataRate) -> Double) {
    order.removeAll(keepingCapacity: true)
    for index in shares.indices {
      let value = key(shares[index].stream, rates[index])
      let place = order.firstIndex { value < key(shares[$0].stream, rates[$0]) } ?? order.count
      order.insert(index, at: place)
    }
  }

  /// Fills a stream's layers from the lowest up.
  private mutating func allocateLayers(of index: Int, rate: DataRate, stable: DataRate) {
    let stream = shares[index].stream
    guard let first = stream.encodings.firstIndex(where: \.isActive) else { return }
    // A layer was neither on nor off before the first allocation.
    let isNew = shares[index].rate == nil
    // The lowest layer is sent at its minimum at least; a stream with less is paused.
    let minimum = stream.encodings[first].minimum
    var (rest, stableRest) = (max(rate, minimum), max(stable, minimum))
    var (top, isOpen) = (first, rate > .zero)
    for (layer, encoding) in stream.encodings.enumerated() {
      let wasOn = isNew || shares[index].layers[layer] > .zero
      let needed = wasOn ? encoding.minimum : min(encoding.minimum * stream.layerMargin, encoding.target)
      if encoding.isActive, layer != first, stableRest < needed { isOpen = false }
      guard encoding.isActive, isOpen else {
        shares[index].layers[layer] = .zero
        continue
      }
      let layerRate = min(rest, encoding.target)
      shares[index].layers[layer] = layerRate
      rest -= layerRate
      stableRest -= encoding.target
      top = layer
    }
    guard rate > .zero else { return }
    let room = stream.encodings[top].maximum - shares[index].layers[top]
    shares[index].layers[top] += min(rest, room)
  }
}
