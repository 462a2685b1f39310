import CallCore

/// The NATs found in the field, each with the source of its numbers.
///
/// RFC 3489's names ("cone") are kept because they are widely used; RFC 4787 section 3 explains why they mislead.
extension NATConfiguration {
  /// Endpoint-independent mapping and filtering, RFC 4787's most transparent choice; RFC 3489's "full cone".
  public static let fullCone = NATConfiguration(filtering: .endpointIndependent)

  /// RFC 3489's "restricted cone": any port of an address that was written to may answer.
  public static let addressRestricted = NATConfiguration(filtering: .addressDependent)

  /// RFC 3489's "port-restricted cone", RFC 4787-conformant, with its recommended 300 s.
  public static let portRestricted = NATConfiguration()

  /// RFC 3489's "symmetric": a separate port for every destination, no port preservation, no hairpinning.
  public static let symmetric = NATConfiguration(
    mapping: .addressAndPortDependent, preservesPort: false, hairpinning: .none)

  /// The usual home router: port-restricted, refreshed both ways. Fewer than 2 % of homes are symmetric (Richter et
  /// al., IMC 2016), and the routers run netfilter, whose answered flows live 120 s.
  public static let home: NATConfiguration = {
    var timers = SessionTimers(udp: .seconds(120))
    timers.udpFirst = .seconds(30)
    timers.udpUnanswered = .seconds(30)
    return NATConfiguration(timers: timers, inboundRefresh: true)
  }()

  /// A conformant carrier-grade NAT: RFC 6888's paired pool, random ports, 120 s before reuse, and a block of 1008
  /// ports a host (64,512 ports shared 64:1). UDP idles out after the 35 s median of fixed networks (IMC 2016).
  public static let carrier = NATConfiguration(
    timers: SessionTimers(udp: .seconds(35)), preservesPort: false, portRange: 1_024...65_535,
    portReuseDelay: .seconds(120), mappingsPerHost: 1_008)

  /// A mobile carrier's symmetric NAT, as about 40 % of mobile carrier-grade NATs are (IMC 2016), with the 65 s median
  /// idle time of mobile networks, and 504 ports per host (128:1).
  public static let carrierSymmetric = NATConfiguration(
    mapping: .addressAndPortDependent, timers: SessionTimers(udp: .seconds(65)), preservesPort: false,
    portRange: 1_024...65_535, portReuseDelay: .seconds(120), mappingsPerHost: 504, hairpinning: .none,
    adoptsMidstreamTCP: false)

  /// Linux netfilter masquerading (kernel documentation, nf_conntrack-sysctl): one mapping per flow, the port preserved
  /// unless that very flow is taken; UDP 30 s until answered, then 120 s once older than 2 s; TCP 5 days established.
  public static let linux: NATConfiguration = {
    var timers = SessionTimers(udp: .seconds(30), tcpEstablished: .seconds(432_000), tcpTransitory: .seconds(120))
    timers.udpAnswered = .seconds(120)
    timers.udpAnsweredAge = .seconds(2)
    timers.tcpReset = .seconds(10)
    return NATConfiguration(
      mapping: .addressAndPortDependent, timers: timers, inboundRefresh: true, overloadsPorts: true,
      hairpinning: .none)
  }()

  /// OpenBSD and FreeBSD pf (pf.conf manual, `set timeout` and `nat-to`): random ports above 50000 for every flow, UDP
  /// 60 s at first, 30 s unanswered, 60 s answered; TCP one day established, 2 min opening, 90 s closing.
  public static let pf: NATConfiguration = {
    var timers = SessionTimers(udp: .seconds(60), tcpEstablished: .seconds(86_400), tcpTransitory: .seconds(120))
    timers.udpUnanswered = .seconds(30)
    timers.tcpClosing = .seconds(90)
    timers.tcpReset = .seconds(90)
    return NATConfiguration(
      mapping: .addressAndPortDependent, timers: timers, inboundRefresh: true, preservesPort: false,
      portRange: 50_001...65_535, hairpinning: .none, adoptsMidstreamTCP: false)
  }()

  /// The profiles by their names in scenarios, in the order of the documentation.
  public static let named: [(name: String, configuration: NATConfiguration)] = [
    ("home", home), ("full-cone", fullCone), ("address-restricted", addressRestricted),
    ("port-restricted", portRestricted), ("symmetric", symmetric), ("carrier", carrier),
    ("carrier-symmetric", carrierSymmetric), ("linux", linux), ("pf", pf),
  ]
}
