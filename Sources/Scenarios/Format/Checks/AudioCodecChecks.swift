import CallCore

/// Checks of audio keys against the formats of a peer and of the others.
enum AudioCodecChecks {
  /// The keys that only Opus reads.
  private static let ofOpus = ["bitrate", "fec", "cbr", "complexity", "packet_loss_hint", "stereo", "red"]

  /// Checks the audio keys of one peer.
  ///
  /// - Parameter audio: the peer's mapping `audio`, with merged peer profiles.
  static func check(
    _ peer: Scenario.Peer, _ audio: YAMLNode?, _ scenario: Scenario, _ reading: inout Reading
  ) {
    guard let audio, peer.stack == .real else { return }
    let formats = peer.audio.formats
    checkPacketTime(of: peer, audio, &reading)
    checkRedundancy(of: peer, audio, &reading)
    for key in ofOpus {
      guard let entry = audio.entry(key), !formats.contains(.opus) else { continue }
      note(entry, "it is for Opus, which is not among the codecs of \(peer.name)", &reading)
    }
    if let entry = audio.entry("dtx"), !formats.contains(.opus) {
      let problem = "it takes opus, or CN among the codecs of both sides and media: real"
      reading.note(
        effectOf: entry,
        problem: usesComfortNoise(peer, scenario) ? nil : "'dtx' changes nothing: \(problem)",
        isDefault: peer.audio.dtx != true)
    }
    if let entry = audio.entry("stereo"), formats.contains(.opus) {
      let problem = scenario.media == .synthetic ? "synthetic media have no channels; write media: real" : nil
      reading.note(
        effectOf: entry, problem: problem.map { "'stereo' changes nothing: \($0)" },
        isDefault: peer.audio.stereo != true)
    }
    if let entry = audio.entry("red"), formats.contains(.redundancy) {
      let isAlone = isAlone(peer, scenario) { $0.contains(.redundancy) }
      let problem = isAlone ? "'red' changes nothing: no other peer has red among its codecs" : nil
      reading.note(effectOf: entry, problem: problem, isDefault: peer.audio.red == 0)
    }
  }

  /// Returns whether comfort noise may replace the silence of a peer: unlike the pauses of Opus, it needs no wish of the
  /// other side beyond its negotiation. Synthetic media have no noise.
  static func usesComfortNoise(_ peer: Scenario.Peer, _ scenario: Scenario) -> Bool {
    scenario.media == .real && peer.audio.formats.contains(.comfortNoise)
      && !isAlone(peer, scenario) { $0.contains(.comfortNoise) }
  }

  /// Returns whether there are other peers and none of them has such formats. The formats of programs are unknown.
  private static func isAlone(
    _ peer: Scenario.Peer, _ scenario: Scenario, _ has: ([Scenario.Audio.Codec]) -> Bool
  ) -> Bool {
    let others = scenario.peers.filter { $0.name != peer.name && $0.hasCallStack }
    return !others.isEmpty && others.allSatisfy { $0.stack == .real && !has($0.audio.formats) }
  }

  /// Reports a packet of G.711 or G.722 of more than 60 ms, the longest that libwebrtc makes.
  private static func checkPacketTime(of peer: Scenario.Peer, _ audio: YAMLNode, _ reading: inout Reading) {
    guard let ptime = peer.audio.ptime, ptime > .milliseconds(60), !peer.audio.formats.contains(.opus),
      let entry = audio.entry("ptime")
    else { return }
    let names = peer.audio.formats.filter(\.carriesSound).map(\.rawValue).joined(separator: ", ")
    reading.report(
      .conflictingKeys, "a packet of \(names) holds at most 60 ms, not \(ptime)", at: entry.value.span,
      hint: "write ptime: 60ms, or add opus to the codecs")
  }

  /// Reports repetitions of a peer that does not negotiate them.
  private static func checkRedundancy(of peer: Scenario.Peer, _ audio: YAMLNode, _ reading: inout Reading) {
    guard let count = peer.audio.red, count > 0, peer.audio.formats.contains(.opus),
      !peer.audio.formats.contains(.redundancy), let entry = audio.entry("red")
    else { return }
    reading.report(
      .conflictingKeys, "\(peer.name) repeats no packets: red is not among its codecs", at: entry.value.span,
      hint: "write codecs: [opus, red]")
  }

  private static func note(_ entry: YAMLNode.Entry, _ problem: String, _ reading: inout Reading) {
    reading.note(effectOf: entry, problem: "'\(entry.key)' changes nothing: \(problem)", isDefault: false)
  }
}
