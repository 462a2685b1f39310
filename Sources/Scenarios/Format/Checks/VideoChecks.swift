internal import Vocabulary

/// Checks of video keys against each other and against the other peers.
enum VideoChecks {
  /// The codecs whose frames have numbers, so that a lost repair packet of ULPFEC does not look like lost media.
  private static let numbered: [Scenario.Video.Codec] = [.vp8, .vp9]
  /// The keys that say what is sent alone.
  private static let ofSender = [
    "size", "frame_rate", "bitrate", "start_bitrate", "congestion_control", "temporal_layers", "content",
  ]

  /// Checks the video keys of all peers.
  ///
  /// - Parameter root: the root of the file, with merged peer profiles.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for peer in scenario.peers {
      let sends = sendsPictures(peer, scenario, reading)
      checkSimulcast(of: peer, sends, root, &reading)
      checkCongestionControl(of: peer, root, &reading)
      checkSending(of: peer, sends, root, &reading)
    }
    for peer in scenario.peers where peer.stack == .real {
      guard let video = peer.video, let entry = root["peers"]?[peer.name]?["video"]?.entry("fec") else { continue }
      checkCodecs(of: peer, video, entry, &reading)
      let fec = video.fec ?? .none
      let problem = "'fec' changes nothing of the media: no other peer has fec: \(fec.rawValue)"
      reading.note(
        effectOf: entry, problem: fec != .none && isAlone(peer, fec, scenario) ? problem : nil, isDefault: fec == .none)
    }
  }

  /// Reports several encodings where no server chooses among them, or none is sent.
  private static func checkSimulcast(
    of peer: Scenario.Peer, _ sends: Bool, _ root: YAMLNode, _ reading: inout Reading
  ) {
    guard let count = peer.video?.simulcast, let profile = peer.profile,
      let entry = root["peers"]?[peer.name]?["video"]?.entry("simulcast")
    else { return }
    let reason =
      !reading.isForwarded(peer)
      ? "\(profile.value) has no server that forwards media"
      : sends ? nil : "\(peer.name) has no camera, and sends no pictures"
    let problem = count > 1 ? reason.map { "'simulcast' changes nothing: \($0)" } : nil
    reading.note(effectOf: entry, problem: problem, isDefault: count == 1)
  }

  /// Returns whether a camera films, or the app has other pictures.
  private static func sendsPictures(_ peer: Scenario.Peer, _ scenario: Scenario, _ reading: Reading) -> Bool {
    guard peer.stack == .real, !peer.devices.hasCamera,
      let profile = peer.profile.flatMap({ reading.registry.vocabulary($0.value) })
    else { return true }
    let hasCapturer = profile.settings.contains { $0.role == .capturer && peer.settings.text($0.name) != nil }
    let sharing = profile.actions.filter { $0.role == .shareScreen }.map(\.name)
    let shares = scenario.timeline.contains { entry in
      if case .action(peer.name, let action, _) = entry.effect { sharing.contains(action) } else { false }
    }
    return hasCapturer || shares
  }

  /// Reports keys of what is sent where nothing is.
  private static func checkSending(of peer: Scenario.Peer, _ sends: Bool, _ root: YAMLNode, _ reading: inout Reading) {
    guard let video = root["peers"]?[peer.name]?["video"] else { return }
    for key in ofSender {
      guard let span = video.entry(key)?.keySpan, reading.isOwn(span) else { continue }
      let problem = "'\(key)' changes nothing: \(peer.name) has no camera, and sends no pictures"
      reading.note(fault: sends ? nil : problem, key: key, at: span)
    }
  }

  /// Reports NADA without the feedback that it lives on.
  private static func checkCongestionControl(of peer: Scenario.Peer, _ root: YAMLNode, _ reading: inout Reading) {
    guard let video = peer.video, video.congestionControl == .nada, video.transportCC == false else { return }
    let entry = root["peers"]?[peer.name]?["video"]?.entry("congestion_control")
    reading.report(
      .conflictingKeys,
      "\(peer.name) has NADA and no transport_cc: NADA knows of the path by feedback about each packet",
      at: entry?.value.span ?? peer.span, hint: "leave one of the two out")
  }

  /// Reports ULPFEC beside NACK without a codec that shows which packets are missing.
  private static func checkCodecs(
    of peer: Scenario.Peer, _ video: Scenario.Video, _ entry: YAMLNode.Entry, _ reading: inout Reading
  ) {
    guard video.fec == .ulpfec, video.nack ?? true, let codecs = video.codecs,
      !codecs.contains(where: numbered.contains)
    else { return }
    let names = codecs.map(\.rawValue).joined(separator: ", ")
    reading.report(
      .conflictingKeys,
      "\(peer.name) sends no ULPFEC beside NACK: frames of \(names) have no numbers that show what is missing",
      at: entry.value.span, hint: "write fec: flexfec, nack: false, or add VP8 or VP9 to the codecs")
  }

  /// Returns whether there are other peers and none of them has this scheme. What programs have is unknown.
  private static func isAlone(
    _ peer: Scenario.Peer, _ fec: Scenario.Video.ForwardErrorCorrection, _ scenario: Scenario
  ) -> Bool {
    let others = scenario.peers.filter { $0.name != peer.name && $0.hasCallStack }
    return !others.isEmpty && others.allSatisfy { $0.stack == .real && $0.video?.fec != fec }
  }
}
