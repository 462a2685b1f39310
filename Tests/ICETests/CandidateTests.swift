import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct CandidatePriorityTests {
  @Test(arguments: [
    (ICECandidateType.host, UInt32(2_130_706_431)), (.serverReflexive, 1_694_498_815), (.peerReflexive, 1_862_270_975),
    (.relay, 16_777_215),
  ])
  func `a candidate's priority follows RFC 8445 section 5.1.2.1`(type: ICECandidateType, wanted: UInt32) {
    #expect(ICEPriority.candidate(type) == wanted)
  }

  @Test func `relays rank by the transport to their server`() {
    let server = endpoint("198.51.100.1:3478").address
    let priorities = [ICERelayTransport.udp, .tcp, .tls].map {
      ICECandidate.relay(
        endpoint("198.51.100.1:50000"), mapped: endpoint("203.0.113.1:1"), server: server, over: $0
      ).priority
    }
    #expect(priorities == [0x2FF_FFFF, 0x1FF_FFFF, 0xFF_FFFF])
  }

  @Test func `a pair's priority is symmetric but for one bit`() {
    let (g, d): (UInt32, UInt32) = (2_130_706_431, 1_694_498_815)
    #expect(ICEPriority.pair(controlling: g, controlled: d) == UInt64(d) << 32 + 2 * UInt64(g) + 1)
    #expect(ICEPriority.pair(controlling: d, controlled: g) == UInt64(d) << 32 + 2 * UInt64(g))
  }

  @Test func `a priority from outside the RFC's range does not trap`() {
    let priority = ICEPriority.pair(controlling: .max, controlled: .max)
    #expect(priority > 0)
  }

  @Test func `the first address gets the highest preference and families interleave`() {
    let addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1"].compactMap(IPAddress.init)
    let preferences = ICEPriority.localPreferences(for: addresses)
    #expect(preferences[0] == 65_535)
    #expect(Set(preferences).count == 4)
    let alternating = ["2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"].compactMap(IPAddress.init)
    #expect(ICEPriority.localPreferences(for: alternating) == [65_535, 65_533, 65_534, 65_532])
    #expect(ICEPriority.localPreferences(for: [addresses[3]]) == [65_535])
    #expect(ICEPriority.localPreferences(for: []).isEmpty)
  }

  @Test func `foundations tell type, base and server apart, and nothing else`() throws {
    let base = endpoint("192.0.2.1:1000")
    let otherPort = endpoint("192.0.2.1:2000")
    let (s1, s2) = (endpoint("198.51.100.1:1").address, endpoint("198.51.100.2:1").address)
    let mapped = endpoint("203.0.113.1:1")
    let host = ICECandidate.host(base).foundation
    #expect(host == ICECandidate.host(otherPort).foundation)
    #expect(host != ICECandidate.host(endpoint("192.0.2.2:1000")).foundation)
    let one = ICECandidate.serverReflexive(mapped, base: base, server: s1).foundation
    #expect(one != host)
    #expect(one == ICECandidate.serverReflexive(mapped, base: otherPort, server: s1).foundation)
    #expect(one != ICECandidate.serverReflexive(mapped, base: base, server: s2).foundation)
  }
}

@Suite struct CandidateTextTests {
  @Test(arguments: [
    "candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host",
    "candidate:842163049 1 udp 1677729535 203.0.113.5 46154 typ srflx raddr 10.0.17.1 rport 46154 generation 0 ufrag EEtu network-id 3 network-cost 10",
    "candidate:2 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active generation 0",
    "candidate:3 2 udp 41885439 2001:db8::7 50000 typ relay raddr :: rport 0",
    "candidate:4 1 udp 2122260223 9b36eaac-bb2e-49bb-bb78-21c41c499900.local 54321 typ host generation 0",
    "candidate:5 1 udp 2130706431 192.0.2.1 5000 typ host x-color blue x-size 7",
    "candidate:a+/B9 1 dccp 7 192.0.2.1 5000 typ prflx",
  ])
  func `a candidate survives text both ways`(text: String) throws {
    let candidate = try #require(ICECandidate(text))
    #expect(candidate.description == text)
    #expect(ICECandidate("a=" + text) == candidate)
    #expect(ICECandidate(String(text.dropFirst(10))) == candidate)
  }

  @Test func `the parts are read`() throws {
    let candidate = try #require(
      ICECandidate(
        "candidate:1 1 UDP 1677729535 203.0.113.5 46154 typ srflx raddr 10.0.17.1 rport 46155 ufrag EEtu network-cost 10"
      ))
    #expect(candidate.transport == .udp)
    #expect(candidate.type == .serverReflexive)
    #expect(candidate.endpoint == endpoint("203.0.113.5:46154"))
    #expect(candidate.relatedPort == 46_155)
    #expect(candidate.ufrag == "EEtu")
    #expect(candidate.networkCost == 10)
  }

  @Test func `a name has no endpoint until it is resolved`() throws {
    let candidate = try #require(ICECandidate("candidate:4 1 udp 1 some-name.local 54321 typ host"))
    #expect(candidate.endpoint == nil)
    let address = endpoint("192.168.1.9:1").address
    #expect(candidate.resolved(to: address).endpoint == Endpoint(address, port: 54_321))
  }

  @Test(arguments: [
    "", "candidate:", "candidate:1 1 udp 1 192.0.2.1 5000", "candidate:1 1 udp 1 192.0.2.1 5000 typ",
    "candidate:1 1 udp 1 192.0.2.1 5000 typ fancy", "candidate:1 0 udp 1 192.0.2.1 5000 typ host",
    "candidate:1 257 udp 1 192.0.2.1 5000 typ host", "candidate:1 1 udp 4294967296 192.0.2.1 5000 typ host",
    "candidate:1 1 udp -1 192.0.2.1 5000 typ host", "candidate:1 1 udp 1 192.0.2.1 65536 typ host",
    "candidate:1 1 udp 1 192.0.2.300 5000 typ host", "candidate:1 1 udp 1 192.0.2.1 5000 kind host",
    "candidate:1 1 udp 1 192.0.2.1 5000 typ host raddr", "candidate:1 1 udp 1 192.0.2.1 5000 typ srflx rport x",
    "candidate:\u{e9} 1 udp 1 192.0.2.1 5000 typ host",
    "candidate:123456789012345678901234567890123 1 udp 1 192.0.2.1 5000 typ host",
    "candidate:1 +1 udp 1 192.0.2.1 5000 typ host",
  ])
  func `text that is no candidate is refused`(text: String) {
    #expect(ICECandidate(text) == nil)
  }

  @Test func `no text traps`() {
    var random = RandomSource(seed: 3).stream("text")
    let words = [
      "candidate:1", "1", "udp", "2130706431", "192.0.2.1", "::", "5000", "typ", "host", "raddr", "rport", "é", ":",
      "-1",
      "99999999999999999999", "a=", "generation", "ufrag",
    ]
    for _ in 0..<2_000 {
      let text = (0..<random.uniform(below: 14)).map { _ in words[Int(random.uniform(below: UInt64(words.count)))] }
      if let candidate = ICECandidate(text.joined(separator: " ")) {
        #expect(ICECandidate(candidate.description) == candidate)
      }
    }
  }

  @Test func `fresh credentials have the lengths and letters of RFC 8839`() {
    var random = RandomSource(seed: 5).stream("credentials")
    let first = ICECredentials(from: &random)
    let second = ICECredentials(from: &random)
    #expect(first.isValid && second.isValid && first != second)
    #expect(first.ufrag.utf8.count == 4 && first.password.utf8.count == 24)
    #expect(!ICECredentials(ufrag: "abc", password: first.password).isValid)
    #expect(!ICECredentials(ufrag: first.ufrag, password: "short").isValid)
    #expect(!ICECredentials(ufrag: "ab:d", password: first.password).isValid)
  }
}
