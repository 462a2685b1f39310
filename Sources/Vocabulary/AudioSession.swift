/// The device's audio session: the OS's rules for the app's use of microphone and speaker.
///
/// Modelled on AVAudioSession. Recording needs a category that records *and* an active session. The audio unit takes
/// its configuration when a peer connection is created: if the app configures the session later, the call is connected
/// and silent.
public struct AudioSession: Hashable, Sendable {
  /// A category of AVAudioSession.
  public enum Category: String, Sendable, CaseIterable {
    case ambient, soloAmbient, playback, record, playAndRecord, multiRoute

    /// Whether the category permits recording.
    public var records: Bool { self == .record || self == .playAndRecord || self == .multiRoute }
    /// Whether the category permits playback.
    public var plays: Bool { self != .record }
  }

  /// A mode of AVAudioSession.
  public enum Mode: String, Sendable, CaseIterable { case `default`, voiceChat, videoChat, measurement }

  /// The options of AVAudioSession, with its raw values.
  public struct Options: OptionSet, Hashable, Sendable {
    /// The bits of the options.
    public let rawValue: UInt
    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// `mixWithOthers`.
    public static let mixWithOthers = Options(rawValue: 1)
    /// `duckOthers`.
    public static let duckOthers = Options(rawValue: 2)
    /// `allowBluetooth`.
    public static let allowBluetooth = Options(rawValue: 4)
    /// `defaultToSpeaker`.
    public static let defaultToSpeaker = Options(rawValue: 8)
    /// `allowBluetoothA2DP`.
    public static let allowBluetoothA2DP = Options(rawValue: 32)
    /// `allowAirPlay`.
    public static let allowAirPlay = Options(rawValue: 64)
  }

  /// The category that the app has set.
  public private(set) var category = Category.soloAmbient
  /// The mode that the app has set.
  public private(set) var mode = Mode.default
  /// The options that the app has set.
  public private(set) var options: Options = []
  /// Whether the app has activated the session.
  public private(set) var isActive = false

  /// Creates an inactive session with the system's default category.
  public init() {}

  /// Sets category, mode and options together; a change of category clears earlier options.
  public mutating func configure(category: Category, mode: Mode, options: Options) {
    self.category = category
    self.mode = mode
    self.options = options
  }

  /// Activates or deactivates the session.
  public mutating func setActive(_ active: Bool) { isActive = active }

  /// Whether the app can record now.
  public var mayRecord: Bool { isActive && category.records }
  /// Whether the app can play now.
  public var mayPlay: Bool { isActive && category.plays }
}
