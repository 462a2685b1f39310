internal import Vocabulary

/// Advice about audio keys without an effect.
enum MediaChecks {
  /// The keys that only a real encoder reads.
  private static let ofEncoder = ["complexity", "packet_loss_hint"]

  /// Checks the audio keys of all peers.
  ///
  /// - Parameter root: the root of the file, with merged peer profiles.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for peer in scenario.peers where peer.stack != .puppet {
      let audio = root["peers"]?[peer.name]?["audio"]
      AudioCodecChecks.check(peer, audio, scenario, &reading)
      for key in ofEncoder where peer.audio.formats.contains(.opus) {
        guard let entry = audio?.entry(key) else { continue }
        let problem = "'\(key)' changes nothing: synthetic media have no encoder; write media: real"
        reading.note(effectOf: entry, problem: scenario.media == .synthetic ? problem : nil, isDefault: false)
      }
      guard peer.audio.formats.contains(.opus) else { continue }
      check("fec", peer.audio.fec, of: peer, audio, scenario, &reading) {
        $0.fec == false || !$0.formats.contains(.opus)
      }
      if AudioCodecChecks.usesComfortNoise(peer, scenario) { continue }
      check("dtx", peer.audio.dtx, of: peer, audio, scenario, &reading) {
        $0.dtx != true || !$0.formats.contains(.opus)
      }
    }
  }

  /// Requires `media` where quality is measured: the figures depend on it, and expectations do not select it.
  ///
  /// - Precondition: the scenario has no `media`.
  static func checkQuality(_ scenario: Scenario, _ reading: inout Reading) {
    var asked = scenario
    // What the file does not ask for shows what there is.
    asked.expectations.removeAll { $0.isMeasure && $0.span.file != 0 }
    guard asked.media == .synthetic, let value = asked.watchedValues.first(where: \.isOfQuality) else { return }
    reading.report(
      .missingKey,
      "\(value) is measured, and 'media' does not say of what: packets of sound, or packets that hold a level",
      at: value.span, hint: "add media: real at the top, or media: synthetic, which is faster")
  }

  /// Reports actions on sound or pictures themselves with synthetic media.
  static func checkActions(_ scenario: Scenario, _ reading: inout Reading) {
    guard scenario.media == .synthetic else { return }
    for entry in scenario.timeline {
      guard case .action(let name, let action, _) = entry.effect,
        let profile = scenario.peer(name)?.profile.flatMap({ reading.registry.vocabulary($0.value) }),
        profile.action(action)?.needsRealMedia == true
      else { continue }
      reading.report(
        .conflictingKeys,
        "\(name).\(action) needs sound and pictures, and packets of synthetic media hold a level and a number",
        at: entry.span, hint: "write media: real at the top")
    }
  }

  /// Reports a key that needs both sides of a call, when no other peer has it on. The wishes of programs are unknown.
  private static func check(
    _ key: String, _ value: Bool?, of peer: Scenario.Peer, _ audio: YAMLNode?, _ scenario: Scenario,
    _ reading: inout Reading, isOff: (Scenario.Audio) -> Bool
  ) {
    guard value == true, let span = audio?.entry(key)?.keySpan, reading.isOwn(span) else { return }
    // A server that forwards grants it to each side.
    if reading.isForwarded(peer) { return }
    let others = scenario.peers.filter { $0.name != peer.name && $0.hasCallStack }
    let isAlone = !others.isEmpty && others.allSatisfy { $0.stack == .real && isOff($0.audio) }
    let problem = "'\(key)' changes nothing of the media: it needs both sides, and no other peer has it on"
    reading.note(fault: isAlone ? problem : nil, key: key, at: span)
  }
}

extension Reading {
  /// Returns whether a server of the peer's profile forwards its media.
  func isForwarded(_ peer: Scenario.Peer) -> Bool {
    peer.profile.flatMap { registry.vocabulary($0.value) }?.servers.contains(where: \.forwardsMedia) ?? false
  }
}
