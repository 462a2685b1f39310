/// Where an audio session plays and records, by the rules of AVAudioSession.
public struct AudioRoute: Hashable, Sendable {
  /// A port that plays.
  public enum Output: String, Sendable, CaseIterable {
    case receiver, speaker, headphones
    /// The hands-free profile of Bluetooth, which plays and records.
    case bluetoothHFP = "bluetooth-hfp"
    /// The profile of Bluetooth that plays alone.
    case bluetoothA2DP = "bluetooth-a2dp"
    /// AirPlay, which plays alone.
    case airPlay = "airplay"
  }

  /// A port that records.
  public enum Input: String, Sendable, CaseIterable {
    case builtIn = "built-in"
    case headset
    case bluetoothHFP = "bluetooth-hfp"
  }

  /// Something that is connected to a device.
  public enum Accessory: String, Sendable, CaseIterable {
    /// Headphones with a wire and a microphone.
    case headset
    /// A Bluetooth headset, with the hands-free profile and A2DP.
    case bluetoothHeadset = "bluetooth-headset"
    /// A Bluetooth speaker, with A2DP alone.
    case bluetoothSpeaker = "bluetooth-speaker"
    /// An AirPlay receiver to which the user mirrors the screen.
    case airPlay = "airplay"
  }

  /// Where it plays.
  public var output: Output
  /// Where it records.
  public var input: Input

  /// The route of an audio session.
  ///
  /// - Parameters:
  ///   - accessory: What is connected to the device.
  ///   - output: The built-in output that the app has asked for: nil for that of category and mode.
  public init(of session: AudioSession, _ accessory: Accessory?, overriding output: Output? = nil) {
    let isCall = session.category == .playAndRecord
    let builtIn: Output =
      isCall && session.mode != .videoChat && !session.options.contains(.defaultToSpeaker) ? .receiver : .speaker
    self.output = output ?? builtIn
    input = .builtIn
    guard output == nil else { return }
    switch accessory {
    case .headset:
      self.output = .headphones
      input = .headset
    case .bluetoothHeadset:
      if session.allowsHandsFree {
        self.output = .bluetoothHFP
        input = .bluetoothHFP
      } else if session.allowsA2DP {
        self.output = .bluetoothA2DP
      }
    case .bluetoothSpeaker: if session.allowsA2DP { self.output = .bluetoothA2DP }
    case .airPlay: if session.allowsAirPlay { self.output = .airPlay }
    case nil: break
    }
  }
}

extension AudioSession {
  /// Returns the latest accessory that the session may use, of those that are connected.
  package func accessory(among connected: [AudioRoute.Accessory]) -> AudioRoute.Accessory? {
    let builtIn = AudioRoute(of: self, nil)
    return connected.last { AudioRoute(of: self, $0) != builtIn }
  }

  /// Whether the hands-free profile of Bluetooth may be used: the modes of calls imply it.
  var allowsHandsFree: Bool {
    category.records && (options.contains(.allowBluetooth) || [.voiceChat, .videoChat].contains(mode))
  }

  /// Whether the output of Bluetooth may be used: always where nothing is recorded.
  var allowsA2DP: Bool { !category.records || options.contains(.allowBluetoothA2DP) }

  /// Whether AirPlay may be used: always where nothing is recorded, and in a call where the app allows it, except in the mode
  /// for voice.
  var allowsAirPlay: Bool {
    !category.records || category == .playAndRecord && options.contains(.allowAirPlay) && mode != .voiceChat
  }
}
