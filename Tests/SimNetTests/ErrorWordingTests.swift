import CallCore
import SimNet
import Testing

@Suite struct ErrorWordingTests {
  @Test(arguments: [
    (SimulatorError.unknownHost("x"), "there is no host 'x'"),
    (.unknownNetwork("x"), "there is no network 'x'"),
    (.unknownLink("x"), "there is no link 'x'"),
    (.duplicateName("x"), "two things are called 'x'"),
    (.noPrefix(network: "x"), "network 'x' has no IPv4 prefix, which the NAT behind it needs"),
    (.addressInUse(.anyIPv4), "the address 0.0.0.0 is taken"),
    (.addressOutsideNetwork(.anyIPv4, network: "x"), "the address 0.0.0.0 is not of network 'x'"),
    (.addressesExhausted(network: "x"), "network 'x' has no address left"),
    (.unknownAddress(.anyIPv4), "the host has no address 0.0.0.0"),
    (.portInUse(Endpoint(.anyIPv4, port: 7)), "the port of 0.0.0.0:7 is taken"),
    (.portsExhausted, "the host has no port left"),
    (.invalid("link a: loses 120%"), "link a: loses 120%"),
    (.notPresent("x has no NAT"), "x has no NAT"),
  ])
  func `every mistake is a sentence`(_ error: SimulatorError, wording: String) { #expect("\(error)" == wording) }
}
