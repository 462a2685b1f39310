internal import PeerSession
internal import ScenarioFormat
internal import VirtualPeer

extension Scenario.Audio {
  /// Says in which of the formats that these settings prefer no sound was sent, or little of it.
  func untaken(in sent: [AudioRecord.FormatUse]) -> [String] {
    let preferred = formats.first(where: \.carriesSound)
    func text(_ codec: Codec, _ isIts: (SentAudioFormat) -> Bool) -> String? {
      untakenText(
        codec.rawValue, "sound", taken: sent.filter { isIts($0.format) }.map(\.count).reduce(0, +),
        of: sent.map(\.count).reduce(0, +))
    }
    return [
      repeatedPackets > 0 ? text(.redundancy) { $0.repeatedPackets > 0 } : nil,
      preferred.flatMap { codec in text(codec) { $0.codec.rawValue == codec.rawValue } },
    ].compactMap(\.self)
  }
}

extension Scenario.Video {
  /// Says that no pictures were sent in the codec that these settings prefer, or few, if any were.
  func untaken(in sent: [String: Int]) -> [String] {
    guard let preferred = codecs?.first else { return [] }
    let taken = sent.filter { $0.key.lowercased() == preferred.rawValue.lowercased() }.values.reduce(0, +)
    return [untakenText(preferred.rawValue, "pictures", taken: taken, of: sent.values.reduce(0, +))].compactMap(\.self)
  }
}

/// Returns nil where half of what was sent, or more, was taken, and where nothing was sent.
private func untakenText(_ codec: String, _ what: String, taken: Int, of sent: Int) -> String? {
  guard taken * 2 < sent else { return nil }
  return "prefers \(codec), and sends \(taken == 0 ? "no \(what)" : "less than half of the \(what)") in it"
}
