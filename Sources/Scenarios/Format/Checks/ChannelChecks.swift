/// Checks that arms which are paired by channel meet one: nothing of it may count packets, of which they may send more or
/// fewer.
enum ChannelChecks {
  /// What media come in. A relay has them in packets of TURN and records of TLS.
  private static let media = ["rtp", "rtcp", "turn", "tls"]

  static func check(_ scenario: Scenario, _ reading: inout Reading) {
    guard scenario.arms?.pairing == .channel else { return }
    for link in scenario.topology.links where [link.transmit, link.receive].contains(where: countsPackets) {
      reportScript("the link '\(link.name)'", at: link.span, &reading)
    }
    for entry in scenario.timeline {
      guard let fault = entry.fault else { continue }
      if let impairments = fault.impairments, countsPackets(impairments) {
        reportScript(fault.kind.rawValue, at: entry.span, &reading)
      }
      guard media.contains(fault.arguments.text("protocol") ?? "") else { continue }
      for key in ["nth", "count"] {
        guard let span = fault.arguments.span(of: key) else { continue }
        report("'\(key)' counts", at: span, hint: "give the fault a length with 'for'", &reading)
      }
    }
  }

  private static func countsPackets(_ impairments: Topology.Impairments) -> Bool {
    if case .packets? = impairments.loss { true } else { false }
  }

  private static func reportScript(_ place: String, at span: SourceSpan, _ reading: inout Reading) {
    report("the losses of \(place) count", at: span, hint: "give times in place of packets", &reading)
  }

  private static func report(_ what: String, at span: SourceSpan, hint: String, _ reading: inout Reading) {
    reading.report(
      .conflictingKeys, "\(what) packets, of which arms may send more or fewer, so that nothing is paired", at: span,
      hint: hint + ", or write pair_by: seed")
  }
}
