/// Advice about keys of audio that only a real encoder reads.
enum MediaChecks {
  private static let ofEncoder = ["complexity", "packet_loss_hint"]

  /// - Parameter root: the scenario with its peers as they are, whatever file their keys stand in.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for peer in scenario.peers {
      let audio = root["peers"]?[peer.name]?["audio"]
      for key in ofEncoder {
        // A peer of another file may be used with real media elsewhere.
        guard let span = audio?.entry(key)?.keySpan, span.file == 0 else { continue }
        let problem = "'\(key)' changes nothing: synthetic media have no encoder; write media: real"
        reading.note(fault: scenario.media == .synthetic ? problem : nil, key: key, at: span)
      }
    }
  }
}
