import CallCore
import Vocabulary

/// Decodes the timeline once the names of a cell are known.
enum TimelineReader {
  static let effects = ["do", "fault", "send", "clear", "mark"]

  static func entries(_ node: YAMLNode, _ reading: inout Reading) -> [TimelineEntry] {
    guard let items = node.items else {
      reading.report(.wrongNode, "expected a list of entries, found \(node.description)", at: node.span)
      return []
    }
    return items.enumerated().compactMap { number, item in entry(item, number: number, &reading) }
  }

  /// Collects the ids before they are referred to. Entries without an id are `#n`.
  static func collectIDs(_ node: YAMLNode?, _ reading: inout Reading) {
    var places: [(id: String, span: SourceSpan)] = []
    for (number, item) in (node?.items ?? []).enumerated() {
      let fault = item["fault"]?.scalar.flatMap { FaultKind(rawValue: $0.text) }
      let hasEffect = Self.effects.contains { item[$0] != nil }
      if let id = item["id"]?.scalar?.text, fault == nil, item["fault"] != nil || !hasEffect {
        reading.scope.unreadEntries.insert(id)
      }
      guard let id = item["id"] ?? item["mark"], let text = id.scalar?.text else {
        reading.scope.entries.append(("#\(number + 1)", fault))
        continue
      }
      if let first = places.first(where: { $0.id == text }) {
        let message = "the id '\(text)' is taken by the entry at \(first.span.line):\(first.span.column)"
        reading.report(.duplicateID, message, at: id.span)
      }
      reading.refuse(text, meaning: ReservedName.anchor(text, peers: reading.scope.peers.map(\.name)), at: id.span)
      places.append((text, id.span))
      reading.scope.entries.append((text, fault))
    }
    for (number, item) in (node?.items ?? []).enumerated() where item["id"] == nil && item["mark"] == nil {
      guard let other = places.first(where: { $0.id == "#\(number + 1)" }) else { continue }
      let message = "the id '\(other.id)' is that of the entry at \(item.span.line):\(item.span.column), by its place"
      reading.report(.duplicateID, message, at: other.span, hint: "give that entry an id")
    }
  }

  private static func entry(_ node: YAMLNode, number: Int, _ reading: inout Reading) -> TimelineEntry? {
    guard let entries = node.entries else {
      reading.report(
        .wrongNode, "expected an entry with a trigger and an effect, found \(node.description)", at: node.span)
      return nil
    }
    let effectKeys = entries.filter { Self.effects.contains($0.key) }
    let others =
      effectKeys.isEmpty
      ? EntryDraft.effectKeys(reading.registry).map(\.name) : EffectReader.keyNames(of: node, &reading)
    let fault = node["fault"]?.scalar.flatMap { FaultKind(rawValue: $0.text) }
    let draft = EntryDraft.type.decode(node, &reading, others: others, topic: fault?.rawValue)
    guard effectKeys.count == 1 else {
      let missing = "the effect is missing: \(Self.effects.joined(separator: ", "))"
      if effectKeys.isEmpty, reading.excuses(entries, missing: missing) { return nil }
      let found = effectKeys.isEmpty ? "none" : effectKeys.map { "'\($0.key)'" }.joined(separator: " and ")
      let span = effectKeys.dropFirst().first?.keySpan ?? node.span
      reading.report(
        .effectCount, "an entry has one effect (\(Self.effects.joined(separator: ", "))); found \(found)", at: span)
      return nil
    }
    guard let draft else { return nil }
    if let mark = draft.mark, let id = draft.id {
      let message = "'mark' names the entry, so that it has no 'id' besides"
      reading.report(.conflictingKeys, message, at: id.span, hint: "leave out id, and write mark: \(mark.value)")
    }
    let trigger = trigger(draft, node, entries, &reading)
    let effect = EffectReader.effect(draft, node, &reading)
    guard let trigger, let effect else { return nil }
    var entry = TimelineEntry()
    entry.id = draft.id?.value ?? draft.mark?.value ?? "#\(number + 1)"
    entry.trigger = trigger
    entry.effect = effect
    entry.refusal = draft.refusal?.value ?? .none
    entry.isControl = draft.isControl
    entry.why = draft.why
    entry.span = draft.id?.span ?? draft.mark?.span ?? node.span
    return entry
  }

  // MARK: - Triggers

  private static func trigger(
    _ draft: EntryDraft, _ node: YAMLNode, _ entries: [YAMLNode.Entry], _ reading: inout Reading
  ) -> TimelineEntry.Trigger? {
    let names = ["at", "when", "every"].filter { name in entries.contains { $0.key == name } }
    let isAfter = draft.after != nil && draft.when == nil
    let all = names + (isAfter ? ["after"] : [])
    guard all.count == 1, let name = all.first else {
      if all.isEmpty, reading.excuses(entries, missing: "the trigger is missing: at, after, when, every") { return nil }
      let found = all.isEmpty ? "none" : all.map { "'\($0)'" }.joined(separator: " and ")
      let second = entries.filter { all.contains($0.key) }.dropFirst().first
      let hint = all.isEmpty ? "for example at: 0s" : nil
      let message = "an entry has one trigger (at, after, when, every); found \(found)"
      reading.report(.triggerCount, message, at: second?.keySpan ?? node.span, hint: hint)
      return nil
    }
    guard !refusesStrayKeys(of: name, entries, &reading) else { return nil }
    switch name {
    case "at": return draft.at.map { .at(.zero + $0.value) }
    case "when":
      return draft.when.map { .when($0, delay: draft.after?.value ?? .zero, times: draft.times?.value ?? 1) }
    case "every":
      return draft.every.map { .every($0.value, from: draft.of, until: draft.until, times: draft.times?.value) }
    default:
      guard let after = draft.after else { return nil }
      guard let of = draft.of else {
        reading.report(
          .missingKey, "'after' needs the key 'of': what it comes after", at: after.span, hint: "or write at:")
        return nil
      }
      return .after(after.value, of: of)
    }
  }

  private static func refusesStrayKeys(
    of trigger: String, _ entries: [YAMLNode.Entry], _ reading: inout Reading
  ) -> Bool {
    let legal: [String] =
      switch trigger {
      case "when": ["after", "times"]
      case "every": ["of", "until", "times"]
      case "after": ["of"]
      default: []
      }
    let stray = entries.filter {
      ["after", "of", "until", "times"].contains($0.key) && $0.key != trigger && !legal.contains($0.key)
    }
    for entry in stray {
      reading.report(.conflictingKeys, "'\(entry.key)' does not go with the trigger '\(trigger)'", at: entry.keySpan)
    }
    return !stray.isEmpty
  }
}
