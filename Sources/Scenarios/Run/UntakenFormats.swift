internal import PeerSession
internal import ScenarioFormat
internal import VirtualPeer

extension Scenario.Audio {
  /// Says in which of the formats that these settings prefer no sound was sent.
  func untaken(in sent: [SentAudioFormat]) -> [String] {
    guard !sent.isEmpty else { return [] }
    var untaken: [String] = []
    if repeatedPackets > 0, sent.allSatisfy({ $0.repeatedPackets == 0 }) { untaken.append(Codec.redundancy.rawValue) }
    let preferred = formats.first(where: \.carriesSound)
    if let preferred, !sent.contains(where: { $0.codec.rawValue == preferred.rawValue }) {
      untaken.append(preferred.rawValue)
    }
    return untaken.map { "prefers \($0), and sends no sound in it" }
  }
}

extension Scenario.Video {
  /// Says that no pictures were sent in the codec that these settings prefer, if any were.
  func untaken(in sent: Set<String>) -> [String] {
    guard let preferred = codecs?.first, !sent.isEmpty,
      !sent.contains(where: { $0.lowercased() == preferred.rawValue.lowercased() })
    else { return [] }
    return ["prefers \(preferred.rawValue), and sends no pictures in it"]
  }
}
