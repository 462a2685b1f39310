package import CallCore

/// The flows that a firewall permits. The default is the usual border: everything out, only replies in.
public struct FirewallRules: Hashable, Sendable {
  /// The packets that may start a flow from outside.
  public enum Inbound: UInt8, Sendable {
    /// Only packets of flows that were started from inside (RFC 6092 section 3).
    case relatedOnly
    /// Everything.
    case everything
  }

  /// The flows that may start from outside.
  public var inbound: Inbound
  /// The flows that may start from outside over IPv6, where no NAT filters them.
  public var inboundIPv6: Inbound
  /// Whether every UDP packet is dropped, both ways: calls fall back to TURN over TCP or TLS.
  public var blocksUDP: Bool
  /// The remote ports that inside hosts may reach over UDP, or nil for all.
  public var allowedUDPPorts: Set<UInt16>?
  /// The remote ports that inside hosts may reach over TCP, or nil for all.
  public var allowedTCPPorts: Set<UInt16>?
  /// The local ports that outside hosts may reach unsolicited, on any inside host: pinholes for servers.
  public var openPorts: Set<UInt16>
  /// Whether a TCP segment without SYN from inside starts a flow, so that connections survive a restart.
  public var adoptsMidstreamTCP: Bool

  /// Makes rules; the defaults are those of ``stateful``.
  public init(
    inbound: Inbound = .relatedOnly, inboundIPv6: Inbound? = nil, blocksUDP: Bool = false,
    allowedUDPPorts: Set<UInt16>? = nil, allowedTCPPorts: Set<UInt16>? = nil, openPorts: Set<UInt16> = [],
    adoptsMidstreamTCP: Bool = true
  ) {
    self.inbound = inbound
    self.inboundIPv6 = inboundIPv6 ?? inbound
    self.blocksUDP = blocksUDP
    self.allowedUDPPorts = allowedUDPPorts
    self.allowedTCPPorts = allowedTCPPorts
    self.openPorts = openPorts
    self.adoptsMidstreamTCP = adoptsMidstreamTCP
  }

  /// Permits everything.
  public static let open = FirewallRules(inbound: .everything)
  /// Leaves IPv4 to the router's NAT and permits IPv6 inwards as a reply only (RFC 6092 section 3, RFC 7084 S-1).
  public static let statefulIPv6 = FirewallRules(inbound: .everything, inboundIPv6: .relatedOnly)
  /// The border of homes and offices: everything out, only replies in.
  public static let stateful = FirewallRules()
  /// The border of offices that forbid UDP and permit TCP outwards to any port.
  package static let noUDP = FirewallRules(blocksUDP: true)
  /// The strictest border that a call can cross: TCP to web ports only.
  package static let webOnly = FirewallRules(blocksUDP: true, allowedTCPPorts: [80, 443])
}

package enum FirewallDropReason: UInt8, Sendable, CaseIterable {
  case udpBlocked
  /// The destination port is not among those allowed.
  case portBlocked
  /// The packet comes from outside, and is not part of a flow started from inside.
  case unsolicited
}

package enum FirewallVerdict: Hashable, Sendable {
  case pass
  case drop(FirewallDropReason)
}

/// The properties of a packet that the rules use.
package struct FirewallPacket: Hashable, Sendable {
  package var direction: BorderDirection
  package var transport: TransportProtocol
  package var insidePort: UInt16
  package var outsidePort: UInt16
  package var isIPv6: Bool
  /// Whether it is a TCP segment without SYN.
  package var isMidstream: Bool
  /// Whether it belongs to a flow that passed before.
  package var isKnown: Bool

  /// The packet without a port that ``FirewallRules/refusal(of:)`` ignores: that port differs for every flow.
  var asRulesSee: FirewallPacket {
    var packet = self
    if direction == .inbound { packet.outsidePort = 0 } else if !isKnown { packet.insidePort = 0 }
    return packet
  }
}

extension FirewallRules {
  /// Returns the reason for which the rules refuse the packet, or nil.
  package func refusal(of packet: FirewallPacket) -> FirewallDropReason? {
    if packet.transport == .udp, blocksUDP { return .udpBlocked }
    switch packet.direction {
    case .outbound:
      let startedOutside = packet.isKnown && openPorts.contains(packet.insidePort)
      let allowed = packet.transport == .udp ? allowedUDPPorts : allowedTCPPorts
      if let allowed, !allowed.contains(packet.outsidePort), !startedOutside { return .portBlocked }
      return packet.isMidstream && !packet.isKnown && !adoptsMidstreamTCP ? .unsolicited : nil
    case .inbound:
      let isWelcome =
        packet.isKnown || (packet.isIPv6 ? inboundIPv6 : inbound) == .everything
        || openPorts.contains(packet.insidePort)
      return isWelcome ? nil : .unsolicited
    }
  }
}

/// A stateful packet filter at a border, for IPv4 and IPv6, as a pure value.
///
/// New rules take effect at once, on existing flows too; state of the old rules stays until it is idle. Live flows
/// bound the memory.
package struct Firewall {
  package var rules: FirewallRules
  package let timers: SessionTimers
  /// The numbers of refused packets, without the ports that rules ignore.
  package private(set) var refusals: [FirewallPacket: Int] = [:]

  private struct Flow: Hashable {
    var transport: TransportProtocol
    var inside: Endpoint
    var outside: Endpoint

    /// Hashes one word, mixed from the fields that usually differ between flows; equality compares all fields.
    func hash(into hasher: inout Hasher) {
      let ports = UInt64(transport.rawValue) << 32 | UInt64(inside.port) << 16 | UInt64(outside.port)
      let addresses = (inside.address.low &* 0x9E37_79B9_7F4A_7C15) ^ outside.address.high ^ outside.address.low
      hasher.combine((addresses &* 0xD6E8_FEB8_6659_FD93) ^ ports ^ inside.address.high)
    }
  }

  private struct Session {
    var flow: Flow
    var activity: SessionActivity
  }

  private var slots: [Flow: Int32] = [:]
  private var sessions: [Session] = []
  private var free: [Int32] = []
  private var idle = IdleQueue()
  private var soonestExpiry: Instant?
  private var now = Instant.zero

  package init(_ rules: FirewallRules, timers: SessionTimers = SessionTimers()) {
    self.rules = rules
    self.timers = timers
  }

  /// Decides about one packet.
  ///
  /// - Parameter flags: the control bits of a TCP segment.
  package mutating func decide(
    _ direction: BorderDirection, source: Endpoint, destination: Endpoint, protocol transport: TransportProtocol,
    flags: TCPFlags = [], at now: Instant
  ) -> FirewallVerdict {
    advance(to: now)
    let flow =
      direction == .outbound
      ? Flow(transport: transport, inside: source, outside: destination)
      : Flow(transport: transport, inside: destination, outside: source)
    let known = slots[flow]
    let packet = FirewallPacket(
      direction: direction, transport: transport, insidePort: flow.inside.port, outsidePort: flow.outside.port,
      isIPv6: flow.inside.address.isIPv6, isMidstream: transport == .tcp && !flags.contains(.syn),
      isKnown: known != nil)
    if let reason = rules.refusal(of: packet) {
      refusals[packet.asRulesSee, default: 0] += 1
      return .drop(reason)
    }
    touch(known ?? add(flow), direction, transport, flags)
    return .pass
  }

  /// The time at which the next flow falls idle, or nil if there is none.
  package var nextExpiry: Instant? { idle.first.map { idle.deadline(of: $0) } }

  /// The number of flows with state.
  package var sessionCount: Int { sessions.count - free.count }

  /// Removes idle flows; ``decide(_:source:destination:protocol:flags:at:)`` does so by itself.
  package mutating func advance(to instant: Instant) {
    now = max(now, instant)
    guard let soonest = soonestExpiry, soonest <= now else { return }
    while let slot = idle.first, idle.deadline(of: slot) <= now {
      idle.remove(slot)
      slots[sessions[Int(slot)].flow] = nil
      free.append(slot)
    }
    soonestExpiry = nextExpiry
  }

  /// Removes all state, as a restart does.
  package mutating func reset() {
    slots.removeAll()
    sessions.removeAll()
    free.removeAll()
    idle = IdleQueue()
    soonestExpiry = nil
  }

  private mutating func add(_ flow: Flow) -> Int32 {
    let session = Session(flow: flow, activity: SessionActivity(created: now))
    let slot: Int32
    if let reused = free.popLast() {
      slot = reused
      sessions[Int(reused)] = session
    } else {
      slot = Int32(sessions.count)
      sessions.append(session)
    }
    slots[flow] = slot
    return slot
  }

  private mutating func touch(
    _ slot: Int32, _ direction: BorderDirection, _ transport: TransportProtocol, _ flags: TCPFlags
  ) {
    let timer = sessions[Int(slot)].activity.record(
      direction, transport, flags: flags, at: now, timers: timers)
    let deadline = now + timers[timer]
    idle.place(slot, on: timer, deadline: deadline)
    if soonestExpiry.map({ deadline < $0 }) ?? true { soonestExpiry = deadline }
  }
}
