import CallCore
import Vocabulary

/// A topology in a file, before profiles and defaults are filled in.
struct TopologyDraft: Sendable, Equatable {
  var networks: [Named<NetworkDraft>] = []
  var links: [Named<LinkDraft>] = []
  var servers: [Named<ServerDraft>] = []
  var wantsTURN = Located(false)

  static let type = MappingType(
    "topology", "networks, links and servers; what is left out is made up from named networks", TopologyDraft(),
    [
      .key(
        "networks", NetworkDraft.type.partialFormat.named, \.networks,
        "networks by name, each one network for all who name it; a named network gives each peer its own"),
      .key("links", LinkDraft.type.partialFormat.named, \.links, "lines by name, each from a peer to a network"),
      .key("servers", ServerDraft.format.named, \.servers, "STUN, TURN and signalling hosts by name"),
      .key(
        "turn", ValueFormat<Bool>.flag.located, \.wantsTURN, default: "false",
        "adds a TURN server called turn (default-turn where a peer or another server has that name), by UDP, to the "
          + "internet, whatever TURN servers there are besides"),
    ])
}

struct NetworkDraft: Sendable, Equatable {
  var profile: Located<String>?
  var type: Topology.NetworkType?
  /// The prefixes; nil when missing, empty when invalid.
  var prefixes: [Located<IPPrefix>]?
  var uplink: Located<String>?
  var nat: NATDraft?
  var firewall: Topology.Firewall?
  var isIsolated: Bool?
  var link: LinkDraft?
  var mtu: Int?
  var why: String?
  var summary: String?

  static let type = MappingType(
    "network",
    "a network and the router that leads out of it; under topology one for all who name it, in a file of use one for each "
      + "peer", NetworkDraft(),
    [
      .key(
        "profile", ValueFormat<Located<String>>.name, \.profile, "a named network that gives the keys left out here"),
      .key("type", .choice, \.type, default: "ethernet", "the W3C networkType of its interfaces"),
      .key(
        "cidr", ValueFormat<IPPrefix>.prefix.located.oneOrMany(atMost: 2).distinct { "\($0.value)" }.orEmpty,
        \.prefixes,
        "its prefix, or one prefix of each address family"),
      .key("to", ValueFormat<Located<String>>.name, \.uplink, "the network its router leads to, without translation"),
      .key("nat", NATDraft.type.format, \.nat, "the translation its router does"),
      .key("firewall", Topology.Firewall.type.format, \.firewall, "what its router lets out"),
      .key(
        "isolated", .flag, \.isIsolated, default: "false",
        "its hosts are kept apart, as guests and a carrier's customers are"),
      .key("link", LinkDraft.attachmentType.format, \.link, "the line by which peers that name this network attach"),
      .key("mtu", .mtu, \.mtu, default: "1500B", "largest IP packet of its interfaces"),
      .key("why", .text, \.why, "the reason, echoed in failures"),
      .key("title", .text, \.summary, "what it stands for"),
    ])
}

extension ValueFormat where Value == [Located<IPPrefix>] {
  /// The kind that decodes invalid prefixes to an empty list, after reporting.
  fileprivate var orEmpty: ValueFormat<Value> {
    decoded { node, reading in decode(node, &reading) ?? [] }
  }
}

extension ValueFormat where Value == Int {
  static var mtu: ValueFormat<Int> {
    byteSize.checked { (576...65_535).contains($0) ? nil : "an MTU is 576B to 65535B" }
  }
}

extension Topology.Firewall {
  static let type = MappingType(
    "firewall", "what a router lets out; answers to what was let out come back", Topology.Firewall(),
    [
      .key("inbound", .choice, \.inbound, default: "answers", "what comes in: answers alone, or everything"),
      .key("block_udp", .flag, \.blockUDP, default: "false", "drops all UDP"),
      .key("block_tcp", .flag, \.blockTCP, default: "false", "drops all TCP"),
      .key(
        "allow_ports", ValueFormat<Int>.port.list(atLeast: 1).distinct { "\($0)" }, \.allowPorts,
        "the only destination ports let out"),
      .key(
        "block_ports", ValueFormat<Int>.port.list(atLeast: 1).distinct { "\($0)" }, \.blockPorts,
        "destination ports not let out"),
      .key(
        "open_ports",
        ValueFormat<ClosedRange<Int>>.range(1...65_535).list(atLeast: 1).distinct(\.written).map {
          ranges, span, reading in
          for (index, range) in ranges.enumerated() {
            guard let other = ranges[..<index].first(where: range.overlaps) else { continue }
            reading.report(
              .duplicateKey, "\(range.written) and \(other.written) open the same ports", at: span,
              hint: "write ranges that lie apart")
          }
          return ranges.map { UInt16($0.lowerBound)...UInt16($0.upperBound) }
        } back: { ranges in
          ranges.map { Int($0.lowerBound)...Int($0.upperBound) }
        }, \.openPorts,
        "ports of inside hosts that anybody outside may reach: 3478, or a range such as 49152-65535"),
    ])
}

struct LinkDraft: Sendable, Equatable {
  enum Start: String, CaseIterable, Sendable { case up, down }

  var from = Located("")
  var to = Located("")
  var profile: Located<String>?
  var interface: Located<String>?
  var start = Start.up
  var both = Topology.Impairments()
  var transmit = Topology.Impairments()
  var receive = Topology.Impairments()
  var mtu: Int?
  var why: String?

  private static let conditions: [MappingType<LinkDraft>.Key] =
    Topology.Impairments.type.keys(of: \LinkDraft.both) + [
      .nested(
        "tx", Topology.Impairments.type, \.transmit,
        "only in the direction from 'from' to 'to'; on a link of a peer, what it sends"),
      .nested(
        "rx", Topology.Impairments.type, \.receive,
        "only in the direction from 'to' to 'from'; on a link of a peer, what it receives"),
      .key("mtu", .mtu, \.mtu, "largest IP packet it carries"),
      .key("why", .text, \.why, "the reason, echoed in failures"),
    ]

  static let type = MappingType(
    "link", "a line from a peer to a network", LinkDraft(),
    [
      .key(
        "from", ValueFormat<Located<String>>.name, \.from, required: true,
        "the peer, or a network whose router it serves"),
      .key("to", ValueFormat<Located<String>>.name, \.to, required: true, "the network"),
      .key(
        "profile", ValueFormat<Located<String>>.name, \.profile,
        "a named network whose link gives the keys left out here"),
      .key(
        "interface", ValueFormat<Located<String>>.name, \.interface, default: "the link's name",
        "what the peer calls its end of it, as switch-network names it"),
      .key("start", .choice, \.start, default: "up", "whether it is up at the start"),
    ] + conditions)

  /// The link of a named network, whose ends are not yet known.
  static let attachmentType = MappingType(
    "network link", "what the line of a named network is like", LinkDraft(), conditions)

  /// Returns these values over those of `base`, in each direction.
  func over(_ base: LinkDraft?) -> LinkDraft {
    guard let base else { return self }
    var link = self
    (link.transmit, link.receive) = directions(over: base)
    link.both = Topology.Impairments()
    link.mtu = mtu ?? base.mtu
    return link
  }

  /// Returns the two directions, over those of a named network.
  func directions(over base: LinkDraft?) -> (transmit: Topology.Impairments, receive: Topology.Impairments) {
    let below = base?.directions(over: nil) ?? (Topology.Impairments(), Topology.Impairments())
    return (transmit.over(both.over(below.0)), receive.over(both.over(below.1)))
  }
}

extension Topology.Impairments {
  static let type = MappingType(
    "impairments", "what one direction of a link does to packets", Topology.Impairments(),
    [
      .key("delay", .duration(), \.delay, default: "0s", "one-way propagation delay"),
      .key("jitter", Topology.Jitter.format, \.jitter, "how the delay varies: an amount, or a mapping"),
      .key(
        "loss", Topology.Loss.format, \.loss,
        "a share lost at random, or a mapping; a packet that is both lost and doubled arrives once"),
      .key("rate", .rate, \.rate, default: "unlimited", "capacity"),
      .key("queue", Topology.Queue.format, \.queue, "what waits for capacity: a time, a size, or a mapping"),
      .key("reorder", .percentage(), \.reorder, default: "0%", "share of packets that overtake others"),
      .key(
        "duplicate", .percentage(), \.duplicate, default: "0%",
        "share of packets delivered twice, or once where the packet is lost too"),
      .key("corrupt", .percentage(), \.corrupt, default: "0%", "share of packets with a damaged bit"),
    ])
}

extension Topology.Jitter {
  static let type = MappingType(
    "jitter", "how the delay of a link varies", Topology.Jitter(),
    [
      .key("dist", .choice, \.distribution, default: "normal", "the distribution"),
      .key(
        "amount", .duration(), \.amount, required: true,
        "half width of uniform, standard deviation of normal, mean of exponential"),
      .key("order", .choice, \.order, default: "keep", "whether packets may overtake each other"),
    ])

  static let format = ValueFormat<Topology.Jitter>.either(
    scalar: ValueFormat<Interval>.duration().map { amount, _, _ in
      var jitter = Topology.Jitter()
      jitter.amount = amount
      return jitter
    } back: {
      $0.amount
    }, mapping: type.format, isScalar: { $0.distribution == .normal && $0.order == .keep })
}

extension Topology.Loss {
  private struct Draft: Sendable {
    enum Kind: String, CaseIterable, Sendable { case none, random, gilbert, script }
    var kind = Kind.random
    var rate: Double?
    var meanBurst: Interval?
    var bad: Double?
    var good: Double?
    var packets: [Located<ClosedRange<Int>>]?
    var times: [Located<Range<Interval>>]?
    var every: Int?
    var period: Interval?

    init() {}

    init(_ loss: Topology.Loss) {
      switch loss {
      case .none: kind = .none
      case .random(let rate): self.rate = rate
      case .packets(let packets, let every):
        (kind, self.packets, self.every) = (.script, packets.map { Located($0) }, every)
      case .times(let times, let period):
        (kind, self.times, self.period) = (.script, times.map { Located($0) }, period)
      case .gilbert(let rate, let meanBurst, let bad, let good):
        kind = .gilbert
        (self.rate, self.meanBurst, self.bad, self.good) = (rate, meanBurst, bad, good)
      }
    }
  }

  private static let type = MappingType(
    "loss", "how a link loses packets, in virtual time", Draft(),
    [
      .key(
        "kind", .choice, \.kind, default: "random",
        "independent losses, bursts by channel state, or just what is listed"
      ),
      .key("rate", .percentage(), \.rate, "share lost in the long run"),
      .key(
        "mean_burst", .duration(.positive).checked(burstProblem), \.meanBurst, "gilbert: mean length of a bad period"),
      .key("bad", .percentage(), \.bad, default: "100%", "gilbert: share lost while bad"),
      .key("good", .percentage(), \.good, default: "0%", "gilbert: share lost while good"),
      .key(
        "packets", ValueFormat<ClosedRange<Int>>.range(1...1_000_000_000).located.list(atLeast: 1), \.packets,
        "script: the numbers of the packets lost, or ranges such as 20-25, counted from 1 since this took effect"),
      .key(
        "every", .count(1...1_000_000_000), \.every, "script: after so many packets the count begins anew"),
      .key(
        "times", span.located.list(atLeast: 1), \.times,
        "script: the spans in which all is lost, each [from, to], counted from when this took effect"),
      .key("period", .duration(.positive), \.period, "script: after so long the spans begin anew"),
    ])

  private static let span = ValueFormat<Interval>.duration().list(atLeast: 2, atMost: 2)
    .map { ends, span, reading -> Range<Interval>? in
      guard ends[0] < ends[1] else {
        reading.report(.outOfRange, "a span ends after it begins", at: span, hint: "for example [200ms, 350ms]")
        return nil
      }
      return ends[0]..<ends[1]
    } back: {
      [$0.lowerBound, $0.upperBound]
    }

  /// The shortest mean period of a channel state: shorter ones cost more to compute than the traffic itself.
  private static let shortest = Interval.microseconds(10)

  private static let burstProblem: @Sendable (Interval) -> String? = { burst in
    burst >= shortest ? nil : "a bad period is at least \(shortest) long on average"
  }

  static let format = ValueFormat<Topology.Loss>.either(
    scalar: ValueFormat<Double>.percentage().map { rate, _, _ in
      .random(rate: rate)
    } back: { loss in
      if case .random(let rate) = loss { rate } else { 0 }
    },
    mapping: type.format.map { draft, span, reading in
      make(draft, span, &reading)
    } back: {
      Draft($0)
    },
    isScalar: { if case .random = $0 { true } else { false } })

  private static func make(_ draft: Draft, _ span: SourceSpan, _ reading: inout Reading) -> Topology.Loss? {
    let isGilbert = draft.kind == .gilbert
    if draft.kind == .script { return script(draft, span, &reading) }
    if draft.packets != nil || draft.times != nil || draft.every != nil || draft.period != nil {
      reading.report(.conflictingKeys, "packets, every, times and period belong to kind: script", at: span)
      return nil
    }
    if !isGilbert, draft.meanBurst != nil || draft.bad != nil || draft.good != nil {
      reading.report(.conflictingKeys, "mean_burst, bad and good belong to kind: gilbert", at: span)
      return nil
    }
    if draft.kind == .none {
      guard draft.rate == nil else {
        reading.report(.conflictingKeys, "kind: none has no rate", at: span)
        return nil
      }
      return Topology.Loss.none
    }
    guard let rate = draft.rate else {
      reading.report(.missingKey, "loss of kind \(draft.kind.rawValue) needs the key 'rate'", at: span)
      return nil
    }
    guard isGilbert else { return .random(rate: rate) }
    guard let meanBurst = draft.meanBurst else {
      reading.report(.missingKey, "loss of kind gilbert needs the key 'mean_burst'", at: span)
      return nil
    }
    let bad = draft.bad ?? 1
    let good = draft.good ?? 0
    guard good < bad, (good...bad).contains(rate) else {
      let range = "\(Quantity.percentText(good)) to \(Quantity.percentText(bad))"
      reading.report(.outOfRange, "the long-run rate must lie between good and bad (\(range))", at: span)
      return nil
    }
    if let problem = sojournProblem(share: (rate - good) / (bad - good), meanBurst) {
      reading.report(.outOfRange, problem, at: span)
      return nil
    }
    return .gilbert(rate: rate, meanBurst: meanBurst, bad: bad, good: good)
  }

  private static func script(_ draft: Draft, _ span: SourceSpan, _ reading: inout Reading) -> Topology.Loss? {
    func refuse(_ code: DiagnosticCode, _ message: String, _ hint: String? = nil) -> Topology.Loss? {
      reading.report(code, message, at: span, hint: hint)
      return nil
    }
    if draft.rate != nil || draft.meanBurst != nil || draft.bad != nil || draft.good != nil {
      return refuse(.conflictingKeys, "a script has no rate, mean_burst, bad and good: it says what is lost")
    }
    switch (draft.packets, draft.times) {
    case (let packets?, nil):
      if draft.period != nil { return refuse(.conflictingKeys, "'period' is for times", "write every: 50") }
      return inOrder(packets, "write a larger number for every", &reading) { .packets($0, period: draft.every) }
    case (nil, let times?):
      if draft.every != nil { return refuse(.conflictingKeys, "'every' is for packets", "write period: 5s") }
      return inOrder(times, "write a longer period", &reading) { .times($0, period: draft.period) }
    case (_?, _?): return refuse(.conflictingKeys, "a script lists packets or times, not both")
    case (nil, nil):
      return refuse(
        .missingKey, "loss of kind script needs the key 'packets' or 'times'", "for example packets: [3, 20-25]")
    }
  }

  /// Returns the script of these parts, or reports the first part that does not fit the parts before it.
  private static func inOrder<Part>(
    _ parts: [Located<Part>], _ longer: String, _ reading: inout Reading, _ make: ([Part]) -> Topology.Loss
  ) -> Topology.Loss? {
    for count in parts.indices.map({ $0 + 1 }) {
      let last = parts[count - 1]
      guard let problem = make(parts[..<count].map(\.value)).problem else { continue }
      let fitsAlone = make([last.value]).problem == nil
      reading.report(
        .outOfRange, problem, at: last.span,
        hint: fitsAlone ? "write them in order, each after the end of the one before" : longer)
      return nil
    }
    return make(parts.map(\.value))
  }

  private static func sojournProblem(share: Double, _ meanBurst: Interval) -> String? {
    guard share > 0, share < 1 else { return nil }
    let good = meanBurst.scaled(by: (1 - share) / share)
    guard good < shortest else { return nil }
    return "this rate leaves \(good) between bad periods of \(meanBurst), and it takes at least \(shortest)"
  }
}

extension Topology.Queue {
  static let type = MappingType(
    "queue", "what waits for a link's capacity", Topology.Queue(),
    [
      .key("kind", discipline, \.discipline, default: "drop-tail", "which packet goes when it is full; no bound: none"),
      .key("packets", .count(1...1_000_000), \.packets, "most packets"),
      .key("bytes", .byteSize, \.bytes, "most bytes"),
      .key("time", .duration(.positive), \.time, "most time to wait at the present rate"),
    ])

  /// Reads the discipline. Other disciplines are recognised by name, to report that they are not supported.
  private static let discipline = ValueFormat<Topology.Queue.Discipline>.choice.decoded { node, reading in
    let others = ["drop-head", "codel", "fq-codel", "red", "pie"]
    if let text = node.scalar?.text, others.contains(text) {
      let hint = "write kind: drop-tail, with packets, bytes or time"
      reading.report(.notAChoice, "queues of kind '\(text)' are not built yet", at: node.span, hint: hint)
      return nil
    }
    return ValueFormat<Topology.Queue.Discipline>.choice.decode(node, &reading)
  }

  static let format: ValueFormat<Topology.Queue> = {
    let size = ValueFormat<Int>.byteSize
    let time = ValueFormat<Interval>.duration(.positive)
    let scalar = ValueFormat<Topology.Queue>(.either([time.shape, size.shape])) { node, reading in
      var queue = Topology.Queue()
      if case .value(.byteSize) = Quantity.read(node.scalar?.text ?? "") {
        queue.bytes = size.decode(node, &reading)
        return queue.bytes.map { _ in queue }
      }
      queue.time = time.decode(node, &reading)
      return queue.time.map { _ in queue }
    } encode: { queue in
      queue.bytes.map(size.encode) ?? queue.time.map(time.encode) ?? .mapping([])
    }
    let mapping = type.format.map { queue, span, reading -> Topology.Queue? in
      guard [queue.packets != nil, queue.bytes != nil, queue.time != nil].count(where: \.self) <= 1 else {
        reading.report(.conflictingKeys, "a queue is bounded by one of packets, bytes and time", at: span)
        return nil
      }
      return queue
    } back: {
      $0
    }
    return .either(
      scalar: scalar, mapping: mapping, isScalar: { $0.packets == nil && ($0.bytes ?? 0 > 0 || $0.time != nil) })
  }()
}
