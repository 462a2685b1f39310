package import CallCore

/// The congestion controller of a session: all take the same feedback and give the same ``TargetRate``.
///
/// There is one of the two. It is changed in place: it must not be copied on the way of each packet.
package struct CongestionController: Sendable {
  /// Google congestion control, as in libwebrtc.
  private var google: BandwidthEstimator?
  /// NADA (RFC 8698), without probes.
  package private(set) var nada: NADAController?

  package init(_ estimator: BandwidthEstimator) { google = estimator }

  package init(_ controller: NADAController) { nada = controller }

  // MARK: Outputs

  package var target: TargetRate { google?.target ?? nada?.target ?? .initial }

  /// The time of the next regular update; nil before the start.
  package var deadline: Instant? { google?.deadline ?? nada?.deadline }

  /// The acknowledged rate; nil while it is unknown.
  package var acknowledgedRate: DataRate? { google?.acknowledgedRate ?? nada?.acknowledgedRate }

  /// Whether the application sends much less than the estimate. NADA does not tell: its rate follows what arrives.
  package var isApplicationLimited: Bool { google?.isApplicationLimited ?? false }

  /// Returns the next probe to send. NADA has none.
  package mutating func nextProbe() -> ProbeCluster? { google?.nextProbe() }

  /// Returns the next change of the estimate.
  package mutating func nextChange() -> EstimateChange? { google?.nextChange() ?? nada?.nextChange() }

  // MARK: Configuration

  /// Notes whether the transport can send. The first time begins the estimation.
  package mutating func setAvailable(_ isAvailable: Bool, at now: Instant) {
    google?.setAvailable(isAvailable, at: now)
    nada?.setAvailable(isAvailable, at: now)
  }

  /// Changes the limits and, unless it is nil, the start rate, which replaces the estimate.
  package mutating func setRates(minimum: DataRate, start: DataRate?, maximum: DataRate?, at now: Instant) {
    google?.setRates(minimum: minimum, start: start, maximum: maximum, at: now)
    nada?.setRates(minimum: minimum, start: start, maximum: maximum, at: now)
  }

  /// Notes that packets take another path, of which nothing is known.
  package mutating func changeRoute(start: DataRate?, at now: Instant) {
    google?.changeRoute(start: start, at: now)
    nada?.changeRoute(start: start, at: now)
  }

  /// Sets the use of the bandwidth by the streams, whenever it changes.
  package mutating func setStreams(_ limits: StreamLimits, at now: Instant) {
    google?.setStreams(limits, at: now)
    nada?.setStreams(limits, at: now)
  }

  /// Sets the pacing rate as a multiple of the estimate.
  package mutating func setPacingFactor(_ factor: Double) {
    google?.setPacingFactor(factor)
    nada?.setPacingFactor(factor)
  }

  /// Enables probing while the application is limited. NADA has no probes.
  package mutating func setProbesWhileApplicationLimited(_ isEnabled: Bool) {
    google?.setProbesWhileApplicationLimited(isEnabled)
  }

  /// Sets the rate with which a paused stream could go on, which is probed for; zero for none. NADA has no probes.
  package mutating func setWanted(_ rate: DataRate) { google?.setWanted(rate) }

  /// Sets the bytes that wait at the sender. Only NADA uses them.
  package mutating func setQueue(byteCount: Int) { nada?.setQueue(byteCount: byteCount) }

  // MARK: Packets and reports

  /// Notes a packet with a transport-wide number.
  ///
  /// - Parameter bytesInFlight: ``TransportSequencer/bytesInFlight`` after the packet. NADA has no window for it.
  package mutating func sent(byteCount: Int, bytesInFlight: Int, at now: Instant) {
    google?.sent(byteCount: byteCount, bytesInFlight: bytesInFlight, at: now)
    nada?.sent(byteCount: byteCount, at: now)
  }

  /// Takes the results of a feedback packet.
  package mutating func receive(_ results: [TransportSequencer.Result], bytesInFlight: Int, at now: Instant) {
    google?.receive(results, bytesInFlight: bytesInFlight, at: now)
    nada?.receive(results, at: now)
  }

  /// Takes the limit of a REMB (draft-alvestrand-rmcat-remb-03); zero removes it.
  package mutating func receiveEstimate(_ rate: DataRate, at now: Instant) {
    google?.receiveEstimate(rate, at: now)
    nada?.receiveEstimate(rate, at: now)
  }

  /// Takes the round trip of an RTCP report. NADA measures it by feedback about packets alone.
  package mutating func setRoundTrip(_ roundTrip: Interval, at now: Instant) {
    google?.setRoundTrip(roundTrip, at: now)
  }

  /// Takes the change of the counts in RTCP reports. NADA measures loss by feedback about packets alone.
  package mutating func receiveReport(lost: Int, received: Int, at now: Instant) {
    google?.receiveReport(lost: lost, received: received, at: now)
  }

  /// Performs the regular update, when it is due.
  package mutating func process(at now: Instant) {
    google?.process(at: now)
    nada?.process(at: now)
  }
}
