extension Scenario.Audio.Codec {
  /// Whether sound can be sent in this format alone.
  package var carriesSound: Bool {
    switch self {
    case .opus, .pcmu, .pcma, .g722: true
    case .redundancy, .comfortNoise, .telephoneEvents: false
    }
  }

  /// Whether it is a sound format with the media clock of 8000 Hz, which comfort noise has too.
  package var hasTelephoneClock: Bool {
    switch self {
    case .pcmu, .pcma, .g722: true
    case .opus, .redundancy, .comfortNoise, .telephoneEvents: false
    }
  }
}

extension Scenario.Audio {
  /// The formats that are negotiated; Opus alone without the key.
  package var formats: [Codec] { codecs ?? [.opus] }

  /// The number of earlier Opus packets in each packet. Without the key it is Chromium's: one if redundancy is preferred
  /// to Opus, and none otherwise.
  package var repeatedPackets: Int {
    if let red { return red }
    guard let redundancy = formats.firstIndex(of: .redundancy), let opus = formats.firstIndex(of: .opus) else {
      return 0
    }
    return redundancy < opus ? 1 : 0
  }

  /// The number of earlier Opus packets in each packet to a peer with these settings: none where that one does not take them.
  package func repeatedPackets(to other: Scenario.Audio?) -> Int {
    other?.formats.contains(.redundancy) == true ? repeatedPackets : 0
  }
}
