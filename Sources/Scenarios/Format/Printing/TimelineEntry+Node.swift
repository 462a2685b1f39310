import CallCore

extension TimelineEntry {
  /// Returns the node of the entry at an index of the timeline, from which its default id is made.
  func node(number: Int) -> YAMLNode {
    let entries = EntryDraft.type.entries(of: draft(number: number))
    // The arguments follow the key of the effect.
    let end = entries.firstIndex { TimelineReader.effects.contains($0.key) }.map { $0 + 1 } ?? entries.count
    return .mapping(Array(entries[..<end]) + arguments + Array(entries[end...]))
  }

  private func draft(number: Int) -> EntryDraft {
    var draft = EntryDraft()
    if id != "#\(number + 1)" { draft.id = Located(id) }
    switch trigger {
    case .at(let time): draft.at = Located(time - .zero)
    case .after(let delay, let anchor):
      draft.after = Located(delay)
      draft.of = anchor
    case .when(let predicate, let delay, let times):
      draft.when = predicate
      draft.after = delay == .zero ? nil : Located(delay)
      draft.times = times == 1 ? nil : Located(times)
    case .every(let period, let from, let until, let times):
      draft.every = Located(period)
      draft.of = from
      draft.until = until
      draft.times = times.map { Located($0) }
    }
    switch effect {
    case .action(let peer, let name, _): draft.action = Located("\(peer).\(name)")
    case .fault(let fault, let duration):
      draft.fault = Located(fault.kind.rawValue)
      draft.duration = duration.map { Located($0) }
    case .send(let message): draft.message = Located(message.type)
    case .clear(let entry): draft.clear = entry
    case .mark:
      draft.mark = Located(id)
      draft.id = nil
    }
    draft.refusal = refusal == .none ? nil : Located(refusal)
    draft.isControl = isControl
    draft.why = why
    return draft
  }

  private var arguments: [(key: String, value: YAMLNode)] {
    switch effect {
    case .action(_, _, let arguments): return arguments.nodes
    case .fault(let fault, _):
      return fault.arguments.nodes
        + (fault.impairments.map { Topology.Impairments.type.entries(of: $0) } ?? [])
        + (fault.nat.map { NATDraft.behaviorType.entries(of: $0) } ?? [])
    case .send(let message):
      return [("from", .text(message.from)), ("to", .text(message.to))]
        + (message.server.map { [("server", .text($0))] } ?? [])
        + (message.like.map { [("like", .text($0))] } ?? [])
        + (message.number.map { [("number", .plain("\($0)"))] } ?? [])
        + (message.fields.isEmpty ? [] : [("fields", .mapping(message.fields.nodes))])
    case .clear, .mark: return []
    }
  }
}

extension Arguments {
  fileprivate var nodes: [(key: String, value: YAMLNode)] { entries.map { ($0.name, $0.value.value.node) } }
}

extension Expectation {
  /// Returns the node of the expectation at an index of `expect`, from which its default id is made.
  func node(number: Int) -> YAMLNode {
    var header = ExpectationHeader()
    if id != "#\(number + 1)" { header.id = Located(id) }
    header.severity = severity
    header.share = share.map { ShareDraft(bounds: BoundsDraft($0)) }
    header.why = why
    let own = ExpectationVariant.all.lazy.compactMap { $0.encode(kind) }.first ?? []
    let entries = ExpectationHeader.type.entries(of: header)
    return .mapping(entries.filter { $0.key == "id" } + own + entries.filter { $0.key != "id" })
  }
}

extension BoundsDraft {
  init(_ bounds: [Expectation.Bound]) {
    for bound in bounds {
      let node = bound.value.node
      switch bound.comparison {
      case .less: less = node
      case .lessOrEqual: lessOrEqual = node
      case .greater: greater = node
      case .greaterOrEqual: greaterOrEqual = node
      case .equal: equal = node
      // Files have no bound with `!=`.
      case .notEqual: break
      }
    }
  }
}
