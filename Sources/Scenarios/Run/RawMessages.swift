internal import CallCore
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer

/// Follows raw messages from their servers to the devices of their addressees: one that does not arrive tests nothing.
final class RawMessages {
  private final class Sent {
    let entry: TimelineEntry
    let message: RawMessage
    let delivery: RawDelivery
    var arrivedAt: Instant?
    var hasArrived: Bool { arrivedAt != nil }

    init(_ entry: TimelineEntry, _ message: RawMessage, _ delivery: RawDelivery) {
      (self.entry, self.message, self.delivery) = (entry, message, delivery)
    }

    /// The time from the server to the device; nil for a message that has not arrived.
    var way: Interval? {
      guard case .left(let time) = delivery.state else { return nil }
      return arrivedAt.map { $0 - time }
    }
  }

  private let world: World
  private var sent: [Sent] = []

  init(_ world: World) {
    self.world = world
    let trace = world.simulator.trace
    trace.listen(to: HarnessEvents.frameArrived) { [unowned self] record, frame in arrived(frame, at: record.time) }
    trace.listen(to: ServerEvents.messageUndeliverable) { [unowned self] record, type, user in
      let lost = sent.first { one in
        one.delivery.state == .atServer && one.message.type == type
          && world.scenario.userID(of: one.message.to) == user
      }
      lost?.delivery.state = .unconnected(record.time)
    }
  }

  func add(_ message: RawMessage, of entry: TimelineEntry, _ delivery: RawDelivery) {
    sent.append(Sent(entry, message, delivery))
  }

  private func arrived(_ frame: UInt64, at time: Instant) {
    sent.first { !$0.hasArrived && $0.delivery.frames.contains(frame) }?.arrivedAt = time
  }

  /// The messages that have not arrived so far, each with the reason. One that a fault has taken did what the scenario
  /// asks.
  var missing: [(entry: TimelineEntry, message: RawMessage, reason: String)] {
    sent.filter { !$0.hasArrived && !isUnderWay($0) }.compactMap { one in
      reason(one.delivery.state, one.message.to).map { (one.entry, one.message, $0) }
    }
  }

  /// Whether the message is one of the last of an entry that repeats until the end of the run: of those some are always
  /// under way. It left so late that those before it, too, took as long.
  private func isUnderWay(_ one: Sent) -> Bool {
    guard case .every(_, _, _, nil) = one.entry.trigger else { return false }
    let same = sent.filter { $0.entry.id == one.entry.id }
    guard let longest = same.compactMap(\.way).max() else { return false }
    switch one.delivery.state {
    case .left(let time): return world.simulator.now - time <= longest * 2
    case .held: return true
    case .atServer, .taken, .unconnected: return false
    }
  }

  private func reason(_ state: RawDelivery.State, _ addressee: String) -> String? {
    switch state {
    case .taken: nil
    case .atServer: "\(addressee) had no connection to the server that could take it"
    case .held: "a fault still held it when the run ended"
    case .unconnected(let time): "\(addressee) was not connected to the server at \(Wording.time(time))"
    case .left(let time):
      "it left the server at \(Wording.time(time)), and had not arrived when the run ended"
    }
  }
}
