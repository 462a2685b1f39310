import CallCore

/// Checks of peers that are programs, and of keys that only such peers have.
enum ProgramChecks {
  /// Checks the keys of one peer.
  ///
  /// - Parameter node: the peer in the file.
  static func check(_ peer: Scenario.Peer, _ node: YAMLNode?, _ reading: inout Reading) {
    guard peer.stack == .external else {
      for key in ["command", "protocol"] {
        guard let entry = node?.entry(key) else { continue }
        let message = "'\(key)' is for a program, and the stack of \(peer.name) is \(peer.stack.rawValue)"
        reading.report(.conflictingKeys, message, at: entry.keySpan, hint: "add stack: external")
      }
      if peer.stack == .puppet { checkPuppet(peer, node, &reading) }
      return
    }
    // A program that replaces a peer gets all settings that its protocol can carry; the file was not written for it.
    guard !reading.isReplaced(peer.name) else { return }
    if node?.entry("command") == nil {
      let message = "\(peer.name) needs the key 'command': the program that is its stack"
      reading.report(.missingKey, message, at: peer.span, hint: "for example command: [interop/peer, chromium]")
    }
    let ours = ["audio", "dtls", "clock"]
    let strange =
      peer.programProtocol == .none ? ["profile", "settings", "id", "devices", "ice", "video"] + ours : ours
    for key in strange {
      guard let entry = node?.entry(key) else { continue }
      let why =
        ours.contains(key)
        ? "a program has its own, and nothing in its protocol sets it"
        : "a program of protocol: none has no app and no stack that we know of"
      reading.report(.conflictingKeys, "'\(key)' means nothing to \(peer.name): \(why)", at: entry.keySpan)
    }
    for entry in node?["video"]?.entries ?? [] where !["size", "frame_rate"].contains(entry.key) {
      let message =
        "'\(entry.key)' means nothing to \(peer.name): a program encodes as it likes, pictures of this size and rate"
      reading.report(.conflictingKeys, message, at: entry.keySpan)
    }
    if let end = node?["devices"]?["mic"]?.entry("at_end"), end.value.scalar?.text == "silence" {
      let message = "\(peer.name) is a program, and programs play a file over and over"
      reading.report(.conflictingKeys, message, at: end.value.span, hint: "write repeat, and silence into the file")
    }
    if peer.filmsRecording, let camera = node?["devices"]?.entry("camera") {
      let message = "\(peer.name) is a program, and nothing in its protocol gives it pictures of a file"
      reading.report(.conflictingKeys, message, at: camera.value.span, hint: "leave it out")
    }
    let acts = [
      ("nomination", "nominates"), ("prune", "prunes"), ("gathering", "gathers"), ("restart_sockets", "opens sockets"),
    ]
    for (key, act) in acts {
      guard let entry = node?["ice"]?.entry(key) else { continue }
      let message = "'\(key)' means nothing to \(peer.name): a program \(act) as it likes"
      reading.report(.conflictingKeys, message, at: entry.keySpan)
    }
  }

  /// Reports device keys of a puppet, whose messages appear directly at the signalling server.
  private static func checkPuppet(_ peer: Scenario.Peer, _ node: YAMLNode?, _ reading: inout Reading) {
    for key in ["network", "networks", "lan", "devices", "audio", "video", "ice", "dtls", "clock", "settings"] {
      guard let entry = node?.entry(key) else { continue }
      let message = "'\(key)' means nothing to \(peer.name): a puppet has no device, only what it sends"
      reading.report(.ineffective, message, at: entry.keySpan)
    }
  }

  /// Reports synthetic media with a program: the packets are not Opus, and a program would play noise or nothing.
  static func checkMedia(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    guard let program = scenario.peers.first(where: { $0.stack == .external && $0.hasCallStack }),
      !reading.isReplaced(program.name), let media = root.entry("media"), media.value.scalar?.text == "synthetic"
    else { return }
    let message = "\(program.name) is a program, which needs real audio"
    reading.report(.conflictingKeys, message, at: media.value.span, hint: "write media: real, or leave it out")
  }

  /// Reports a program without a relay over UDP, because the bridge to a program carries UDP only.
  static func checkRelays(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for peer in scenario.peers where peer.stack == .external && peer.hasCallStack {
      let relays = scenario.topology.relays(of: peer)
      let usable = relays.filter { $0.transports.contains { $0 == .udp && peer.ice.uses($0) } }
      guard let relay = relays.first, usable.isEmpty else { continue }
      let message = "\(peer.name) is a program, which reaches a TURN server over UDP only: it has no relay"
      let transports = root["topology"]?["servers"]?[relay.name]?.entry("transports")
      reading.report(
        .ineffective, message, at: transports?.value.span ?? relay.span, hint: "add udp to the transports of a relay")
    }
  }
}

extension Reading {
  /// Returns whether a program replaces the peer that the file describes.
  func isReplaced(_ peer: String) -> Bool { programs.contains { $0.peer == peer } }
}
