import Testing

@testable import ScenarioJudge
@testable import ScenarioRun

/// What is on the wire by kind, beside what the sender counts.
@Suite struct WireByteTests {
  private static let text = """
    callsim: 1
    id: test
    media: synthetic
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifi }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { at: 1s, do: bob.accept }
      - { mark: early, at: 4003ms }
      - { mark: late, at: 14003ms }
      - { id: bye, at: 15s, do: alice.hangup }
    expect:
      - { id: header, metric: "wire.rtp_header_bytes(from: alice)", stat: delta, window: [early, late], gt: 1 }
      - { id: rtp, metric: "wire.rtp_bytes(from: alice)", stat: delta, window: [early, late], gt: 1 }
      - { id: rtcp, metric: "wire.rtcp_bytes(from: alice)", stat: delta, window: [early, late], gt: 1 }
      - { id: arrived, metric: "wire.rtcp_bytes(from: bob, to: alice)", stat: delta, window: [early, late], gt: 1 }
      - { id: all, metric: "wire.bytes(from: alice)", stat: delta, window: [early, late], gt: 1 }
      - { id: claimed, metric: alice.stats.outbound-rtp.audio.headerBytesSent, stat: delta, window: [early, late], gt: 1 }
      - { id: payload, metric: alice.stats.outbound-rtp.audio.bytesSent, stat: delta, window: [early, late], gt: 1 }
      - { id: packets, metric: alice.stats.outbound-rtp.audio.packetsSent, stat: delta, window: [early, late], gt: 1 }
      - { metric: "wire.rtcp_bytes(from: alice)", stat: rate, window: [early, late], lt: 20kbps }
    """

  @Test func `headers, media and RTCP on the wire are what the sender counts, and its tags`() throws {
    let result = try play(Self.text)
    #expect(result.verdict == .pass, "\(result.findings)")
    func number(_ id: String) throws -> Double { try #require(result.measurements.first { $0.id == id }?.measured) }
    // A statistic is read beside a packet at the border or not.
    let packets = try number("packets")
    #expect(try abs(number("header") - number("claimed")) <= 2 * number("header") / packets)
    let tags = try (number("rtp") - number("claimed") - number("payload")) / packets
    #expect((9.0...17).contains(tags), "\(tags) bytes of a packet are no payload and no header")
    #expect(try number("rtp") + number("rtcp") <= number("all"))
    #expect(try number("rtcp") > 50 && number("arrived") > 50)
  }
}
