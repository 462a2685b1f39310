import CallCore

extension Scenario {
  /// Returns the text of a file that decodes to the same scenario, with all values explicit.
  ///
  /// - Parameters:
  ///   - seeds: the seeds of the file, which a scenario does not contain.
  ///   - folder: the folder of the file, to which the paths of recordings are relative.
  public func text(seeds: Seeds = Seeds(), in folder: String = "") -> String {
    YAMLWriter.text(of: node(seeds: seeds, in: folder))
  }

  /// The first keys of a file, in order.
  private static let head = ["callsim", "id", "title", "why", "tags", "seeds"]

  func node(seeds: Seeds = Seeds(), in folder: String = "") -> YAMLNode {
    var draft = DocumentDraft(self, in: folder)
    draft.seeds = seeds
    let entries = DocumentDraft.type.entries(of: draft)
    let (first, rest) = (
      Self.head.flatMap { key in entries.filter { $0.key == key } }, entries.filter { !Self.head.contains($0.key) }
    )
    return .mapping(first + rest)
  }
}

// MARK: - Drafts of decoded values

extension DocumentDraft {
  fileprivate init(_ scenario: Scenario, in folder: String) {
    id = scenario.id
    title = scenario.title
    why = scenario.why
    tags = scenario.tags
    limits = scenario.limits
    duration = scenario.duration.map { Located($0) }
    invariants = scenario.invariants
    media = scenario.media
    topology = TopologyDraft(scenario.topology, scenario.peers)
    peers = scenario.peers.map { Named(name: $0.name, span: .builtIn, value: PeerDraft($0, in: folder)) }
    let predicate = ValueFormat<Predicate>.predicate
    if !scenario.definitions.isEmpty {
      definitions = .mapping(scenario.definitions.map { ($0.name, predicate.encode($0.predicate)) })
    }
    if !scenario.timeline.isEmpty {
      timeline = .list(scenario.timeline.enumerated().map { number, entry in entry.node(number: number) })
    }
    if scenario.expectsInvariantsOnly {
      expectations = .text(ExpectationReader.invariants)
    } else if scenario.expectations.contains(where: { !$0.isDelta }) {
      // A text is one arm, and has no other to compare it with.
      expectations = .list(
        scenario.expectations.filter { !$0.isDelta }.enumerated().map { number, one in one.node(number: number) })
    }
    fuzz = scenario.fuzz.map { Scenario.FuzzSettings.type.format.encode($0) }
  }
}

extension PeerDraft {
  fileprivate init(_ peer: Scenario.Peer, in folder: String) {
    self.peer = peer
    if case .file(let recording, let path) = peer.devices.microphone {
      self.peer.devices.microphone = .file(
        recording, path: NotCompared(wrappedValue: SourceMap.relative(path.wrappedValue, to: folder)))
    }
    let arguments = peer.settings.entries
    settings = arguments.isEmpty ? nil : .mapping(arguments.map { ($0.name, $0.value.value.node) })
  }
}

extension TopologyDraft {
  /// Declares every link under `links`, with the name of the peer's interface.
  fileprivate init(_ topology: Topology, _ peers: [Scenario.Peer]) {
    networks = topology.networks.map { Named(name: $0.name, span: .builtIn, value: NetworkDraft($0)) }
    links = topology.links.map { link in
      var draft = LinkDraft(link)
      let interface = peers.first { $0.name == link.from.value }?.interfaces.first { $0.link == link.name }
      draft.interface = interface.flatMap { $0.name == link.name ? nil : Located($0.name) }
      return Named(name: link.name, span: .builtIn, value: draft)
    }
    servers = topology.servers.map { server in
      Named(name: server.name, span: .builtIn, value: ServerDraft(server: server, network: server.network))
    }
  }
}

extension NetworkDraft {
  fileprivate init(_ network: Topology.Network) {
    type = network.type == .ethernet ? nil : network.type
    prefixes = network.prefixes
    nat = network.nat.map { NATDraft($0) }
    if nat == nil { uplink = network.uplink } else { nat?.to = network.uplink }
    firewall = network.firewall
    isIsolated = network.isIsolated ? true : nil
    mtu = network.mtu
    why = network.why
  }
}

extension LinkDraft {
  fileprivate init(_ link: Topology.Link) {
    from = link.from
    to = link.to
    start = link.startsUp ? .up : .down
    if link.transmit == link.receive {
      both = link.transmit
    } else {
      (transmit, receive) = (link.transmit, link.receive)
    }
    mtu = link.mtu
    why = link.why
  }
}
