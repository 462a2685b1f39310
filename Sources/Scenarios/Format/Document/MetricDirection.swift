/// Whether more of a number is better or worse, by what it means.
extension Expectation.Metric {
  /// The direction of improvement; nil if it has none.
  package var usualBetter: Expectation.Delta.Better? {
    switch statistic {
    // How many samples there are, and what their sum is, says nothing of them.
    case .count, .sum: return nil
    // Of what is no counter it is the change from one end of the window to the other.
    case .rate, .delta: guard value.counting != nil else { return nil }
    case .first, .last, .minimum, .maximum, .mean, .percentile: break
    }
    if Self.higher.contains(where: value.name.hasSuffix) { return .higher }
    return Self.lower.contains(where: value.name.hasSuffix) ? .lower : nil
  }

  // Not an estimate of the bandwidth, which may be more than there is.
  private static let higher = [
    "mos", "stoi", "psnr", "ssim", "framesDecoded", "framesPerSecond", "messagesReceived",
  ]
  // Not freezes, which count once they have ended: a picture that stands still has none. Nor lost packets, gaps in the sound
  // and requests, of which there are fewer where there are fewer packets, nor dropped frames, of which there are none where
  // none is decoded. Nor jitter, loss and round trips of reports, which
  // stay as they were where nothing comes any more.
  private static let lower = [
    "concealment", "lsd", "mouth_to_ear", "frame_delay", "picture_age", "bytesSent", "packetsSent",
    "retransmittedBytesSent",
  ]

  /// Reports a direction that a file gives to a number that has its own.
  func checkDirection(_ better: Located<Expectation.Delta.Better>?, _ reading: inout Reading) {
    guard let better, let own = usualBetter else { return }
    reading.report(
      .conflictingKeys, "'better' is for numbers without a direction, and of \(value) \(own.rawValue) is better",
      at: better.span, hint: "leave 'better' out")
  }
}
