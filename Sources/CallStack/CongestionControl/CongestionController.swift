package import CallCore

/// The congestion controller of a session: all take the same feedback and give the same ``TargetRate``.
package enum CongestionController: Sendable {
  /// Google congestion control, as in libwebrtc.
  case googleCongestionControl(BandwidthEstimator)
  /// NADA (RFC 8698), without probes.
  case nada(NADAController)

  // MARK: Outputs

  package var target: TargetRate {
    switch self {
    case .googleCongestionControl(let controller): controller.target
    case .nada(let controller): controller.target
    }
  }

  /// The time of the next regular update; nil before the start.
  package var deadline: Instant? {
    switch self {
    case .googleCongestionControl(let controller): controller.deadline
    case .nada(let controller): controller.deadline
    }
  }

  /// The acknowledged rate; nil while it is unknown.
  package var acknowledgedRate: DataRate? {
    switch self {
    case .googleCongestionControl(let controller): controller.acknowledgedRate
    case .nada(let controller): controller.acknowledgedRate
    }
  }

  /// Whether the application sends much less than the estimate. NADA does not tell: its rate follows what arrives.
  package var isApplicationLimited: Bool {
    switch self {
    case .googleCongestionControl(let controller): controller.isApplicationLimited
    case .nada: false
    }
  }

  /// Returns the next probe to send.
  package mutating func nextProbe() -> ProbeCluster? {
    update {
      $0.nextProbe()
    } nada: { _ in
      nil
    }
  }

  /// Returns the next change of the estimate.
  package mutating func nextChange() -> EstimateChange? {
    update {
      $0.nextChange()
    } nada: {
      $0.nextChange()
    }
  }

  // MARK: Configuration

  /// Notes whether the transport can send. The first time begins the estimation.
  package mutating func setAvailable(_ isAvailable: Bool, at now: Instant) {
    update {
      $0.setAvailable(isAvailable, at: now)
    } nada: {
      $0.setAvailable(isAvailable, at: now)
    }
  }

  /// Changes the limits and, unless it is nil, the start rate, which replaces the estimate.
  package mutating func setRates(minimum: DataRate, start: DataRate?, maximum: DataRate?, at now: Instant) {
    update {
      $0.setRates(minimum: minimum, start: start, maximum: maximum, at: now)
    } nada: {
      $0.setRates(minimum: minimum, start: start, maximum: maximum, at: now)
    }
  }

  /// Notes that packets take another path, of which nothing is known.
  package mutating func changeRoute(start: DataRate?, at now: Instant) {
    update {
      $0.changeRoute(start: start, at: now)
    } nada: {
      $0.changeRoute(start: start, at: now)
    }
  }

  /// Sets the use of the bandwidth by the streams, whenever it changes.
  package mutating func setStreams(_ limits: StreamLimits, at now: Instant) {
    update {
      $0.setStreams(limits, at: now)
    } nada: {
      $0.setStreams(limits, at: now)
    }
  }

  /// Sets the pacing rate as a multiple of the estimate.
  package mutating func setPacingFactor(_ factor: Double) {
    update {
      $0.setPacingFactor(factor)
    } nada: {
      $0.setPacingFactor(factor)
    }
  }

  /// Sets the bytes that wait at the sender. Only NADA uses them.
  package mutating func setQueue(byteCount: Int) {
    update { _ in
    } nada: {
      $0.setQueue(byteCount: byteCount)
    }
  }

  // MARK: Packets and reports

  /// Notes a packet with a transport-wide number.
  ///
  /// - Parameter bytesInFlight: ``TransportSequencer/bytesInFlight`` after the packet. NADA has no window for it.
  package mutating func sent(byteCount: Int, bytesInFlight: Int, at now: Instant) {
    update {
      $0.sent(byteCount: byteCount, bytesInFlight: bytesInFlight, at: now)
    } nada: {
      $0.sent(byteCount: byteCount, at: now)
    }
  }

  /// Takes the results of a feedback packet.
  package mutating func receive(_ results: [TransportSequencer.Result], bytesInFlight: Int, at now: Instant) {
    update {
      $0.receive(results, bytesInFlight: bytesInFlight, at: now)
    } nada: {
      $0.receive(results, at: now)
    }
  }

  /// Takes the limit of a REMB (draft-alvestrand-rmcat-remb-03); zero removes it.
  package mutating func receiveEstimate(_ rate: DataRate, at now: Instant) {
    update {
      $0.receiveEstimate(rate, at: now)
    } nada: {
      $0.receiveEstimate(rate, at: now)
    }
  }

  /// Takes the round trip of an RTCP report. NADA measures it by feedback about packets alone.
  package mutating func setRoundTrip(_ roundTrip: Interval, at now: Instant) {
    update {
      $0.setRoundTrip(roundTrip, at: now)
    } nada: { _ in
    }
  }

  /// Takes the change of the counts in RTCP reports. NADA measures loss by feedback about packets alone.
  package mutating func receiveReport(lost: Int, received: Int, at now: Instant) {
    update {
      $0.receiveReport(lost: lost, received: received, at: now)
    } nada: { _ in
    }
  }

  /// Performs the regular update, when it is due.
  package mutating func process(at now: Instant) {
    update {
      $0.process(at: now)
    } nada: {
      $0.process(at: now)
    }
  }

  /// Changes the controller in place: it must not be copied on the way of each packet.
  private mutating func update<Value>(
    google: (inout BandwidthEstimator) -> Value, nada: (inout NADAController) -> Value
  ) -> Value {
    switch consume self {
    case .googleCongestionControl(var controller):
      let value = google(&controller)
      self = .googleCongestionControl(controller)
      return value
    case .nada(var controller):
      let value = nada(&controller)
      self = .nada(controller)
      return value
    }
  }
}
