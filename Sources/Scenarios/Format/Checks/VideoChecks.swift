/// Checks of video keys against each other and against the other peers.
enum VideoChecks {
  /// The codecs whose frames have numbers, so that a lost repair packet of ULPFEC does not look like lost media.
  private static let numbered: [Scenario.Video.Codec] = [.vp8, .vp9]

  /// Checks the video keys of all peers.
  ///
  /// - Parameter root: the root of the file, with merged peer profiles.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for peer in scenario.peers { checkSimulcast(of: peer, root, &reading) }
    for peer in scenario.peers where peer.stack == .real {
      guard let video = peer.video, let entry = root["peers"]?[peer.name]?["video"]?.entry("fec") else { continue }
      checkCodecs(of: peer, video, entry, &reading)
      let fec = video.fec ?? .none
      let problem = "'fec' changes nothing of the media: no other peer has fec: \(fec.rawValue)"
      reading.note(
        effectOf: entry, problem: fec != .none && isAlone(peer, fec, scenario) ? problem : nil, isDefault: fec == .none)
    }
  }

  /// Reports several encodings where no server chooses among them.
  private static func checkSimulcast(of peer: Scenario.Peer, _ root: YAMLNode, _ reading: inout Reading) {
    guard let count = peer.video?.simulcast, let profile = peer.profile,
      let entry = root["peers"]?[peer.name]?["video"]?.entry("simulcast")
    else { return }
    let problem = "'simulcast' changes nothing: \(profile.value) has no server that forwards media"
    reading.note(
      effectOf: entry, problem: count > 1 && !reading.isForwarded(peer) ? problem : nil, isDefault: count == 1)
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
