/// The device's audio session: what the OS lets an app do with microphone and speaker.
///
/// Modelled on AVAudioSession. Recording needs a category that records *and* an active session, and the audio unit takes
/// its configuration when a peer connection is created: configured later, the call is connected and silent.
public struct AudioSession: Hashable, Sendable {
  public enum Category: String, Sendable, CaseIterable {
    case ambient, soloAmbient, playback, record, playAndRecord, multiRoute

    public var records: Bool { self == .record || self == .playAndRecord || self == .multiRoute }
    public var plays: Bool { self != .record }
  }

  public enum Mode: String, Sendable, CaseIterable { case `default`, voiceChat, videoChat, measurement }

  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let mixWithOthers = Options(rawValue: 1)
    public static let duckOthers = Options(rawValue: 2)
    public static let allowBluetooth = Options(rawValue: 4)
    public static let defaultToSpeaker = Options(rawValue: 8)
    public static let allowBluetoothA2DP = Options(rawValue: 32)
    public static let allowAirPlay = Options(rawValue: 64)
  }

  public private(set) var category = Category.soloAmbient
  public private(set) var mode = Mode.default
  public private(set) var options: Options = []
  public private(set) var isActive = false

  public init() {}

  /// Sets category, mode and options together; a change of category clears earlier options.
  public mutating func configure(category: Category, mode: Mode, options: Options) {
    self.category = category
    self.mode = mode
    self.options = options
  }

  public mutating func setActive(_ active: Bool) { isActive = active }

  public var mayRecord: Bool { isActive && category.records }
  public var mayPlay: Bool { isActive && category.plays }
}
