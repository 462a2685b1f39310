extension ProfileVocabulary {
  /// The contradictions in the declaration, in its order; empty if the profile can run.
  public var misfits: [Misfit] {
    var all: [Misfit] = []
    if profile.isEmpty {
      all.append(Misfit(.profile, "it has no name", remedy: "give profile: the name that scenarios use"))
    }
    all += machineMisfits
    all += actionMisfits
    for message in messages { all += message.misfits }
    all += codeMisfits
    all += serverMisfits
    all += connectionMisfits
    all += nameMisfits
    return all
  }

  /// Throws an ``UnfitProfile`` if the declaration has misfits.
  public func check() throws(UnfitProfile) {
    let found = misfits
    if !found.isEmpty { throw UnfitProfile(profile, found) }
  }

  // MARK: Machines

  private var machineMisfits: [Misfit] {
    if let main = mainMachine, main.scope != .peer {
      return [Misfit(.machine(main.name), "it is the main one, and not of the peer", remedy: "leave of: out")]
    }
    guard let main = mainMachine else {
      let problem = "it has no state machine, so nobody sees whether a call stands"
      return [Misfit(.profile, problem, remedy: "declare one in machines: whose states have roles")]
    }
    return machines.flatMap(Self.misfits) + mainMisfits(main)
  }

  private static func misfits(_ machine: StateMachine) -> [Misfit] {
    let names = machine.states.map(\.name)
    var all = repeated(names).map {
      Misfit(.state($0, of: machine.name), "it is declared twice", remedy: "leave one of the two out")
    }
    for transition in machine.transitions {
      for name in [transition.from, transition.to] where !names.contains(name) {
        let problem = "the transition \(transition.from) > \(transition.to) names it, and it is not declared"
        all.append(Misfit(.state(name, of: machine.name), problem, remedy: "add it to states:"))
      }
    }
    return all
  }

  private func mainMisfits(_ main: StateMachine) -> [Misfit] {
    var all: [Misfit] = []
    for state in main.states where state.role == nil {
      let roles = StateMachine.Role.allCases.map { ".\($0)" }.joined(separator: ", ")
      let place = Misfit.Place.state(state.name, of: main.name)
      all.append(Misfit(place, "it has no role", remedy: "write as: with one of \(roles)"))
    }
    guard all.isEmpty else { return all }
    let place = Misfit.Place.machine(main.name)
    if let first = main.states.first, first.role != .idle {
      let problem = "it begins in \(first.name), which is not idle"
      all.append(Misfit(place, problem, remedy: "put the state with as: .idle first"))
    }
    let reachable = main.reachable
    let connected = main.states.filter { $0.role == .connected }
    if connected.isEmpty {
      let problem = "no state is connected"
      all.append(Misfit(place, problem, remedy: "give the state in which media may flow as: .connected"))
    }
    for state in main.states where !reachable.contains(state.name) {
      let problem = "no transition leads to it from \(main.states[0].name)"
      all.append(Misfit(.state(state.name, of: main.name), problem, remedy: "add it to transitions:, or leave it out"))
    }
    return all
  }

  // MARK: Actions

  private var actionMisfits: [Misfit] {
    var all = Self.repeated(actions.map(\.name)).map {
      Misfit(.action($0), "it is declared twice", remedy: "leave one of the two out")
    }
    for action in actions {
      all += parameterMisfits(of: action)
      if let (problem, remedy) = loneliness(of: action.role) {
        all.append(Misfit(.action(action.name), problem, remedy: remedy))
      }
    }
    return all
  }

  private func parameterMisfits(of action: ActionDeclaration) -> [Misfit] {
    let wanted: (name: String, type: ValueType, word: String)
    switch action.role {
    case .begin(let name?): wanted = (name, .peer, "peer")
    case .join(let name?): wanted = (name, .text, "text")
    default: return []
    }
    guard let parameter = action.parameters.first(where: { $0.name == wanted.name }) else {
      let problem = "its role names the parameter '\(wanted.name)', which it has not"
      return [Misfit(.action(action.name), problem, remedy: "declare it with the type .\(wanted.word)")]
    }
    let isOfSeveral = wanted.type == .peer && parameter.type == .peers
    guard parameter.type != wanted.type, !isOfSeveral else { return [] }
    let problem = "its role takes '\(wanted.name)' for a \(wanted.word), and it is no \(wanted.word)"
    return [Misfit(.action(action.name), problem, remedy: "give the parameter the type .\(wanted.word)")]
  }

  /// Returns the missing counterpart of an action: accepting is impossible where no action begins a call.
  private func loneliness(of role: ActionDeclaration.Role?) -> (problem: String, remedy: String)? {
    let roles = actions.compactMap(\.role)
    let begins = roles.contains { if case .begin = $0 { true } else { false } }
    let joins = roles.contains { if case .join = $0 { true } else { false } }
    // An invitation to a room is no state of the app's where it rings in the system's call UI.
    let ringsInCallKit = joins && settings.contains { $0.role == .usesCallKit }
    let beginning = "add an action with as: .begin(with: PARAMETER)"
    switch role {
    case .accept where ringsInCallKit, .refuse where ringsInCallKit: return nil
    case .accept where !begins: return ("it accepts, and no action begins a call", beginning)
    case .refuse where !begins: return ("it refuses, and no action begins a call", beginning)
    case .accept where mainMachine?.states.contains { $0.role == .alerting } == false:
      return ("it accepts, and nothing ever rings", "give the state in which it rings as: .alerting")
    case .begin where !roles.contains(.end):
      return ("it begins a call that no action ends", "add an action with as: .end")
    case .end where !begins: return ("it ends a call, and no action begins one", beginning)
    case .leave where !joins:
      return ("it leaves a room, and no action joins one", "add an action with as: .join(room:)")
    case .join where !roles.contains(.leave):
      return ("it joins a room that no action leaves", "add an action with as: .leave")
    case .unmute where !roles.contains(.mute):
      return ("it takes back a mute, and no action mutes", "add an action with as: .mute")
    case .begin, .accept, .refuse, .end, .join, .leave, .mute, .unmute, .restartICE, .switchCamera, .shareScreen, nil:
      return nil
    }
  }

  // MARK: Servers and connections

  private var serverMisfits: [Misfit] {
    guard !servers.isEmpty else {
      return [Misfit(.profile, "it has no server", remedy: "leave servers: out, or declare the one that clients reach")]
    }
    var all = Self.repeated(servers.map(\.name)).map {
      Misfit(.server($0), "it is declared twice", remedy: "leave one of the two out")
    }
    all += servers.filter { ["stun", "turn", ""].contains($0.name) }.map {
      Misfit(.server($0.name), "scenarios mean something else by that kind", remedy: "call it otherwise")
    }
    return all
  }

  private var connectionMisfits: [Misfit] {
    guard case .named(let names) = connections else { return [] }
    var all = Self.repeated(names).map {
      Misfit(.connection($0), "it is declared twice", remedy: "leave one of the two out")
    }
    if names.isEmpty {
      all.append(Misfit(.profile, "its connections have no names", remedy: "write connections: .single, or name them"))
    }
    all += names.filter { $0.isEmpty || $0.contains { ". /()".contains($0) } }.map {
      let problem = "a predicate cannot name it"
      return Misfit(.connection($0), problem, remedy: "use letters, digits and hyphens")
    }
    return all
  }

  // MARK: Codes and names

  private var codeMisfits: [Misfit] {
    let blames = CodeDeclaration.Blame.allCases.map { ".\($0)" }.joined(separator: ", ")
    var all = Self.repeated(endCodes.map(\.name)).map {
      Misfit(.endCode($0), "it is declared twice", remedy: "leave one of the two out")
    }
    all += endCodes.filter { $0.blame == nil }.map {
      Misfit(.endCode($0.name), "it does not say who ended the call", remedy: "write blames: with one of \(blames)")
    }
    all += endCodes.filter { $0.isRefusal && $0.blame != .other && $0.blame != nil }.map {
      Misfit(.endCode($0.name), "it is a refusal that does not blame the other side", remedy: "write blames: .other")
    }
    all += Self.repeated(errorCodes.map(\.name)).map {
      Misfit(.errorCode($0), "it is declared twice", remedy: "leave one of the two out")
    }
    return all
  }

  /// The names with two meanings, or with the name of a value of every peer.
  private var nameMisfits: [Misfit] {
    let common = Set(CommonVocabulary.values.map(\.name)).union(CommonVocabulary.machines.map(\.name))
    var places: [(Misfit.Place, String)] = machines.map { (.machine($0.name), $0.name) }
    places += values.map { (.value($0.name), $0.name) }
    if !events.isEmpty { places.append((.value(CallbackVocabulary.last), CallbackVocabulary.last)) }
    var all = places.filter { common.contains($0.1) }.map { place, _ in
      Misfit(place, "every peer has a value of that name", remedy: "call it otherwise")
    }
    all += Self.repeated(places.map(\.1)).map {
      Misfit(.value($0), "it is declared twice", remedy: "leave one of the two out")
    }
    all += actions.filter { action in CommonVocabulary.actions.contains { $0.name == action.name } }.map {
      Misfit(.action($0.name), "every peer has an action of that name", remedy: "call it otherwise")
    }
    all += Self.repeated(settings.map(\.name)).map {
      Misfit(.setting($0), "it is declared twice", remedy: "leave one of the two out")
    }
    all += settings.filter { $0.role == .restartsICE && $0.type != .flag }.map {
      Misfit(.setting($0.name), "it says whether ICE is restarted, and is no flag", remedy: "give it the type .flag")
    }
    let flags = values.filter { $0.type == .flag }.map(\.name)
    all += values.compactMap { value in
      guard let shown = value.shown, ![.flag, .peers].contains(value.type) || !flags.contains(shown) else { return nil }
      return Misfit(
        .value(value.name), "it shows '\(shown)', and not both are flags",
        remedy: "declare both as .flag, or this one as .peers")
    }
    let taken = Set(places.map(\.1)).union(common).union(CommonVocabulary.events.map(\.name))
    let names = events.map(\.name)
    all += (names.filter { taken.contains($0) } + Self.repeated(names)).map {
      Misfit(.event($0), "something else has that name", remedy: "call it otherwise")
    }
    all += Self.repeated(messages.map(\.name)).map {
      Misfit(.message($0), "it is declared twice", remedy: "leave one of the two out")
    }
    return all
  }

  /// Returns the names that occur more than once, each once, in order.
  static func repeated(_ names: [String]) -> [String] {
    var seen: [String: Int] = [:]
    return names.filter { name in
      seen[name, default: 0] += 1
      return seen[name] == 2
    }
  }
}
