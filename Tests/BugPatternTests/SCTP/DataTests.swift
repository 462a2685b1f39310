import CallCore
import Testing

@Suite struct DataPatternTests {
  @Test func `43 - packets of data channels fit IPv6's least MTU below TURN and DTLS`() throws {
    try proves(.dataOverheadForgotten, by: "data/relayed-over-ipv6")
  }
}
