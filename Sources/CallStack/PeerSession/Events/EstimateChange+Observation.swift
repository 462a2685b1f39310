internal import CongestionControl

extension SessionObservation {
  static func bandwidthEstimate(_ change: EstimateChange) -> SessionObservation {
    .bandwidthEstimate(reason: change.reason.rawValue, before: change.before, after: change.after)
  }
}
