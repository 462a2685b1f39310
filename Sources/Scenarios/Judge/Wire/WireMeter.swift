package import CallCore
package import ScenarioFormat
internal import SimNet

/// Counts packets at the interfaces for predicates such as `wire.media(from: bob, to: alice) > 0`, with one running
/// total per quantity.
///
/// Without `to:` a packet counts when it leaves its sender, delivered or not. With `to:` it counts when it reaches that
/// peer's interface, and with `from:` as well only if that peer had sent it: a packet is recognized by its content,
/// behind NATs and through relays.
package final class WireMeter {

  private let trace: Trace
  private let subject: TraceSubject
  private var totals: [Total] = []

  /// The running total of one quantity.
  private final class Total {
    let quantity: WireQuantity
    let event: TraceEvent<Int>
    var value = 0
    /// The packets that its sender has sent; nil when the sender does not matter.
    var sent: RecentIdentities?

    init(_ quantity: WireQuantity) {
      self.quantity = quantity
      event = HarnessEvents.sample(quantity.kindName, Int.self)
      if quantity.to != nil, quantity.from != nil || quantity.kind == .cleartext { sent = RecentIdentities() }
    }
  }

  /// Writes the totals of the requested quantities only.
  package init(_ quantities: [WireQuantity], tap: WireTap, cleartext: CleartextDetector, trace: Trace) {
    self.trace = trace
    subject = trace.subject(WireQuantity.subject)
    for quantity in quantities {
      let total = Total(quantity)
      trace.write(total.event, subject, 0)
      totals.append(total)
      switch quantity.kind {
      case .media: tap.listen(media: { [unowned self] in count($0, 1, total) })
      case .rtpBytes: tap.listen(media: { [unowned self] in count($0, $0.byteCount, total) })
      case .rtpHeaderBytes: tap.listen(media: { [unowned self] in count($0, $0.headerByteCount, total) })
      case .packets: tap.listen(packets: { [unowned self] in count($0, 1, total) })
      case .bytes: tap.listen(packets: { [unowned self] in count($0, Int($0.byteCount), total) })
      case .rtcpBytes:
        tap.listen(packets: { [unowned self] packet in
          if packet.controlByteCount > 0 { count(packet, packet.controlByteCount, total) }
        })
      case .cleartext:
        cleartext.listen { [unowned self] peer, identity in found(peer, identity, total) }
        if quantity.to != nil { tap.listen(media: { [unowned self] in arrived($0, total) }) }
      }
    }
  }

  private func count(_ media: WireMedia, _ amount: Int, _ total: Total) {
    count(media.peer, media.direction, [media.identity], amount, total)
  }

  private func count(_ packet: WirePacket, _ amount: Int, _ total: Total) {
    count(packet.peer, packet.direction, packet.identities, amount, total)
  }

  private func count(
    _ peer: String, _ direction: LinkDirection, _ identities: [UInt64], _ amount: Int, _ total: Total
  ) {
    let quantity = total.quantity
    let isFrom = direction == .tx && (quantity.from == nil || quantity.from == peer)
    guard let receiver = quantity.to else {
      if isFrom { add(amount, to: total) }
      return
    }
    if isFrom, total.sent != nil { for identity in identities { total.sent?.insert(identity) } }
    guard direction == .rx, receiver == peer else { return }
    guard let sent = total.sent, !identities.contains(where: sent.contains) else { return add(amount, to: total) }
  }

  /// Counts an unencrypted packet that has left a peer.
  private func found(_ peer: String, _ identity: UInt64, _ total: Total) {
    guard total.quantity.from == nil || total.quantity.from == peer else { return }
    if total.quantity.to == nil { add(1, to: total) } else { total.sent?.insert(identity) }
  }

  private func arrived(_ media: WireMedia, _ total: Total) {
    guard media.direction == .rx, media.peer == total.quantity.to, total.sent?.contains(media.identity) == true else {
      return
    }
    add(1, to: total)
  }

  private func add(_ amount: Int, to total: Total) {
    total.value += amount
    trace.write(total.event, subject, total.value)
  }
}

/// The identities of recently sent packets.
struct RecentIdentities {
  /// Five minutes at fifty packets a second: longer than any queue holds a packet.
  private static let limit = 16_384
  private var ring: [UInt64] = []
  private var position = 0
  private var counts: [UInt64: Int] = [:]

  mutating func insert(_ identity: UInt64) {
    counts[identity, default: 0] += 1
    guard ring.count == Self.limit else { return ring.append(identity) }
    let old = ring[position]
    counts[old] = counts[old].flatMap { $0 > 1 ? $0 - 1 : nil }
    ring[position] = identity
    position = (position + 1) % Self.limit
  }

  func contains(_ identity: UInt64) -> Bool { counts[identity] != nil }
}
