import CallCore
import Vocabulary

/// Decodes the effect of a timeline entry, by the declaration of its action or fault.
enum EffectReader {
  /// Returns the keys of an entry that belong to its effect; all keys while the effect is unknown.
  static func keyNames(of node: YAMLNode, _ reading: inout Reading) -> [String] {
    if let name = node["fault"]?.scalar?.text {
      guard let kind = FaultKind(rawValue: name) else { return everyKey(of: node) }
      return kind.declaration.parameters.map(\.name) + extraKeys(kind.declaration.extras)
    }
    if let name = node["do"]?.scalar?.text {
      guard let action = action(name, reading) else { return everyKey(of: node) }
      return action.parameters.map(\.name)
    }
    if node["send"] != nil { return SendEffect.keys.map(\.name) }
    return []
  }

  private static func everyKey(of node: YAMLNode) -> [String] { node.entries?.map(\.key) ?? [] }

  private static func extraKeys(_ extras: FaultDeclaration.Extras) -> [String] {
    switch extras {
    case .none: []
    case .impairments: Topology.Impairments.type.keyNames.filter { $0 != "why" }
    case .nat: NATDraft.behaviorType.keyNames.filter { $0 != "why" }
    }
  }

  static func effect(_ draft: EntryDraft, _ node: YAMLNode, _ reading: inout Reading) -> TimelineEntry.Effect? {
    // A fault in place of an action is reported at its own location, and explains the other keys.
    if let duration = draft.duration, draft.fault == nil, draft.action.flatMap({ fault(namedBy: $0.value) }) == nil {
      reading.report(.conflictingKeys, "'for' goes with 'fault' only", at: duration.span)
      return nil
    }
    if let refused = draft.refusal, draft.action == nil {
      reading.report(.conflictingKeys, "'refused' goes with 'do' only", at: refused.span)
      return nil
    }
    if draft.isControl, draft.fault == nil, let control = node.entry("control") {
      reading.report(.conflictingKeys, "'control' goes with 'fault' only", at: control.keySpan)
      return nil
    }
    if let action = draft.action { return self.action(action, node, &reading) }
    if let fault = draft.fault { return self.fault(fault, draft.duration, node, &reading) }
    if let message = draft.message { return send(message, node, &reading) }
    if let entry = draft.clear { return clear(entry, &reading) }
    if draft.mark != nil { return .mark }
    return nil
  }

  // MARK: - Actions

  /// Returns the fault whose name is written as an action: `alice.link.down`, or `link.down`.
  private static func fault(namedBy text: String) -> FaultKind? {
    let afterPeer = text.firstIndex(of: ".").map { String(text[$0...].dropFirst()) }
    return FaultKind(rawValue: text) ?? afterPeer.flatMap { FaultKind(rawValue: $0) }
  }

  private static func action(_ text: String, _ reading: Reading) -> ActionDeclaration? {
    guard let dot = text.firstIndex(of: ".") else { return nil }
    return reading.scope.peer(String(text[..<dot]))?.vocabulary.action(String(text[dot...].dropFirst()))
  }

  private static func action(
    _ text: Located<String>, _ node: YAMLNode, _ reading: inout Reading
  ) -> TimelineEntry.Effect? {
    guard let value = node["do"] else { return nil }
    if let fault = fault(namedBy: text.value) {
      let message = "'\(fault.rawValue)' is a fault, and nothing that a user does"
      reading.report(
        .unknownAction, message, at: text.span, hint: "write fault: \(fault.rawValue)", explain: fault.rawValue)
      return nil
    }
    let peerNames = reading.scope.peers.map(\.name)
    guard let dot = text.value.firstIndex(of: ".") else {
      let parts = text.value.split { ": ".contains($0) }.map(String.init)
      let hint =
        parts.count == 2 && peerNames.contains(parts[0])
        ? "write \(parts[0]).\(parts[1])"
        : reading.scope.peers.first.map { peer in
          let name = Self.isWord(text.value) ? text.value : peer.vocabulary.actions.first?.name ?? "ACTION"
          return "write peer.action, such as \(peer.name).\(name)"
        }
      reading.report(.unknownAction, "'\(text.value)' names no peer", at: text.span, hint: hint, explain: "actions")
      return nil
    }
    let peerName = String(text.value[..<dot])
    let name = String(text.value[dot...].dropFirst())
    guard let peer = reading.scope.peer(peerName) else {
      let span = value.span(ofLetters: 0, length: peerName.unicodeScalars.count)
      reading.reportUnknown(.unknownPeer, "peer", peerName, among: peerNames, at: span)
      return nil
    }
    reading.scope.used.insert("peer \(peerName)")
    guard let declaration = peer.vocabulary.action(name) else {
      if peer.isUnknown { return nil }
      let span = value.span(ofLetters: peerName.unicodeScalars.count + 1, length: max(1, name.unicodeScalars.count))
      let hint =
        peer.isPuppet
        ? "a puppet has no app; use send:"
        : peer.vocabulary.isProgram
          ? "a program of protocol: none has no app; it does what its command says"
          : Suggestion.hint(for: name, among: peer.vocabulary.actions.map(\.name), noun: "it can")
      let message = "unknown action '\(YAMLNode.abbreviated(name))' of \(peerName)"
      reading.report(.unknownAction, message, at: span, hint: hint, explain: "actions")
      return nil
    }
    guard let arguments = arguments(of: "the action '\(name)'", declaration, node, at: text.span, &reading) else {
      return nil
    }
    for parameter in declaration.parameters {
      guard let bar = parameter.bar, arguments[bar] != nil, let span = arguments.span(of: parameter.name) else {
        continue
      }
      reading.report(
        .conflictingKeys, "'\(parameter.name)' and '\(bar)' exclude each other", at: span,
        hint: "leave one of the two out")
      return nil
    }
    checkUsers(of: declaration, arguments, by: peer, &reading)
    for parameter in declaration.parameters {
      guard let need = parameter.need, let span = arguments.span(of: parameter.name) else { continue }
      let isFlag = declaration.parameters.first { $0.name == need }?.type == .flag
      guard isFlag ? arguments.flag(need) != true : arguments[need] == nil else { continue }
      reading.report(
        .ineffective, "'\(parameter.name)' changes nothing: it needs \(isFlag ? "\(need): true" : need)", at: span,
        hint: "leave it out")
    }
    if name == CommonVocabulary.switchNetwork.name, let to = arguments.text("to"), !peer.interfaces.contains(to) {
      let span = arguments.span(of: "to") ?? text.span
      reading.reportUnknown(.unknownInterface, "interface of \(peerName)", to, among: peer.interfaces, at: span)
      return nil
    }
    if DataChannelVocabulary.actions.contains(where: { $0.name == name }) {
      guard DataChannelChecks.check(arguments, of: name, by: peer, at: text.span, &reading) else { return nil }
    }
    return .action(peer: peerName, name: name, arguments: arguments)
  }

  /// Reports users whom an action cannot reach: they are in another product.
  private static func checkUsers(
    of declaration: ActionDeclaration, _ arguments: Arguments, by peer: Scope.PeerNames, _ reading: inout Reading
  ) {
    guard let own = peer.profile else { return }
    for parameter in declaration.parameters where [.peer, .peers].contains(parameter.type) {
      for user in arguments.texts(parameter.name) ?? [] {
        guard let other = reading.scope.peer(user)?.profile, other != own, let span = arguments.span(of: parameter.name)
        else { continue }
        let message = "\(peer.name) reaches no '\(user)': one is in \(own), and the other in \(other)"
        reading.report(.ineffective, message, at: span, hint: "name a peer of the profile \(own)")
      }
    }
  }

  private static func isWord(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
  }

  private static func arguments(
    of what: String, _ declaration: ActionDeclaration, _ node: YAMLNode, at span: SourceSpan, _ reading: inout Reading
  ) -> Arguments? {
    let parameters = declaration.parameters.map {
      ($0.name, ValueFormat<Value>.declared($0.type), $0.isRequired, $0.summary)
    }
    return arguments(of: what, parameters, node, at: span, &reading)
  }

  private static func arguments(
    of what: String, _ parameters: [(name: String, format: ValueFormat<Value>, isRequired: Bool, summary: String)],
    _ node: YAMLNode, at span: SourceSpan, _ reading: inout Reading
  ) -> Arguments? {
    var arguments = Arguments()
    var isComplete = true
    for parameter in parameters {
      guard let argument = node[parameter.name] else {
        if parameter.isRequired {
          let message = "\(what) needs '\(parameter.name)': \(parameter.summary)"
          if !reading.excuses(node.entries ?? [], missing: message) {
            reading.report(
              .missingKey, message, at: span, hint: Suggestion.hint(for: "", among: parameter.format.shape.choices))
          }
          isComplete = false
        }
        continue
      }
      guard let value = parameter.format.decode(argument, &reading) else {
        isComplete = false
        continue
      }
      arguments.entries.append((parameter.name, Located(value, at: argument.span)))
    }
    return isComplete ? arguments : nil
  }

  // MARK: - Faults

  private static func fault(
    _ name: Located<String>, _ duration: Located<Interval>?, _ node: YAMLNode, _ reading: inout Reading
  ) -> TimelineEntry.Effect? {
    guard let kind = FaultKind(rawValue: name.value) else {
      let legal = FaultKind.allCases.map(\.rawValue)
      reading.reportUnknown(.unknownFault, "fault", name.value, among: legal, at: name.span, explain: "fault")
      return nil
    }
    let declaration = kind.declaration
    if let duration, !declaration.lasts {
      reading.report(.faultDoesNotLast, "\(name.value) is over at once, so it has no length", at: duration.span)
    }
    let parameters = declaration.parameters.map { ($0.name, $0.kind.format, $0.isRequired, $0.summary) }
    let what = "the fault \(name.value)"
    guard let arguments = arguments(of: what, parameters, node, at: name.span, &reading) else { return nil }
    var fault = Fault(kind: kind, arguments: arguments)
    fault.direction = arguments.text("direction").flatMap { Fault.Direction(rawValue: $0) }
    guard checkRanges(fault, node, &reading), checkServer(fault, &reading), checkRouter(fault, &reading)
    else { return nil }
    if kind.isOfSignalling {
      let peers = ["from", "to", "peer"].compactMap { arguments.text($0) }
      let message = arguments.text("message")
      let choice = CallServerResolution(reading.scope).choice(
        arguments.text("server"), of: peers, message: message, what: name.value,
        at: arguments.span(of: "server") ?? name.span, &reading)
      switch choice {
      case .server(let name): fault.callServer = name
      case .nobody: break
      case .refused: return nil
      }
    }
    let own = (node.entries ?? []).map(\.key).filter { !extraKeys(declaration.extras).contains($0) }
    switch declaration.extras {
    case .none: break
    case .impairments:
      guard let impairments = Topology.Impairments.type.decode(node, &reading, others: own) else { return nil }
      guard impairments != Topology.Impairments() else {
        guard !reading.hasError(in: node) else { return nil }
        reading.report(.missingKey, "link.set says nothing to set", at: name.span, hint: "for example loss: 5%")
        return nil
      }
      fault.impairments = impairments
    case .nat:
      guard let nat = NATDraft.behaviorType.decode(node, &reading, others: own) else { return nil }
      guard nat.kind != nil || !nat.parts.isEmpty else {
        guard !reading.hasError(in: node) else { return nil }
        reading.report(.missingKey, "nat.set says nothing to set", at: name.span, hint: "for example udp_idle: 20s")
        return nil
      }
      let base = arguments.text("network").flatMap { reading.scope.topology.network($0)?.nat } ?? Topology.NAT()
      let changed = nat.changing(base)
      if let problem = changed.problem ?? changed.problem(after: base) {
        let isKind = nat.kind != nil && changed.overloadsPorts != base.overloadsPorts
        let hint = isKind ? "name what changes, such as map and filter, instead of kind" : nil
        reading.report(.conflictingKeys, problem, at: name.span, hint: hint)
        return nil
      }
      fault.nat = nat
    }
    return .fault(fault, duration: duration?.value)
  }

  private static func checkRanges(_ fault: Fault, _ node: YAMLNode, _ reading: inout Reading) -> Bool {
    var isFine = true
    if case .byteSize(let size) = fault.arguments["larger_than"], size < 68 {
      let message = "every link carries packets of 68 bytes (RFC 791), so what is larger than \(size) B is all"
      reading.report(.outOfRange, message, at: fault.arguments.span(of: "larger_than") ?? node.span)
      isFine = false
    }
    if fault.arguments["nth"] != nil, let span = fault.arguments.span(of: "count") {
      let message = "'nth' says which packets are dropped, and so how many"
      reading.report(.conflictingKeys, message, at: span, hint: "leave count out")
      isFine = false
    }
    if fault.arguments["size"] == nil, let span = fault.arguments.span(of: "pause") {
      let message = "'pause' comes after a connection whose bytes are all there, and this one is without end"
      reading.report(.conflictingKeys, message, at: span, hint: "add size: 40kB")
      isFine = false
    }
    if fault.arguments["field"] == nil, let span = fault.arguments.span(of: "value") {
      let message = "'value' is what one field becomes"
      reading.report(.conflictingKeys, message, at: span, hint: "add field: the field's name or role")
      isFine = false
    }
    if let span = fault.arguments.span(of: "mutation"), let (problem, hint) = mutationProblem(fault, reading) {
      reading.report(.conflictingKeys, problem, at: span, hint: hint)
      isFine = false
    }
    if let problem = fieldProblem(fault, reading) {
      reading.report(.unknownMessage, problem, at: fault.arguments.span(of: "field") ?? node.span)
      isFine = false
    }
    let shortest = fault.kind == .linkFlap ? Interval.milliseconds(1) : .nanoseconds(1)
    for argument in fault.arguments.entries where fault.kind != .clockJump {
      guard case .duration(let interval) = argument.value.value, interval < shortest else { continue }
      let isNothing = interval <= .zero
      let message = isNothing ? "\(interval) is not longer than nothing" : "a link is down, and up, for 1 ms at least"
      reading.report(.outOfRange, message, at: argument.value.span)
      isFine = false
    }
    return isFine
  }

  /// Returns the reason for which a mutation does not go with the other arguments, and the remedy; else nil.
  private static func mutationProblem(_ fault: Fault, _ reading: Reading) -> (String, hint: String)? {
    guard let word = fault.arguments.text("mutation") else { return nil }
    if fault.arguments["value"] != nil { return ("'mutation' says what becomes of the field", "leave value out") }
    let needsField = MessageMutation.fieldWords.contains(word)
    guard needsField == (fault.arguments["field"] != nil) else {
      return needsField
        ? ("'\(word)' is of one field", "add field: the field's name or role")
        : ("'\(word)' is not of one field", "leave field out")
    }
    // A field that no message has is reported at its own place.
    guard !needsField, let mutation = MessageMutation(word: word, field: nil) else { return nil }
    let name = fault.arguments.text("message")
    guard !reading.messages.contains(where: { (name == nil || $0.name == name) && $0.admits(mutation) }) else {
      return nil
    }
    let part = mutation.role?.rawValue ?? "part"
    return ("\(name ?? "no message") has no \(part) that '\(word)' can change", "name a message that has one")
  }

  /// Returns the reason for which no message has the field of a fault, or the field cannot have the value; else nil.
  private static func fieldProblem(_ fault: Fault, _ reading: Reading) -> String? {
    guard let field = fault.arguments.text("field") else { return nil }
    let name = fault.arguments.text("message")
    let fields = reading.messages.filter { name == nil || $0.name == name }.compactMap { $0.field(field) }
    guard !fields.isEmpty else { return "\(name ?? "no message") has no field '\(field)'" }
    guard let value = fault.arguments.text("value") else { return nil }
    return fields.contains { $0.type.value(value) != nil } ? nil : "'\(value)' is no value of the field '\(field)'"
  }

  private static func checkServer(_ fault: Fault, _ reading: inout Reading) -> Bool {
    guard let name = fault.arguments.text("server"), let span = fault.arguments.span(of: "server"),
      let server = reading.scope.servers.first(where: { $0.name == name })
    else { return true }
    guard !fault.kind.isOfSignalling else { return true }
    let wanted: [Topology.Server.Kind] = fault.kind == .stunSilent ? [.stun, .turn] : [.turn]
    guard wanted.contains(server.kind) else {
      let message =
        "\(name) is a \(server.kind.word) server, and \(fault.kind.rawValue) needs a \(wanted[0].word) server"
      reading.report(.wrongServerKind, message, at: span)
      return false
    }
    if fault.kind == .turnCertificate, !server.transports.contains(.tls) {
      let message = "no client of \(name) is shown a certificate: it is not reached by TLS"
      reading.report(.wrongTransport, message, at: span, hint: "give it transports: [udp, tls]")
      return false
    }
    guard fault.kind != .turnDisconnect || server.transports != [.udp] else {
      let message = "no client of \(name) has a connection to reset: it is reached by UDP alone"
      reading.report(.wrongTransport, message, at: span, hint: "give it transports: [udp, tcp]")
      return false
    }
    return true
  }

  /// Checks that the router of a fault has the function that the fault affects.
  private static func checkRouter(_ fault: Fault, _ reading: inout Reading) -> Bool {
    guard let name = fault.arguments.text("network"), let span = fault.arguments.span(of: "network"),
      let network = reading.scope.topology.network(name)
    else { return true }
    switch fault.kind {
    case .natReboot, .natExpire, .natRemap, .natSet:
      guard network.nat == nil else { return checkAddress(fault, of: network, &reading) }
      guard !reading.hasError(at: "topology", "networks", name) else { return false }
      let message = "\(name) has no NAT, and \(fault.kind.rawValue) needs one"
      reading.report(.wrongRouter, message, at: span, hint: "give \(name) the key nat")
      return false
    case .firewallBlock, .firewallAllow:
      guard network.uplink == nil else { return true }
      let message = "no router leads out of \(name), and \(fault.kind.rawValue) needs one"
      reading.report(.wrongRouter, message, at: span, hint: "give \(name) the key to, or nat")
      return false
    case .linkMove:
      guard let link = reading.scope.topology.link(fault.arguments.text("link") ?? ""),
        reading.scope.topology.network(link.from.value) != nil
      else { return true }
      let message = "\(link.name) is the uplink of \(link.from.value), and link.move needs the link of a host"
      reading.report(.linkWithoutPeer, message, at: fault.arguments.span(of: "link") ?? span)
      return false
    case .linkDown, .linkUp, .linkSet, .linkFlap, .linkBlackhole, .linkOneWay, .turnRestart, .turnDeny,
      .turnStaleNonce, .turnReject, .turnExpirePermissions, .turnExpireChannels, .turnDisconnect,
      .turnCertificate, .stunSilent,
      .signalDrop, .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect,
      .signalBlackhole, .dtlsDrop, .dtlsFail, .dataChannelFail, .packetDrop, .packetForge, .clockJump, .deviceAudioLate,
      .deviceEventsLate,
      .deviceBackground, .deviceInactive, .deviceSuspend, .devicePhoneCall, .deviceAudioInterruption,
      .deviceKill, .deviceMemoryPressure, .deviceRouteChange, .deviceCameraInterruption, .deviceTraffic:
      return true
    }
  }

  /// Checks that the NAT can have the outside address that `nat.reboot` names.
  private static func checkAddress(_ fault: Fault, of network: Topology.Network, _ reading: inout Reading) -> Bool {
    guard let text = fault.arguments.text("address"), text != "new", let span = fault.arguments.span(of: "address"),
      let outside = network.uplink.flatMap({ reading.scope.topology.network($0.value) })
    else { return true }
    if let address = IPAddress(text), !address.isIPv6,
      outside.prefixes.contains(where: { $0.value.contains(address) })
    {
      return true
    }
    let prefixes = outside.prefixes.map(\.value).filter { !$0.address.isIPv6 }.map(\.description)
    let message = "'\(text)' is no IPv4 address of \(outside.name) (\(prefixes.joined(separator: ", ")))"
    reading.report(.wrongRouter, message, at: span, hint: "write new for any other address")
    return false
  }

  // MARK: - Send and clear

  private static func send(
    _ message: Located<String>, _ node: YAMLNode, _ reading: inout Reading
  ) -> TimelineEntry.Effect? {
    let peer = ValueFormat<Located<String>>.peer
    guard let fromNode = node["from"], let toNode = node["to"] else {
      let missing = node["from"] == nil ? "from" : "to"
      reading.report(.missingKey, "'send' needs the key '\(missing)'", at: message.span)
      return nil
    }
    let from = peer.decode(fromNode, &reading)
    let to = peer.decode(toNode, &reading)
    guard let from, let to else { return nil }
    guard reading.scope.peer(to.value)?.isPuppet != true else {
      let message = "'send' reaches nothing: \(to.value) is a puppet, which has no app"
      reading.report(.conflictingKeys, message, at: to.span, hint: "name a peer with an app")
      return nil
    }
    let legal = reading.scope.peer(to.value)?.vocabulary.profile?.messages.map(\.name) ?? []
    guard legal.isEmpty || legal.contains(message.value) else {
      reading.reportUnknown(.unknownMessage, "message type", message.value, among: legal, at: message.span)
      return nil
    }
    var raw = RawMessage(type: message.value, from: from.value, to: to.value)
    guard readModel(of: &raw, node, &reading) else { return nil }
    if let node = node["fields"] {
      guard let named = ValueFormat<Value>.anyOrList.named.decode(node, &reading) else { return nil }
      raw.fields.entries = named.map { ($0.name, Located($0.value, at: $0.span)) }
      checkFields(raw, &reading)
    }
    var written: Located<String>?
    if let node = node["server"] {
      guard let name = ValueFormat<Located<String>>.server.decode(node, &reading) else { return nil }
      written = name
    }
    let choice = CallServerResolution(reading.scope).choice(
      written?.value, of: [to.value], message: message.value, what: "send", at: written?.span ?? message.span, &reading)
    switch choice {
    case .server(let name):
      let (own, other) = (
        reading.scope.peer(to.value)?.profile, reading.scope.servers.first { $0.name == name }?.profile?.value
      )
      guard own == nil || other == nil || own == other else {
        let message = "'send' reaches nothing: \(name) is a server of \(other ?? ""), and \(to.value) has \(own ?? "")"
        reading.report(.wrongServerKind, message, at: written?.span ?? node.span, hint: "name a server of its product")
        return nil
      }
      raw.server = name
    case .nobody: break
    case .refused: return nil
    }
    return .send(raw)
  }

  /// Warns of a field that is probably misspelt. Others may be anything: a raw message need not be correct.
  private static func checkFields(_ raw: RawMessage, _ reading: inout Reading) {
    let declaration = reading.scope.peer(raw.to)?.vocabulary.profile?.message(raw.type)
    guard let fields = declaration?.fields else { return }
    for entry in raw.fields.entries where !fields.contains(where: { $0.name == entry.name }) {
      if let field = declaration?.field(entry.name)?.name {
        let owner = field.prefix { $0 != "." }
        reading.report(
          .unknownMessage, "\(raw.type) has no field '\(entry.name)': that is the role of '\(field)'",
          at: entry.value.span,
          hint: owner == field ? "write \(field)" : "write \(owner), with the JSON of all its members")
        continue
      }
      guard let field = Suggestion.nearest(to: entry.name, among: fields.map(\.name)) else { continue }
      reading.report(
        .undeclaredField, "\(raw.type) has no field '\(entry.name)'", at: entry.value.span,
        hint: "did you mean '\(field)'?")
    }
  }

  /// Reads the message from which `send` takes fields.
  ///
  /// - Returns: false after an error was reported.
  private static func readModel(of raw: inout RawMessage, _ node: YAMLNode, _ reading: inout Reading) -> Bool {
    if let like = node["like"] {
      guard case .text(let type)? = ValueFormat<Value>.message.decode(like, &reading) else { return false }
      raw.like = type
    }
    if let number = node["number"] {
      guard let count = ValueFormat<Int>.count(1...256).decode(number, &reading) else { return false }
      guard raw.like != nil else {
        reading.report(
          .conflictingKeys, "'number' says which message of 'like' gives the fields", at: number.span,
          hint: "add like: the type of that message")
        return false
      }
      raw.number = count
    }
    return true
  }

  private static func clear(_ entry: Located<String>, _ reading: inout Reading) -> TimelineEntry.Effect? {
    let faults = reading.scope.entries.filter { $0.fault != nil }.map(\.id)
    guard let target = reading.scope.entries.first(where: { $0.id == entry.value }), let fault = target.fault else {
      let named = faults.filter { !$0.hasPrefix("#") }
      reading.reportUnknown(.unknownEntry, "entry with a fault", entry.value, among: named, at: entry.span)
      return nil
    }
    guard fault.declaration.lasts else {
      reading.report(.faultDoesNotLast, "\(fault.rawValue) is over at once, so it cannot be cleared", at: entry.span)
      return nil
    }
    reading.scope.used.insert("entry \(entry.value)")
    return .clear(entry: entry)
  }
}

extension ValueFormat where Value == ScenarioFormat.Value {
  /// Reads any scalar, or a list of scalars.
  static var anyOrList: ValueFormat<ScenarioFormat.Value> {
    let list = any.list()
    return ValueFormat(.either([.anyScalar, list.shape])) { node, reading in
      node.items == nil ? any.decode(node, &reading) : list.decode(node, &reading).map { .list($0) }
    } encode: {
      $0.node
    }
  }
}
