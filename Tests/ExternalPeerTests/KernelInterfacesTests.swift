import CallCore
import SimNet
import Testing

@testable import ExternalPeer

@Suite struct KernelInterfacesTests {
  private static func entry(
    _ device: String, up isUp: Bool = true, _ addresses: [String] = ["192.168.1.2/24"], metric: Int = 100,
    mtu: Int = 1_500
  ) -> KernelInterfaces.Entry {
    let addresses = addresses.map { text in
      let parts = text.split(separator: "/").map(String.init)
      return KernelInterfaces.IPPrefixAddress(address: IPAddress(parts[0])!, prefixLength: Int(parts[1])!)
    }
    return KernelInterfaces.Entry(
      device: device, isUp: isUp, mtu: mtu, addresses: isUp ? addresses : [], metric: metric)
  }

  private static func commands(_ before: [KernelInterfaces.Entry], _ after: [KernelInterfaces.Entry]) -> [String] {
    KernelInterfaces(entries: after).commands(from: KernelInterfaces(entries: before))
  }

  @Test func `an interface comes up with its addresses of both families and a way out for each`() {
    #expect(
      Self.commands([], [Self.entry("wlan0", ["192.168.1.2/24", "2001:db8::2/64"], mtu: 1_400)]) == [
        "link set dev wlan0 addrgenmode none mtu 1400 up", "addr add 192.168.1.2/24 dev wlan0",
        "addr add 2001:db8::2/64 dev wlan0 nodad", "route append 0.0.0.0/0 dev wlan0 metric 100",
        "route append ::/0 dev wlan0 metric 100",
      ])
  }

  @Test func `a handoff takes the old interface down before the new one comes up`() {
    let commands = Self.commands(
      [Self.entry("wlan0"), Self.entry("wwan0", up: false)],
      [Self.entry("wlan0", up: false), Self.entry("wwan0", ["100.64.0.2/16"])])
    #expect(commands.prefix(2) == ["link set dev wlan0 down", "addr flush dev wlan0"])
    #expect(commands.contains("addr add 100.64.0.2/16 dev wwan0"))
  }

  @Test func `what stays as it was is left alone`() {
    #expect(Self.commands([Self.entry("wlan0")], [Self.entry("wlan0")]) == [])
    #expect(Self.commands([Self.entry("wlan0", up: false)], [Self.entry("wlan0", up: false)]) == [])
  }

  @Test func `a new address replaces the old one without taking the link down`() {
    let commands = Self.commands([Self.entry("wlan0")], [Self.entry("wlan0", ["10.0.0.7/8"])])
    #expect(commands.prefix(2) == ["addr add 10.0.0.7/8 dev wlan0", "addr del 192.168.1.2/24 dev wlan0"])
    #expect(commands.contains("route replace 0.0.0.0/0 dev wlan0 metric 100"))
    #expect(!commands.contains { $0.hasPrefix("link") })
  }

  @Test func `another preference moves routes and nothing else`() {
    let commands = Self.commands([Self.entry("wlan0", metric: 100)], [Self.entry("wlan0", metric: 110)])
    #expect(commands.contains("route append 0.0.0.0/0 dev wlan0 metric 110"))
    #expect(commands.allSatisfy { $0.contains("route") })
  }

  /// The kernel knows a route by its prefix and metric alone: one that replaces takes the other interface's.
  @Test func `an interface that comes back does not take the route of the one that it is preferred to`() {
    let commands = Self.commands(
      [Self.entry("wlan0", up: false), Self.entry("wwan0", ["100.64.0.2/16"], metric: 100)],
      [Self.entry("wlan0", metric: 100), Self.entry("wwan0", ["100.64.0.2/16"], metric: 110)])
    #expect(
      commands.suffix(3) == [
        "route append 0.0.0.0/0 dev wlan0 metric 100", "route append 0.0.0.0/0 dev wwan0 metric 110",
        "route del 0.0.0.0/0 dev wwan0 metric 100",
      ])
  }

  @Test func `devices are called as kernels call their kinds`() {
    let names = [NetworkType.wifi, .cellular, .ethernet, .unknown].map { KernelInterfaces.device(of: $0, number: 0) }
    #expect(names == ["wlan0", "wwan0", "eth0", "eth0"])
  }

  @Test func `groups are told from hosts`() {
    let groups = ["224.0.0.251", "239.255.255.250", "255.255.255.255", "ff02::fb"]
    #expect(groups.allSatisfy { IPAddress($0)!.isGroup })
    #expect(["203.0.113.1", "2001:db8::1", "fe80::1"].allSatisfy { !IPAddress($0)!.isGroup })
  }
}
