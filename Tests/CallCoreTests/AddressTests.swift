import CallCore
import Testing

@Suite struct AddressTests {
  @Test(arguments: [
    ("203.0.113.5", "203.0.113.5"), ("::", "::"), ("::1", "::1"), ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("::ffff:192.0.2.1", "::ffff:c000:201"), ("fe80::", "fe80::"),
  ])
  func `an address prints in canonical form`(text: String, canonical: String) throws {
    #expect(try #require(IPAddress(text)).description == canonical)
  }

  @Test(arguments: [
    "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.+4", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "12345::",
    "1:2:3:4:5:6:7:8:9", "::1.2.3", "1:2:3:4:5:6:7::8", "g::1", "::%eth0",
  ])
  func `malformed text is no address`(text: String) { #expect(IPAddress(text) == nil) }

  @Test(arguments: ["203.0.113.5:3478", "[2001:db8::1]:65535"])
  func `an endpoint survives a round trip through text`(text: String) throws {
    #expect(try #require(Endpoint(text)).description == text)
  }

  @Test(arguments: ["1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "::1:80", "[1.2.3.4]:80", "[::1]80", "1.2.3.4:+1"])
  func `malformed text is no endpoint`(text: String) { #expect(Endpoint(text) == nil) }

  @Test func `a prefix contains its hosts and nothing else`() throws {
    let prefix = try #require(IPPrefix("192.168.1.77/24"))
    #expect(prefix.description == "192.168.1.0/24")
    #expect(prefix.host(7) == IPAddress("192.168.1.7"))
    #expect(prefix.host(256) == nil)
    #expect(prefix.contains(try #require(IPAddress("192.168.1.255"))))
    #expect(!prefix.contains(try #require(IPAddress("192.168.2.0"))))
    let v6 = try #require(IPPrefix("2001:db8:1::/64"))
    #expect(v6.host(5) == IPAddress("2001:db8:1::5"))
    #expect(!v6.contains(try #require(IPAddress("2001:db8:1:1::5"))))
  }
}
