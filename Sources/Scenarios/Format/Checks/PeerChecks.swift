import CallCore
import Vocabulary

/// Checks of peers once the topology is known.
enum PeerChecks {
  static func check(_ scenario: inout Scenario, _ draft: DocumentDraft, _ reading: inout Reading) {
    if scenario.peers.isEmpty, !draft.peers.isEmpty || reading.scope.peers.isEmpty {
      let hasErrors = reading.diagnostics.contains { $0.code.severity == .error }
      if !hasErrors {
        reading.report(.badListLength, "a scenario has at least one peer", at: SourceSpan(line: 1, column: 1))
      }
    }
    for peer in scenario.peers {
      let written = draft.peers.first { $0.name == peer.name }?.value
      let isUnread = ["network", "networks", "use"].contains { reading.hasError(at: "peers", peer.name, $0) }
      let keys = reading.root?["peers"]?[peer.name]?.entries ?? []
      if peer.interfaces.isEmpty, written?.networks.isEmpty ?? true, peer.stack != .puppet, !isUnread,
        !reading.excuses(keys, missing: "the network is missing, for example network: wifi")
      {
        let message = "\(peer.name) has no network and no link leads from it"
        reading.report(.peerWithoutNetwork, message, at: peer.span, hint: "for example network: wifi")
      }
      checkCamera(of: peer, &reading)
      checkUnused(of: peer, reading.root?["peers"]?[peer.name], reading.root?["timeline"]?.items ?? [], &reading)
      checkServers(of: peer, scenario.topology, &reading)
      checkTransports(of: peer, scenario.topology, &reading)
      checkNames(of: peer, scenario, &reading)
    }
    checkUsers(scenario, &reading)
    checkLANs(draft.peers, &reading)
  }

  /// Reports a lan of one peer, which equals that peer's own network.
  private static func checkLANs(_ peers: [Named<PeerDraft>], _ reading: inout Reading) {
    for peer in peers {
      guard let lan = peer.value.lan, reading.isOwn(lan.span),
        !reading.diagnostics.contains(where: { $0.span == lan.span })
      else { continue }
      let others = peers.filter { $0.name != peer.name }.compactMap { $0.value.lan?.value }
      let near = Suggestion.nearest(to: lan.value, among: others).map { "; did you mean '\($0)'?" } ?? ""
      let problem = "'lan' changes nothing: no other peer is on '\(lan.value)'\(near)"
      reading.note(fault: others.contains(lan.value) ? nil : problem, key: "lan", at: lan.span)
    }
  }

  /// Reports a recording of a peer whose app may not open the microphone.
  static func checkRecordings(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for peer in scenario.peers where peer.playsRecording && peer.devices.permission == .denied {
      let span = root["peers"]?[peer.name]?["devices"]?["mic"]?.span ?? peer.span
      reading.report(
        .ineffective, "nobody hears the file of \(peer.name): its app may not open the microphone", at: span,
        hint: "leave it out, or permission: denied")
    }
  }

  /// Reports recordings with synthetic media, whose packets contain a level and no sound.
  static func checkMedia(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    guard scenario.media == .synthetic, let media = root.entry("media") else { return }
    let message: String
    if let peer = scenario.peers.first(where: \.playsRecording) {
      message = "\(peer.name) plays a file, and nobody hears it: packets of synthetic media hold a level and no sound"
    } else if let peer = scenario.peers.first(where: \.filmsRecording) {
      message = "\(peer.name) films a file, and nobody sees it: packets of synthetic media hold a number and no picture"
    } else {
      return
    }
    reading.report(.conflictingKeys, message, at: media.value.span, hint: "write media: real, or leave it out")
  }

  /// Reports a camera of a peer without video.
  private static func checkCamera(of peer: Scenario.Peer, _ reading: inout Reading) {
    guard let camera = peer.devices.camera, peer.video == nil, peer.stack == .real else { return }
    reading.report(
      .ineffective, "nobody sees the camera of \(peer.name): its calls have no video", at: camera.span,
      hint: "add video: {}, or leave the camera out")
  }

  /// Reports settings that bar each other, and keys and settings that nothing of the peer uses: those of CallKit where its app has none, the camera at the
  /// front where its calls have no video, and a setting that needs another one.
  private static func checkUnused(
    of peer: Scenario.Peer, _ node: YAMLNode?, _ timeline: [YAMLNode], _ reading: inout Reading
  ) {
    guard peer.stack == .real, let profile = peer.profile.flatMap({ reading.registry.vocabulary($0.value) }) else {
      return
    }
    func note(_ key: String, _ problem: String?) {
      guard let span = node?["devices"]?.entry(key)?.keySpan, reading.isOwn(span) else { return }
      reading.note(fault: problem.map { "'\(key)' changes nothing: \($0)" }, key: key, at: span)
    }
    let withoutVideo = peer.video == nil ? "the calls of \(peer.name) have no video" : nil
    note("front_camera", withoutVideo)
    note(
      "front_camera_formats", withoutVideo ?? (peer.devices.frontCamera ? nil : "the device has no camera at the front")
    )
    let switching = profile.actions.filter { $0.role == .switchCamera }.map { "\(peer.name).\($0.name)" }
    let switches =
      !peer.devices.frontCamera || timeline.contains { switching.contains($0["do"]?.scalar?.text ?? "") }
    note(
      "back_camera_formats",
      withoutVideo ?? (switches ? nil : "the app of \(peer.name) uses the camera at the front alone"))
    let flags = profile.settings.filter { $0.role == .usesCallKit }.map(\.name)
    let isUsed = flags.contains { peer.settings.flag($0) == true }
    let withoutCallKit = isUsed ? nil : "the app of \(peer.name) does not use CallKit"
    note("incoming_calls", withoutCallKit)
    note("push_delay", withoutCallKit ?? (profile.sendsPushes ? nil : "the app of \(peer.name) gets no pushes"))
    note(
      "background_voip",
      isUsed || peer.devices.backgroundVoIP == true ? nil : "the app of \(peer.name) does not use CallKit")
    if !isUsed, peer.devices.backgroundVoIP == true, let span = node?["devices"]?.entry("background_voip")?.keySpan,
      reading.isOwn(span)
    {
      let message =
        "\(peer.name) declares the background mode voip, and its app has no calls: it uses neither CallKit nor pushes"
      let remedy = flags.first.map { "leave it out, or set \($0): true" }
      reading.report(
        .reviewRisk, message, at: span, hint: remedy ?? "leave it out: the app of this profile uses no CallKit")
    }
    for setting in profile.settings {
      if let bar = setting.bar, peer.settings.flag(setting.name) == true, peer.settings.flag(bar) == true,
        let span = peer.settings.span(of: setting.name)
      {
        reading.report(
          .conflictingKeys, "'\(setting.name)' cannot go with \(bar): true", at: span, hint: "leave one of the two out")
      }
      guard let need = setting.need, let span = peer.settings.span(of: setting.name), reading.isOwn(span) else {
        continue
      }
      reading.note(fault: problem(of: setting, needing: need, peer, profile, timeline), key: setting.name, at: span)
    }
  }

  /// Returns why a setting changes nothing; nil if what it needs is there.
  private static func problem(
    of setting: ParameterDeclaration, needing need: String, _ peer: Scenario.Peer, _ profile: ProfileVocabulary,
    _ timeline: [YAMLNode]
  ) -> String? {
    let words = need.split(separator: ": ").map(String.init)
    let (isMet, remedy): (Bool, String) =
      if need == ParameterDeclaration.video {
        (peer.video != nil, "video: {}")
      } else if need == ParameterDeclaration.camera {
        (peer.video != nil && peer.devices.hasCamera, "video: {}, and a camera")
      } else if words.count == 2 {
        (peer.settings.text(words[0]) == words[1], need)
      } else if profile.action(need) != nil {
        (
          timeline.contains { $0["do"]?.scalar?.text == "\(peer.name).\(need)" },
          "do: \(peer.name).\(need)"
        )
      } else if profile.settings.first(where: { $0.name == need })?.type == .flag {
        (peer.settings.flag(need) == true, "\(need): true")
      } else {
        (peer.settings.text(need) ?? "none" != "none", need)
      }
    return isMet ? nil : "'\(setting.name)' changes nothing: it needs \(remedy)"
  }

  private static func checkServers(of peer: Scenario.Peer, _ topology: Topology, _ reading: inout Reading) {
    let usable = topology.servers.filter { !$0.kind.isDeclared }.map(\.name)
    for server in peer.ice.servers ?? [] {
      reading.scope.used.insert("server \(server.value)")
      if let kind = topology.server(server.value)?.kind, kind.isDeclared {
        reading.report(
          .wrongServerKind, "'\(server.value)' is a \(kind.word) server, not STUN or TURN", at: server.span)
      } else if !usable.contains(server.value) {
        reading.reportUnknown(.unknownServer, "server", server.value, among: usable, at: server.span)
      }
    }
  }

  /// Reports transports that none of the peer's TURN servers offers.
  private static func checkTransports(of peer: Scenario.Peer, _ topology: Topology, _ reading: inout Reading) {
    let servers = topology.relays(of: peer)
    for transport in peer.ice.turnTransports ?? [] {
      guard !servers.contains(where: { $0.transports.contains(transport.value) }) else { continue }
      let hint = "for example servers: { relay: { kind: turn, transports: [\(transport.value)] } }"
      let message = "no TURN server of \(peer.name) is reached by \(transport.value)"
      reading.report(.wrongTransport, message, at: transport.span, hint: hint)
    }
    if peer.ice.policy == .relay, servers.isEmpty, peer.hasCallStack {
      let message = "\(peer.name) uses relays only, and has no TURN server: it never connects"
      reading.report(.ineffective, message, at: peer.span, hint: "add topology: { turn: true }")
    }
  }

  /// Reports peers with the same user id: the signalling server keeps one connection per user.
  private static func checkUsers(_ scenario: Scenario, _ reading: inout Reading) {
    for (index, peer) in scenario.peers.enumerated() {
      let id = scenario.userID(of: peer.name)
      guard let other = scenario.peers[..<index].first(where: { scenario.userID(of: $0.name) == id }) else { continue }
      reading.report(
        .duplicateID, "'\(other.name)' and '\(peer.name)' have one user id, '\(id)'", at: peer.span,
        hint: "several devices of one user are not built yet; give each peer an id of its own")
    }
  }

  private static func checkNames(of peer: Scenario.Peer, _ scenario: Scenario, _ reading: inout Reading) {
    reading.refuse(peer.name, meaning: ReservedName.host(peer.name), at: peer.span)
    if peer.name.contains("/") { reading.report(.badName, "a peer's name has no '/'", at: peer.span) }
    if scenario.topology.server(peer.name)?.span != .builtIn, let server = scenario.topology.server(peer.name) {
      reading.report(.duplicateID, "the peer '\(peer.name)' and a server share a name", at: max(peer.span, server.span))
    }
  }
}
