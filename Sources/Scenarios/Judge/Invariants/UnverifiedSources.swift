internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// A packet from an address that no check has verified changes no state of a connection (RFC 8827 section 6.5): whoever
/// is on the network can send one.
final class UnverifiedSources {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    let forges = context.scenario.timeline.contains { $0.fault?.kind == .packetForge }
    guard forges else { return }
    let watch = context.watch
    let sources = [false, true].map { PacketForgery.source(isIPv6: $0) }
    for peer in context.scenario.peers {
      var newest: EventNumber?
      watch.listen(to: NetworkEvents.packetDelivered, of: peer.name) { record, _, from, _, _ in
        if sources.contains(from) { newest = record.number }
      }
      for subject in peer.connectionSubjects {
        for machine in [
          PeerConnectionEvents.iceState, PeerConnectionEvents.dtlsState, PeerConnectionEvents.connectionState,
        ] {
          watch.listen(to: machine, of: subject) { record, state, old in
            guard let newest, record.cause == newest, state != old else { return }
            let actual =
              "a packet of an unverified address moved \(subject)'s \(machine.name) from \(old) to \(state) at "
              + Wording.time(record.time)
            report(Violation(.unverifiedSources, at: record.time, actual: actual))
          }
        }
      }
    }
  }
}
