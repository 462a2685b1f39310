/// Advice about keys in a peer's mapping that belong to a nested mapping, a link or a network.
enum MisplacedPeerKey {
  /// Returns the place where the key belongs; nil when it is unknown there, too.
  static func place(of entry: YAMLNode.Entry, _ reading: Reading) -> KeyPlace? {
    let key = entry.key
    let below: [(name: String, keys: [String])] = [
      ("ice", Scenario.ICESettings.type.keyNames), ("audio", Scenario.Audio.type.keyNames),
      ("devices", Scenario.Devices.type.keyNames), ("dtls", Scenario.DTLSSettings.type.keyNames),
      ("clock", Scenario.Clock.type.keyNames),
    ]
    let said = "\(key): \(entry.value.flowItem)"
    if let place = below.first(where: { $0.keys.contains(key) })?.name {
      return KeyPlace(hint: "write \(place): { \(said) }", topic: "peer")
    }
    if reading.registry.hasSetting(key) {
      return KeyPlace(hint: "write settings: { \(said) }", topic: "settings")
    }
    if Topology.Impairments.type.keyNames.contains(key) {
      let hint = "a link has it: topology: { links: { line: { from: PEER, to: NETWORK, \(said) } } }"
      return KeyPlace(hint: hint, topic: "link")
    }
    guard ["nat", "firewall", "isolated"].contains(key) else { return nil }
    let hint = "a network has it: topology: { networks: { home: { profile: wifi, \(key): … } } }"
    return KeyPlace(hint: hint, topic: "network")
  }
}
