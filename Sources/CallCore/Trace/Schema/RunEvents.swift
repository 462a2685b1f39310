/// Events of the timeline of a scenario.
package enum RunEvents {
  package static let fired = TraceEvent("timeline.fired", ("entry", String.self))
  package static let faultApplied = TraceEvent("fault.applied", ("entry", String.self), ("fault", String.self))
  package static let faultCleared = TraceEvent("fault.cleared", ("entry", String.self), ("fault", String.self))
}

/// Events of observers of a run. They change neither the hash nor the numbers of the world's events.
package enum HarnessEvents {
  /// Returns the event of a sample or a running total: `stats.…`, `q.…`, `wire.…`, `nat.…`.
  package static func sample<Value>(_ name: String, _ type: Value.Type) -> TraceEvent<Value> {
    TraceEvent(name, ("value", type), origin: .harness)
  }
  /// The listening quality of received audio, by its name in scenarios.
  public static let meanOpinionScore = sample("q.mos", Double.self)
  /// The share of what was said that was concealed or left out.
  public static let concealment = sample("q.concealment", Double.self)
  /// The delay from the remote microphone to this speaker.
  public static let mouthToEar = sample("q.mouth_to_ear", Interval.self)
  public static let frameDelay = sample("q.frame_delay", Interval.self)
  /// The time by which a picture is shown after the sound that was said with it is heard; negative when it is before.
  public static let lipSync = sample("q.lip_sync", Interval.self)
  /// The time since the camera took the picture that is on the screen, which grows while it stands still.
  public static let pictureAge = sample("q.picture_age", Interval.self)
  /// The peak signal-to-noise ratio of the luma of the picture that is shown, in dB.
  public static let peakSignalToNoise = sample("q.psnr", Double.self)
  /// The structural similarity of the picture that is shown (`ssim_gauss11`).
  public static let structuralSimilarity = sample("q.ssim", Double.self)
  /// The short-time objective intelligibility of about 2.5 s of speech (Taal et al. 2011).
  public static let intelligibility = sample("q.stoi", Double.self)
  /// The extended short-time objective intelligibility of the same speech (Jensen and Taal 2016).
  public static let extendedIntelligibility = sample("q.estoi", Double.self)
  /// The log-spectral distance of the same speech, in dB.
  public static let logSpectralDistance = sample("q.lsd", Double.self)
  /// The time from the last fault to audible sound, after an interruption.
  public static let recovery = sample("q.recovery", Interval.self)
  /// A server passed a message to a user, after faults. Sender, call and fingerprints are those of its fields, by their
  /// declared roles, and empty where it has none. `frame` identifies the text.
  package static let messageForwarded = TraceEvent(
    "signal.forwarded", ("type", String.self), ("from", String.self), ("to", String.self), ("call", String.self),
    ("fingerprints", String.self), ("frame", UInt64.self), origin: .harness)
  /// A text frame of a server has reached a device, whose app reads it now.
  package static let frameArrived = TraceEvent("signal.arrived", ("frame", UInt64.self), origin: .harness)
  /// Media crossed the wire unprotected.
  package static let cleartext = TraceEvent("cleartext", origin: .harness)
}
