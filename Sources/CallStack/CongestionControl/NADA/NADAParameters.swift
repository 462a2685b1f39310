package import CallCore

/// The parameters of NADA, with the default values of RFC 8698 figure 4.
package struct NADAParameters: Hashable, Sendable {
  /// The weight of the flow among others (PRIO).
  package var priority = 1.0
  /// The reference congestion level (XREF).
  package var referenceDelay = Interval.milliseconds(10)
  /// The gain of the gradual update, and that of its derivative (KAPPA, ETA).
  package var gain = 0.5
  package var derivativeGain = 2.0
  /// The upper bound of the round trip in the gradual update (TAU).
  package var timeConstant = Interval.milliseconds(500)
  /// The target interval of feedback (DELTA).
  package var feedbackInterval = Interval.milliseconds(100)
  /// The window of observation (LOGWIN).
  package var window = Interval.milliseconds(500)
  /// The queuing delay below which the path counts as empty (QEPS).
  package var emptyDelay = Interval.milliseconds(10)
  /// The delay of filters, for the ramp-up (DFILT).
  package var filterDelay = Interval.milliseconds(120)
  /// The largest step of the ramp-up, and the queuing delay that it may cause (GAMMA_MAX, QBOUND).
  package var maximumStep = 0.5
  package var delayBound = Interval.milliseconds(50)
  /// The number of mean intervals between losses after which loss counts as past (MULTILOSS).
  package var lossMemory = 7.0
  /// The queuing delay from which the delay is warped, and the exponent of that (QTH, LAMBDA).
  package var warpThreshold = Interval.milliseconds(50)
  package var warpExponent = 0.5
  /// The reference loss, and the delay that it counts for (PLRREF, DLOSS).
  package var referenceLoss = 0.01
  package var lossDelay = Interval.milliseconds(10)
  /// The largest congestion signal: the square of a high loss would make steps of the gradual update far beyond its
  /// range. RFC 8698 has no such limit; it is TAU here, the largest round trip for which the update is meant.
  package var maximumCongestion = Interval.milliseconds(500)
  /// The weight of the newest measurement of loss (ALPHA).
  package var lossWeight = 0.1
  /// The influence of the sender's queue on the rates of the encoder and of sending (BETA_V, BETA_S), and the frame rate
  /// that it assumes (FPS).
  package var queueGain = 0.1
  package var frameRate = 30.0

  package init() {}
}
