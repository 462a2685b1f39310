/// Advice about unused names and scenarios without expectations.
enum Lint {
  static func check(_ scenario: Scenario, _ draft: DocumentDraft, _ root: YAMLNode, _ reading: inout Reading) {
    // With errors elsewhere, a name may only appear unused.
    guard !reading.diagnostics.contains(where: { $0.code.severity == .error }) else { return }
    for entry in draft.definitions?.entries ?? [] where !reading.scope.used.contains("definition \(entry.key)") {
      reading.report(.unusedDefinition, "the definition '\(entry.key)' is used nowhere", at: entry.keySpan)
    }
    for network in draft.topology.networks
    where network.name != TopologyBuilder.internet && !reading.scope.used.contains("network \(network.name)") {
      reading.report(.unusedName, "nobody is on the network '\(network.name)'", at: network.span)
    }
    if draft.expectations?.items?.isEmpty ?? true, !scenario.expectsInvariantsOnly {
      let span = root.entry("expect")?.keySpan ?? root.span
      reading.report(.nothingExpected, "the scenario expects nothing", at: span)
    }
  }
}
