extension Scenario.Audio.Codec {
  /// Whether sound can be sent in this format alone.
  package var carriesSound: Bool {
    switch self {
    case .opus, .pcmu, .pcma, .g722, .ilbc, .isac: true
    case .redundancy, .comfortNoise, .telephoneEvents: false
    }
  }

  /// Whether there are packets of this codec and no coder, so that it takes synthetic media.
  package var isModelled: Bool { self == .ilbc || self == .isac }

  /// The durations of packets in milliseconds: those of libwebrtc, which makes at most 60 ms of codecs beside Opus.
  package var packetTimes: [Int64] {
    switch self {
    case .opus: [10, 20, 40, 60, 80, 100, 120]
    case .pcmu, .pcma, .g722: [10, 20, 40, 60]
    case .ilbc: [20, 30, 40, 60]
    case .isac: [30, 60]
    case .redundancy, .comfortNoise, .telephoneEvents: []
    }
  }

  /// Whether comfort noise can fill its pauses: a real sound format with the media clock of 8000 Hz.
  package var hasTelephoneClock: Bool {
    switch self {
    case .pcmu, .pcma, .g722: true
    case .opus, .ilbc, .isac, .redundancy, .comfortNoise, .telephoneEvents: false
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
