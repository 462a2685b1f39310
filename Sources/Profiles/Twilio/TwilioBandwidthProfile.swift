internal import PeerSession
internal import VirtualPeer

/// How the server divides the way to a participant among the videos of the others, as that one asks when it connects.
///
/// The words are the product's. What each comes to in shares is not published: the factors here are harness defaults.
struct TwilioBandwidthProfile: Hashable {
  /// Which videos go first.
  enum Mode: String, CaseIterable {
    /// All are equal.
    case grid
    /// A greater priority gets a greater share.
    case collaboration
    /// The greatest priority gets what it needs before the others.
    case presentation
  }

  /// When a video is switched off.
  enum SwitchOff: String, CaseIterable {
    /// When the way is estimated not to hold it.
    case predicted
    /// Never.
    case disabled
  }

  var mode: Mode
  var switchOff: SwitchOff

  init(mode: Mode, switchOff: SwitchOff) { (self.mode, self.switchOff) = (mode, switchOff) }

  /// Reads what a client asks; nil if it is none of this.
  init?(_ json: JSON) {
    guard let mode = json["mode"]?.string.flatMap(Mode.init),
      let switchOff = json["track_switch_off"]?.string.flatMap(SwitchOff.init)
    else { return nil }
    self.init(mode: mode, switchOff: switchOff)
  }

  var json: JSON { ["mode": .string(mode.rawValue), "track_switch_off": .string(switchOff.rawValue)] }

  /// Returns what is done with a video of a priority.
  func policy(of priority: TwilioTrackPriority) -> ForwardingPolicy {
    let share: Double =
      switch (mode, priority) {
      case (.grid, _), (_, .low): 1
      case (.collaboration, .standard): 2
      case (.collaboration, .high): 4
      case (.presentation, .standard): 100
      case (.presentation, .high): 10_000
      }
    return ForwardingPolicy(pauses: switchOff == .predicted, priority: share)
  }
}

/// The priority that a participant gives a track when it publishes it.
enum TwilioTrackPriority: String, CaseIterable {
  case low, standard, high
}
