import CallCore
import Vocabulary

/// Makes the topology of a cell explicit: expands named networks, attaches peers, and adds the default hosts.
struct TopologyBuilder {
  /// The name of the root, to which peers attach without a NAT.
  static let internet = "internet"

  private let draft: TopologyDraft
  private let catalogue: [Named<NetworkDraft>]
  private(set) var topology = Topology()
  /// The links of the topology's own networks, for peers that name one.
  private var attachments: [(network: String, link: LinkDraft)] = []
  /// The number of instances of each named network.
  private var instances: [(profile: String, count: Int)] = []
  /// The networks made for one peer or for the peers of one `lan`, each with the named network that it instantiates.
  private var made: [(name: String, profile: String, isLAN: Bool)] = []
  private var root = internet

  init(_ draft: TopologyDraft, catalogue: [Named<NetworkDraft>]) {
    self.draft = draft
    self.catalogue = catalogue
  }

  /// Builds the topology, and sets the interfaces of the peers.
  ///
  /// - Parameter vocabularies: those of the peers' profiles, in order of first appearance.
  mutating func build(
    _ peers: inout [Scenario.Peer], from drafts: [Named<PeerDraft>], _ vocabularies: [ProfileVocabulary],
    _ reading: inout Reading
  ) {
    addRoot(for: drafts)
    for network in draft.networks { add(network, &reading) }
    addServers(of: vocabularies, besides: peers.map(\.name), &reading)
    for index in peers.indices {
      let name = peers[index].name
      guard let draft = drafts.first(where: { $0.name == name }), peers[index].stack != .puppet else { continue }
      peers[index].interfaces = attach(draft, &reading)
    }
    for link in draft.links { add(link, to: &peers, &reading) }
    checkReferences(&reading)
  }

  private func named(_ name: String) -> NetworkDraft? { catalogue.first { $0.name == name }?.value }

  private func profile(_ name: Located<String>?, _ reading: inout Reading) -> NetworkDraft? {
    guard let name else { return nil }
    guard let found = named(name.value) else {
      let legal = catalogue.map(\.name)
      reading.reportUnknown(
        .unknownNetwork, "named network", name.value, among: legal, at: name.span, explain: "networks")
      return nil
    }
    reading.scope.used.insert("named network \(name.value)")
    return found
  }

  // MARK: - Networks

  /// Adds the root: the network called internet, else the first without an uplink, else a new one.
  private mutating func addRoot(for peers: [Named<PeerDraft>]) {
    let isDeclared = draft.networks.contains { $0.name == Self.internet }
    let own = draft.networks.first { $0.value.uplink == nil && $0.value.nat == nil && $0.value.profile == nil }
    let needsInternet = peers.contains { peer in
      peer.value.networks.contains { name in !draft.networks.contains { $0.name == name.value } }
    }
    if let own, !isDeclared, !needsInternet {
      root = own.name
      return
    }
    guard !isDeclared else { return }
    var network = Topology.Network()
    network.name = Self.internet
    network.prefixes = [Located(IPPrefix(IPAddress(v4: 0xCB00_7100), length: 24))]
    topology.networks.append(network)
  }

  private mutating func add(_ draft: Named<NetworkDraft>, _ reading: inout Reading) {
    let value = resolved(draft.value, &reading)
    var network = self.network(draft.name, value, at: draft.span)
    network.why = draft.value.why
    if network.uplink == nil, network.nat != nil, network.name != root {
      network.uplink = Located(root, at: draft.span)
    }
    if let to = draft.value.nat?.to, let uplink = draft.value.uplink {
      reading.report(
        .conflictingKeys, "'to' stands here and under nat", at: uplink.span, hint: "nat leads to \(to.value)")
    }
    if let written = draft.value.nat { NATChecks.checkKeys(written, &reading) }
    if let link = draft.value.link { LinkChecks.check(link, of: draft.name, at: draft.span, &reading) }
    checkPrefixes(of: network, isWritten: draft.value.prefixes != nil, &reading)
    topology.networks.append(network)
    attachments.append((network.name, value.link ?? LinkDraft()))
  }

  /// Converts a draft to a network, with defaults for missing values.
  private func network(_ name: String, _ draft: NetworkDraft, at span: SourceSpan) -> Topology.Network {
    var network = Topology.Network()
    network.name = name
    network.span = span
    network.type = draft.type ?? .ethernet
    network.prefixes = draft.prefixes ?? []
    network.nat = draft.nat?.over(Topology.NAT())
    network.uplink = draft.nat?.to ?? draft.uplink
    network.firewall = draft.firewall
    network.isIsolated = draft.isIsolated ?? false
    network.mtu = draft.mtu
    return network
  }

  /// Returns the draft with missing values from the named networks to which it and its NAT refer.
  private func resolved(
    _ draft: NetworkDraft, seen: [String] = [], _ reading: inout Reading
  ) -> NetworkDraft {
    var draft = draft
    if let base = base(draft.profile, seen, &reading) {
      draft.type = draft.type ?? base.type
      draft.prefixes = draft.prefixes ?? base.prefixes
      draft.uplink = draft.uplink ?? base.uplink
      draft.firewall = draft.firewall ?? base.firewall
      draft.isIsolated = draft.isIsolated ?? base.isIsolated
      draft.mtu = draft.mtu ?? base.mtu
      draft.link = draft.link.map { $0.over(base.link) } ?? base.link
      // A NAT with its own profile takes nothing from the network's profile.
      if draft.nat?.profile == nil { draft.nat = draft.nat?.over(base.nat) ?? base.nat }
    }
    if let nat = draft.nat { draft.nat = nat.over(base(nat.profile, seen, &reading)?.nat) }
    return draft
  }

  private func base(_ name: Located<String>?, _ seen: [String], _ reading: inout Reading) -> NetworkDraft? {
    guard let name, let found = profile(name, &reading) else { return nil }
    guard !seen.contains(name.value) else {
      reading.report(.useCycle, "the named network '\(name.value)' is made from itself", at: name.span)
      return nil
    }
    return resolved(found, seen: seen + [name.value], &reading)
  }

  /// Reports named networks on which no peer could be placed.
  func checkCatalogue(_ reading: inout Reading) {
    for named in catalogue where named.span != .builtIn {
      let value = resolved(named.value, seen: [named.name], &reading)
      let network = self.network(named.name, value, at: named.span)
      if network.nat != nil || network.uplink != nil || value.prefixes != nil {
        checkPrefixes(of: network, isWritten: value.prefixes != nil, &reading)
      }
      if let problem = network.nat?.problem { reading.report(.conflictingKeys, problem, at: named.span) }
      if let written = named.value.nat { NATChecks.checkKeys(written, &reading) }
    }
  }

  private func checkPrefixes(of network: Topology.Network, isWritten: Bool, _ reading: inout Reading) {
    if network.prefixes.isEmpty, !isWritten {
      let hint = "for example cidr: 10.0.0.0/24"
      reading.report(.missingKey, "network needs the key 'cidr'", at: network.span, hint: hint)
    }
    checkFamilies(network, &reading)
  }

  private func checkFamilies(_ network: Topology.Network, _ reading: inout Reading) {
    guard network.prefixes.count == 2, let second = network.prefixes.last,
      network.prefixes[0].value.address.isIPv6 == second.value.address.isIPv6
    else { return }
    reading.report(.badPrefix, "two prefixes of a network are one of each address family", at: second.span)
  }

  // MARK: - Peers

  private mutating func attach(_ peer: Named<PeerDraft>, _ reading: inout Reading) -> [Scenario.Interface] {
    var interfaces: [Scenario.Interface] = []
    for name in peer.value.networks {
      reading.scope.used.insert("network \(name.value)")
      let isOwn = topology.network(name.value) != nil
      if !isOwn { reading.scope.used.insert("named network \(name.value)") }
      guard isOwn || named(name.value) != nil else {
        let legal = topology.networks.map(\.name) + catalogue.map(\.name)
        reading.reportUnknown(.unknownNetwork, "network", name.value, among: legal, at: name.span, explain: "networks")
        continue
      }
      let profile = named(name.value).map { resolved($0, seen: [name.value], &reading) } ?? NetworkDraft()
      let network = isOwn ? name.value : instance(of: name, profile, for: peer, &reading)
      let line = attachments.first { $0.network == name.value }?.link ?? profile.link
      var link = Topology.Link()
      link.name = "\(peer.name)/\(name.value)"
      link.from = Located(peer.name, at: name.span)
      link.to = Located(network, at: name.span)
      (link.transmit, link.receive) = (line ?? LinkDraft()).directions(over: nil)
      link.mtu = line?.mtu
      link.span = name.span
      topology.links.append(link)
      interfaces.append(Scenario.Interface(name: name.value, network: network, link: link.name))
    }
    if let lan = peer.value.lan, peer.value.networks.isEmpty {
      reading.report(.missingKey, "'lan' needs the key 'network': what kind of network it is", at: lan.span)
    } else if let lan = peer.value.lan, interfaces.allSatisfy({ isNobodysOwn($0.network) }) {
      reading.report(
        .ineffective, "'lan' changes nothing: \(peer.name) is on networks that all peers share already", at: lan.span)
    }
    return interfaces
  }

  /// Returns whether a network is shared: the root, or one of the topology's own.
  private func isNobodysOwn(_ network: String) -> Bool { network == root || !made.contains { $0.name == network } }

  /// Returns the network for a peer: one per peer or per `lan`; the root for a named network without NAT and uplink.
  private mutating func instance(
    of name: Located<String>, _ profile: NetworkDraft, for peer: Named<PeerDraft>, _ reading: inout Reading
  ) -> String {
    guard profile.nat != nil || profile.uplink != nil || profile.prefixes != nil else { return root }
    // A lan of peers with several networks has one instance of each.
    let isFirst = peer.value.networks.first?.value == name.value
    let lan = peer.value.lan.map { isFirst ? $0.value : "\($0.value)/\(name.value)" }
    let instanceName = lan ?? "\(peer.name)/\(name.value)"
    if let known = made.first(where: { $0.name == instanceName }) {
      if known.isLAN != (lan != nil) {
        reading.report(
          .duplicateID, "a lan and the network of one peer are both called '\(instanceName)'",
          at: peer.value.lan?.span ?? name.span, hint: "give the lan another name")
      } else if known.profile != name.value {
        reading.report(
          .conflictingKeys, "the lan '\(instanceName)' is a network of kind '\(known.profile)', not '\(name.value)'",
          at: peer.value.lan?.span ?? name.span, hint: "give the peers of one lan the same network")
      }
      return instanceName
    }
    if topology.network(instanceName) != nil {
      // A network called PEER/NAME declares that peer's own network. A lan needs no such declaration.
      if let lan = peer.value.lan {
        reading.report(
          .duplicateID, "the network '\(instanceName)' of the topology and a lan share a name", at: lan.span,
          hint: "give the peer network: \(instanceName), or the lan another name")
        made.append((instanceName, name.value, true))
      }
      return instanceName
    }
    made.append((instanceName, name.value, lan != nil))
    let number = count(name.value)
    var network = self.network(instanceName, profile, at: name.span)
    network.prefixes = network.prefixes.map { Located($0.value.shifted(by: number), at: name.span) }
    network.uplink = network.uplink.map { Located($0.value, at: name.span) } ?? Located(root, at: name.span)
    checkPrefixes(of: network, isWritten: profile.prefixes?.isEmpty == true, &reading)
    topology.networks.append(network)
    return instanceName
  }

  private mutating func count(_ profile: String) -> Int {
    guard let index = instances.firstIndex(where: { $0.profile == profile }) else {
      instances.append((profile, 1))
      return 0
    }
    instances[index].count += 1
    return instances[index].count - 1
  }

  // MARK: - Links

  private mutating func add(_ draft: Named<LinkDraft>, to peers: inout [Scenario.Peer], _ reading: inout Reading) {
    let value = draft.value
    let base = self.base(value.profile, [], &reading)
    var link = Topology.Link()
    link.name = draft.name
    link.from = value.from
    link.to = value.to
    link.startsUp = value.start == .up
    (link.transmit, link.receive) = value.directions(over: base?.link)
    link.mtu = value.mtu ?? base?.link?.mtu
    link.why = value.why
    link.span = draft.span
    LinkChecks.check(value, of: draft.name, at: draft.span, &reading)
    if topology.link(link.name) != nil {
      reading.report(.duplicateID, "the link '\(link.name)' is already made by a peer's network", at: draft.span)
      return
    }
    topology.links.append(link)
    let networks = topology.networks.map(\.name)
    guard !value.from.value.isEmpty, !value.to.value.isEmpty else { return }
    if !networks.contains(value.to.value) {
      reading.reportUnknown(.unknownNetwork, "network", value.to.value, among: networks, at: value.to.span)
    }
    reading.scope.used.insert("network \(value.to.value)")
    if let index = peers.firstIndex(where: { $0.name == value.from.value }) {
      let name = value.interface ?? Located(draft.name, at: draft.span)
      if peers[index].interfaces.contains(where: { $0.name == name.value }) {
        let message = "\(value.from.value) has an interface '\(name.value)' already, on its network of that name"
        return reading.report(
          .duplicateID, message, at: name.span,
          hint: value.interface == nil ? "give the link another name" : "give the interface another name")
      }
      peers[index].interfaces.append(
        Scenario.Interface(name: name.value, network: value.to.value, link: draft.name))
      return
    }
    if let interface = value.interface {
      let message = "'interface' is what a peer calls its end of the link, and '\(value.from.value)' is no peer"
      reading.report(.conflictingKeys, message, at: interface.span, hint: "leave interface out")
    }
    if networks.contains(value.from.value) {
      reading.scope.used.insert("network \(value.from.value)")
    } else if topology.server(value.from.value) == nil {
      let hint = Suggestion.hint(for: value.from.value, among: peers.map(\.name) + networks, noun: "there are")
      let message = "no peer is called '\(value.from.value)', so the link '\(draft.name)' has no peer"
      reading.report(.linkWithoutPeer, message, at: value.from.span, hint: hint)
    }
  }

  // MARK: - Servers

  private mutating func addServers(
    of vocabularies: [ProfileVocabulary], besides peers: [String], _ reading: inout Reading
  ) {
    for named in draft.servers {
      var server = named.value.server
      server.name = named.name
      reading.refuse(named.name, meaning: ReservedName.host(named.name), at: named.span)
      server.span = named.span
      server.network = named.value.network ?? Located(root, at: named.span)
      server.profile = owner(of: server, among: vocabularies, &reading)
      let networks = topology.networks.map(\.name)
      if !networks.contains(server.network.value) {
        let span = server.network.span
        reading.reportUnknown(.unknownNetwork, "network", server.network.value, among: networks, at: span)
      }
      reading.scope.used.insert("network \(server.network.value)")
      topology.servers.append(server)
    }
    for vocabulary in vocabularies {
      for declared in vocabulary.servers {
        let kind = Topology.Server.Kind.declared(declared.name)
        guard !topology.servers(of: vocabulary.profile).contains(where: { $0.kind == kind }) else { continue }
        let name = vocabularies.count == 1 ? declared.name : "\(vocabulary.profile)-\(declared.name)"
        add(kind, named: name, of: Located(vocabulary.profile), besides: peers)
      }
    }
    if !topology.servers.contains(where: { $0.kind == .stun }) { add(.stun, named: "stun", besides: peers) }
    guard draft.wantsTURN.value else { return }
    guard topology.server("turn")?.kind != .turn else {
      let message = "'turn' changes nothing: there is a TURN server of that name already"
      return reading.report(.ineffective, message, at: draft.wantsTURN.span)
    }
    add(.turn, named: "turn", besides: peers)
  }

  /// Returns the profile of a server: the written one, or the only one among the peers' that declares its kind.
  private func owner(
    of server: Topology.Server, among vocabularies: [ProfileVocabulary], _ reading: inout Reading
  ) -> Located<String>? {
    guard case .declared(let kind) = server.kind else { return nil }
    let candidates = vocabularies.filter { $0.server(kind) != nil }.map(\.profile)
    if let written = server.profile {
      guard !candidates.contains(written.value) else { return written }
      let used = vocabularies.contains { $0.profile == written.value }
      let message =
        used
        ? "the profile \(written.value) declares no server '\(kind)'"
        : "no peer has the profile '\(YAMLNode.abbreviated(written.value))', so nobody would use this server"
      let hint = Suggestion.hint(for: written.value, among: candidates, noun: "profiles with such a server")
      reading.report(.unknownProfile, message, at: written.span, hint: hint)
      return nil
    }
    switch candidates.count {
    case 1: return Located(candidates[0], at: server.span)
    case 0:
      let message = "no peer's profile declares a server '\(kind)', so nobody would use '\(server.name)'"
      reading.report(.ineffective, message, at: server.span)
    default:
      let names = candidates.joined(separator: ", or profile: ")
      reading.report(
        .ambiguousName, "'\(server.name)' could be a server of \(candidates.joined(separator: " or of "))",
        at: server.span, hint: "write profile: \(names)")
    }
    return nil
  }

  /// Adds a server, with the prefix `default-` if the name is taken.
  private mutating func add(
    _ kind: Topology.Server.Kind, named name: String, of profile: Located<String>? = nil, besides peers: [String]
  ) {
    var server = Topology.Server()
    server.name = name
    server.profile = profile
    while topology.server(server.name) != nil || peers.contains(server.name) { server.name = "default-" + server.name }
    server.kind = kind
    server.network = Located(root)
    server.transports = kind.isDeclared ? [.tcp] : [.udp]
    topology.servers.append(server)
  }

  // MARK: - Checks

  private func checkReferences(_ reading: inout Reading) {
    let names = topology.networks.map(\.name)
    for network in topology.networks {
      guard let uplink = network.uplink else { continue }
      reading.scope.used.insert("network \(uplink.value)")
      if !names.contains(uplink.value) {
        reading.reportUnknown(.unknownNetwork, "network", uplink.value, among: names, at: uplink.span)
      }
    }
    TopologyChecks.check(topology, &reading)
  }
}

extension IPPrefix {
  /// Returns the prefix of the same length that is `steps` further, within the address space.
  fileprivate func shifted(by steps: Int) -> IPPrefix {
    let bits = address.isIPv6 ? 128 : 32
    let shift = bits - length
    guard steps > 0, length > 0 else { return self }
    if !address.isIPv6 {
      let moved = address.v4Bits &+ (UInt32(truncatingIfNeeded: steps) &<< UInt32(shift))
      return IPPrefix(IPAddress(v4: moved), length: length)
    }
    if shift >= 64 {
      let moved = address.high &+ (UInt64(steps) &<< UInt64(shift - 64))
      return IPPrefix(IPAddress(v6: moved, address.low), length: length)
    }
    return IPPrefix(IPAddress(v6: address.high, address.low &+ (UInt64(steps) &<< UInt64(shift))), length: length)
  }
}
