import CallCore
import Vocabulary

/// Decodes one cell: substitutes variables, merges profiles, completes the topology, then resolves references to it.
struct CellReader {
  let profiles: UsedProfiles

  func scenario(_ root: YAMLNode, _ reading: inout Reading) -> Scenario? {
    let root = reading.arm.map { $0.applied(to: root, &reading) } ?? root
    let substituted = mergingProfiles(into: Substitution.root(root, &reading), &reading)
    guard !reading.hasTooManyValues else { return nil }
    var draft = DocumentDraft()
    var isComplete = true
    reportUnknownKeys(of: substituted, &reading)
    for key in DocumentDraft.bodyType.keys {
      if let node = substituted[key.name] {
        if !key.decode(node, &reading, &draft) { isComplete = false }
      } else if key.isRequired {
        reading.report(.missingKey, "scenario needs the key '\(key.name)': \(key.summary)", at: substituted.span)
        isComplete = false
      }
    }
    var scenario = Scenario()
    scenario.id = draft.id
    scenario.title = draft.title
    scenario.why = draft.why
    scenario.tags = draft.tags
    scenario.limits = draft.limits
    scenario.duration = draft.duration?.value
    scenario.invariants = draft.invariants
    scenario.peers = peers(draft.peers, in: substituted, &reading)
    DataChannelChecks.declare(scenario, &reading)
    let catalogue = profiles.networks(&reading)
    var builder = TopologyBuilder(draft.topology, catalogue: catalogue)
    let vocabularies = scenario.peers.compactMap(\.profile?.value).inOrderOfAppearance
      .compactMap { reading.registry.vocabulary($0) }
    builder.build(&scenario.peers, from: draft.peers, vocabularies, &reading)
    scenario.topology = builder.topology
    declareNames(&scenario, &reading)
    PeerChecks.check(&scenario, draft, &reading)
    TimelineReader.collectIDs(draft.timeline, &reading)
    scenario.definitions = definitions(draft.definitions, &reading)
    if let node = draft.timeline { scenario.timeline = TimelineReader.entries(node, &reading) }
    SharedNetworkChecks.check(scenario, draft, catalogue: catalogue, &reading)
    TopologyChecks.checkServers(scenario, &reading)
    TopologyChecks.checkWaysOut(scenario, &reading)
    AddressChecks.checkNumber(scenario, &reading)
    if let node = draft.expectations {
      scenario.expectations = ExpectationReader.expectations(node, &reading)
      scenario.expectsInvariantsOnly = node.scalar?.text == ExpectationReader.invariants
    }
    scenario.arms = ArmsReader.arms(reading)
    // First of all, so that a comparison shows them first.
    scenario.expectations = ArmsReader.measures(of: scenario.peers, &reading) + scenario.expectations
    ArmsReader.checkDirections(scenario.expectations, &reading)
    ArmsReader.checkCounters(scenario.expectations, &reading)
    if let node = draft.fuzz, let fuzz = Scenario.FuzzSettings.type.format.decode(node, &reading) {
      scenario.fuzz = fuzz
      FuzzChecks.check(fuzz, scenario, &reading)
    }
    scenario.media =
      draft.media ?? (scenario.peers.contains { $0.playsRecording || $0.filmsRecording } ? .real : .synthetic)
    PeerChecks.checkMedia(scenario, substituted, &reading)
    PeerChecks.checkRecordings(scenario, substituted, &reading)
    ProgramChecks.checkMedia(scenario, substituted, &reading)
    ProgramChecks.checkRelays(scenario, substituted, &reading)
    if scenario.peers.contains(where: { $0.stack == .external && $0.hasCallStack }) { scenario.media = .real }
    MediaChecks.check(scenario, substituted, &reading)
    MediaChecks.checkActions(scenario, &reading)
    VideoChecks.check(scenario, substituted, &reading)
    DataChannelChecks.check(scenario, &reading)
    if draft.media == nil { MediaChecks.checkQuality(scenario, &reading) }
    TopologyChecks.checkIsolation(scenario, draft.topology.networks, &reading)
    NATChecks.check(scenario, draft.topology.networks, &reading)
    InertKeyChecks.check(scenario, substituted, &reading)
    CredentialChecks.check(scenario, substituted, &reading)
    leaveOutWhatCannotBeAsked(&scenario, reading)
    TimelineChecks.check(scenario, &reading)
    ProofChecks.check(scenario, &reading)
    FaultChecks.check(&scenario, &reading)
    LinkChecks.check(scenario, &reading)
    ChannelChecks.check(scenario, &reading)
    RunLengthChecks.check(scenario, draft.duration, &reading)
    Lint.check(scenario, draft, substituted, &reading)
    return isComplete ? scenario : nil
  }

  /// Removes expectations on the audio quality of replaced peers: the audio that a program plays is not measured.
  private func leaveOutWhatCannotBeAsked(_ scenario: inout Scenario, _ reading: Reading) {
    guard !reading.programs.isEmpty else { return }
    let isBeyondReach = { (expectation: Expectation) in
      expectation.values.contains { reading.isReplaced($0.owner) && $0.isOfQuality }
    }
    scenario.notJudged = scenario.expectations.filter(isBeyondReach).map(\.text)
    scenario.expectations.removeAll(where: isBeyondReach)
  }

  private func reportUnknownKeys(of root: YAMLNode, _ reading: inout Reading) {
    let legal = DocumentDraft.type.keyNames
    for entry in root.entries ?? [] where !legal.contains(entry.key) {
      let hint = Suggestion.hint(for: entry.key, among: legal)
      let message = "scenario has no key '\(YAMLNode.abbreviated(entry.key))'"
      reading.report(.unknownKey, message, at: entry.keySpan, hint: hint, explain: "scenario")
    }
  }

  // MARK: - Profiles of peers

  /// Merges the peer profile that `use` names under the peer's own keys.
  private func mergingProfiles(into root: YAMLNode, _ reading: inout Reading) -> YAMLNode {
    guard var entries = root.entries, let index = entries.firstIndex(where: { $0.key == "peers" }),
      let peers = entries[index].value.entries
    else { return root }
    let merged = peers.map { peer in
      YAMLNode.Entry(key: peer.key, keySpan: peer.keySpan, value: self.merged(peer.value, seen: [], &reading))
    }
    entries[index].value.content = .mapping(merged)
    var copy = root
    copy.content = .mapping(entries)
    return copy
  }

  private func merged(_ peer: YAMLNode, seen: [String], _ reading: inout Reading) -> YAMLNode {
    guard let use = peer["use"], let name = use.scalar?.text, peer.entries != nil else { return peer }
    guard let profile = profiles.peers.first(where: { $0.name == name }) else {
      let legal = profiles.peers.map(\.name)
      let hint =
        legal.isEmpty ? "no file of 'use' declares peers" : Suggestion.hint(for: name, among: legal, noun: "there are")
      reading.report(
        .unknownNamedPeer, "unknown peer profile '\(YAMLNode.abbreviated(name))'", at: use.span, hint: hint)
      return peer
    }
    reading.scope.used.insert("named peer \(name)")
    guard !seen.contains(name) else {
      reading.report(.useCycle, "the peer profile '\(name)' uses itself", at: use.span)
      return peer
    }
    let below = self.merged(Substitution.node(profile.node, &reading), seen: seen + [name], &reading)
    return Self.merge(peer, over: below)
  }

  private static func merge(_ own: YAMLNode, over below: YAMLNode) -> YAMLNode {
    guard let entries = own.entries, let others = below.entries else { return own }
    let choosesNetwork = entries.contains { $0.key == "network" || $0.key == "networks" }
    var below = below
    below.content = .mapping(
      others.filter { $0.key != "use" && !(choosesNetwork && ($0.key == "network" || $0.key == "networks")) })
    return own.merged(over: below)
  }

  // MARK: - Names

  private func peers(_ drafts: [Named<PeerDraft>], in root: YAMLNode, _ reading: inout Reading) -> [Scenario.Peer] {
    drafts.map { draft in
      var peer = draft.value.peer
      peer.name = draft.name
      peer.span = draft.span
      if let program = reading.programs.first(where: { $0.peer == draft.name }) {
        (peer.stack, peer.command, peer.programProtocol) = (.external, program.command, .peer)
      }
      ProgramChecks.check(peer, root["peers"]?[draft.name], &reading)
      if let node = root["peers"]?[draft.name], let one = node.entry("network"), node.entry("networks") != nil {
        reading.report(
          .conflictingKeys, "'network' and 'networks' exclude each other", at: one.keySpan,
          hint: "write them all in networks, the preferred one first")
      }
      let hasApp = peer.hasCallStack
      let isProgram = peer.stack == .external && !hasApp
      var vocabulary: ProfileVocabulary?
      let names = reading.registry.vocabularies.map(\.profile)
      if let profile = peer.profile {
        vocabulary = reading.registry.vocabulary(profile.value)
        if vocabulary == nil {
          reading.reportUnknown(
            .unknownProfile, "profile", profile.value, among: names, at: profile.span, explain: "profiles")
        }
      } else if hasApp, reading.registry.vocabularies.count == 1 || root["peers"]?[draft.name]?["profile"] != nil {
        vocabulary = reading.registry.vocabularies.first
        peer.profile = vocabulary.map { Located($0.profile, at: draft.span) }
      } else if hasApp {
        let hint = Suggestion.hint(for: "", among: names, noun: "there are")
        reading.report(
          .missingKey, "\(draft.name) needs the key 'profile': the application", at: draft.span, hint: hint)
      }
      let isPuppet = peer.stack == .puppet
      let known = PeerVocabulary(
        profile: isProgram || isPuppet ? nil : vocabulary, isProgram: isProgram, isPuppet: isPuppet)
      var scope = Scope.PeerNames(name: draft.name, vocabulary: known, stack: peer.stack)
      if !isProgram, let settings = draft.value.settings {
        peer.settings = self.settings(settings, of: known, &reading)
      }
      let identity = known.profile?.settings.first { $0.role == .identity }
      scope.identities = (peer.userID, peer.settings.texts, identity.flatMap { peer.settings.text($0.name) })
      reading.scope.peers.append(scope)
      return peer
    }
  }

  private func settings(_ node: YAMLNode, of vocabulary: PeerVocabulary, _ reading: inout Reading) -> Arguments {
    var arguments = Arguments()
    guard let entries = node.entries else {
      reading.report(.wrongNode, "expected settings by name, found \(node.description)", at: node.span)
      return arguments
    }
    let declared = vocabulary.profile?.settings ?? []
    for entry in entries {
      guard let setting = declared.first(where: { $0.name == entry.key }) else {
        let owner = vocabulary.profile?.profile ?? "a puppet"
        let hint = Suggestion.hint(for: entry.key, among: declared.map(\.name), noun: "it has")
        let message = "\(owner) has no setting '\(YAMLNode.abbreviated(entry.key))'"
        reading.report(.unknownName, message, at: entry.keySpan, hint: hint, explain: "settings")
        continue
      }
      if let value = ValueFormat<Value>.declared(setting.type).decode(entry.value, &reading) {
        if case .duration(let interval) = value, interval < .zero {
          reading.report(.outOfRange, "\(interval) is negative", at: entry.value.span)
          continue
        }
        arguments.entries.append((setting.name, Located(value, at: entry.value.span)))
      }
    }
    return arguments
  }

  private func declareNames(_ scenario: inout Scenario, _ reading: inout Reading) {
    reading.scope.networks = scenario.topology.networks.map(\.name)
    reading.scope.links = scenario.topology.links.map(\.name)
    reading.scope.servers = scenario.topology.servers
    reading.scope.topology = scenario.topology
    for index in reading.scope.peers.indices {
      let peer = scenario.peer(reading.scope.peers[index].name)
      reading.scope.peers[index].interfaces = peer?.interfaces.map(\.name) ?? []
    }
    for index in scenario.peers.indices {
      guard let owner = reading.scope.owner(scenario.peers[index].name), !owner.isPuppet else { continue }
      scenario.peers[index].connectionNames = reading.scope.connectionNames(of: owner)
    }
    for index in scenario.topology.servers.indices {
      guard let owner = reading.scope.owner(scenario.topology.servers[index].name) else { continue }
      scenario.topology.servers[index].connectionNames = reading.scope.connectionNames(of: owner) ?? []
    }
    reading.scope.servers = scenario.topology.servers
    reading.scope.topology = scenario.topology
  }

  private func definitions(_ node: YAMLNode?, _ reading: inout Reading) -> [Scenario.Definition] {
    guard let node else { return [] }
    guard let entries = node.entries else {
      reading.report(.wrongNode, "expected predicates by name, found \(node.description)", at: node.span)
      return []
    }
    reading.scope.definitionWords = entries.map { entry in
      (entry.key, PredicateLexer.tokens(of: entry.value.scalar?.text ?? "").filter { $0.kind == .word }.map(\.text))
    }
    defer { reading.scope.currentDefinition = nil }
    let peers = reading.scope.peers.map(\.name)
    for entry in entries {
      let meaning = ReservedName.anchor(entry.key, peers: peers) ?? ReservedName.predicate(entry.key)
      reading.refuse(entry.key, meaning: meaning, at: entry.keySpan)
      let isTaken = reading.scope.entries.contains { $0.id == entry.key }
      if isTaken {
        reading.report(.duplicateID, "'\(entry.key)' is also the id of a timeline entry", at: entry.keySpan)
      }
      reading.scope.currentDefinition = entry.key
      guard reading.checkName(entry.key, at: entry.keySpan),
        let predicate = ValueFormat<Predicate>.predicate.decode(entry.value, &reading)
      else {
        reading.scope.used.insert("broken \(entry.key)")
        continue
      }
      reading.scope.definitions.append(
        Scenario.Definition(name: entry.key, predicate: predicate, span: entry.keySpan))
    }
    return reading.scope.definitions
  }
}

extension Expectation {
  /// The watched values that the expectation reads.
  package var values: [ValuePath] {
    switch kind {
    case .sequence(let sequence): [sequence.value]
    case .set(let set): [set.value]
    case .eventually(let eventually): eventually.predicate.values
    case .always(let invariably), .never(let invariably): invariably.predicate.values
    case .leadsTo(let leads): leads.condition.values + leads.consequence.values
    case .ends: []
    case .count(let count):
      if case .predicate(let predicate) = count.subject { predicate.values } else { [] }
    case .recovers(let recovers):
      if case .predicate(let predicate) = recovers.to { predicate.values } else { [] }
    case .metric(let metric): [metric.value]
    case .delta(let delta): [delta.metric.value]
    case .sometimes(let predicate): predicate.values
    }
  }

  /// The windows in which the expectation is checked.
  package var windows: [Window] {
    switch kind {
    case .sequence(let sequence): [sequence.between]
    case .set(let set): [set.between]
    case .always(let invariably), .never(let invariably): [invariably.window]
    case .count(let count): [count.between]
    case .metric(let metric): [metric.window]
    case .delta(let delta): [delta.metric.window]
    case .eventually, .leadsTo, .ends, .recovers, .sometimes: []
    }
  }
}
