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
    checkModelled(peer, audio, scenario, &reading)
    checkPacketTime(of: peer, audio, &reading)
    checkRedundancy(of: peer, audio, &reading)
    for key in ofOpus {
      guard let entry = audio.entry(key), !formats.contains(.opus), key != "bitrate" || !formats.contains(.isac) else {
        continue
      }
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

  /// Reports codecs that are modelled where there are coders: with real media, and beside a program.
  private static func checkModelled(
    _ peer: Scenario.Peer, _ audio: YAMLNode, _ scenario: Scenario, _ reading: inout Reading
  ) {
    guard let entry = audio.entry("codecs"), let codec = peer.audio.formats.first(where: \.isModelled) else { return }
    let place = entry.value.items?.first { $0.scalar?.text == codec.rawValue } ?? entry.value
    if let program = scenario.peers.first(where: { $0.stack == .external && $0.hasCallStack }) {
      let message =
        "\(codec.rawValue) is modelled here, and \(program.name) is a program, which would take its packets for real"
      reading.report(
        .conflictingKeys, message, at: place.span,
        hint: "leave \(codec.rawValue) out, or give \(program.name) stack: real")
    } else if scenario.media == .real {
      let message = "\(codec.rawValue) is modelled: there is no coder for real media"
      reading.report(
        .conflictingKeys, message, at: place.span, hint: "write media: synthetic, or leave \(codec.rawValue) out")
    }
  }

  /// Reports a packet that none of the codecs has.
  private static func checkPacketTime(of peer: Scenario.Peer, _ audio: YAMLNode, _ reading: inout Reading) {
    let formats = peer.audio.formats.filter(\.carriesSound)
    let times = Set(formats.flatMap(\.packetTimes)).sorted()
    guard let ptime = peer.audio.ptime, let longest = times.last, !times.contains(ptime.milliseconds),
      let entry = audio.entry("ptime")
    else { return }
    let names = formats.map(\.rawValue).joined(separator: ", ")
    let others = times.dropLast().map(String.init).joined(separator: ", ")
    reading.report(
      .conflictingKeys, "a packet of \(names) holds \(others) or \(longest) ms, not \(ptime)", at: entry.value.span,
      hint: "write ptime: \(times.first { $0 > ptime.milliseconds } ?? longest)ms")
  }

  /// Reports repetitions that a peer does not negotiate, or that are too old to be told.
  private static func checkRedundancy(of peer: Scenario.Peer, _ audio: YAMLNode, _ reading: inout Reading) {
    guard let count = peer.audio.red, count > 0, peer.audio.formats.contains(.opus), let entry = audio.entry("red")
    else {
      return
    }
    guard peer.audio.formats.contains(.redundancy) else {
      return reading.report(
        .conflictingKeys, "\(peer.name) repeats no packets: red is not among its codecs", at: entry.value.span,
        hint: "write codecs: [opus, red]")
    }
    let ptime = peer.audio.ptime ?? .milliseconds(20)
    // Fourteen bits at 48 kHz (RFC 2198 section 3).
    let most = Int(16_383 / (48 * ptime.milliseconds))
    guard count > most else { return }
    reading.report(
      .conflictingKeys,
      "a packet of \(ptime) repeats at most \(most): RED tells times of at most 341 ms (RFC 2198 section 3)",
      at: entry.value.span, hint: "write red: \(most)")
  }

  private static func note(_ entry: YAMLNode.Entry, _ problem: String, _ reading: inout Reading) {
    reading.note(effectOf: entry, problem: "'\(entry.key)' changes nothing: \(problem)", isDefault: false)
  }
}
