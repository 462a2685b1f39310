import CallCore
import Statistics
import Testing

@testable import Profiles

@Suite struct ConnectionReportTests {
  private typealias Members = [(name: String, value: StatsReport.Value)]

  private static func transport(sent: Int64, received: Int64) -> [StatsReport.Entry] {
    [
      .init(
        id: "T", type: "transport",
        members: [
          ("bytesSent", .integer(sent)), ("bytesReceived", .integer(received)),
          ("selectedCandidatePairId", .text("CP2")),
        ]),
      .init(id: "CP1", type: "candidate-pair", members: [("currentRoundTripTime", .real(0.9))]),
      .init(
        id: "CP2", type: "candidate-pair",
        members: [
          ("currentRoundTripTime", .real(0.0504)), ("localCandidateId", .text("L")), ("remoteCandidateId", .text("R")),
          ("availableOutgoingBitrate", .real(292_000)),
        ]),
      .init(
        id: "L", type: "local-candidate", members: [("candidateType", .text("host")), ("protocol", .text("udp"))]),
      .init(id: "R", type: "remote-candidate", members: [("candidateType", .text("relay"))]),
    ]
  }

  private static func video(qp: Int64, frames: Int64, bytes: Int64) -> [StatsReport.Entry] {
    let members: Members = [
      ("mediaSourceId", .text("S")), ("codecId", .text("C")), ("bytesSent", .integer(bytes)),
      ("headerBytesSent", .integer(0)), ("retransmittedBytesSent", .integer(bytes / 10)),
      ("targetBitrate", .real(260_000)), ("frameWidth", .integer(320)), ("frameHeight", .integer(240)),
      ("framesPerSecond", .real(29.6)), ("framesEncoded", .integer(frames)), ("qpSum", .integer(qp)),
    ]
    return [
      .init(id: "C", type: "codec", members: [("mimeType", .text("video/VP8"))]),
      .init(
        id: "S", type: "media-source", kind: "video",
        members: [("width", .integer(640)), ("height", .integer(480)), ("framesPerSecond", .real(30))]),
      .init(id: "OV1", type: "outbound-rtp", kind: "video", members: members),
    ]
  }

  private static func text(_ now: [StatsReport.Entry], since last: [StatsReport.Entry]) -> String {
    let report = ConnectionReport(StatsReport(entries: now), since: StatsReport(entries: last), after: .seconds(5))
    return report.text.description
  }

  @Test func `the connection is that of the selected pair`() {
    let text = Self.text(
      Self.transport(sent: 250_000, received: 1_000_000), since: Self.transport(sent: 95_000, received: 0))
    #expect(text.hasPrefix("CN 50ms | host->relay/udp | (s)248Kbps | (r)1.60Mbps\n"))
  }

  @Test func `AvgQP is the growth of the sum by that of the pictures, of whole numbers`() {
    let text = Self.text(
      Self.video(qp: 6_199, frames: 250, bytes: 325_000), since: Self.video(qp: 700, frames: 100, bytes: 200_000))
    #expect(text.contains("\nAvgQP (past 150 encoded frames) = 36\n"))
  }

  @Test func `AvgQP without a picture is zero`() {
    let same = Self.video(qp: 6_100, frames: 250, bytes: 325_000)
    #expect(Self.text(same, since: same).contains("\nAvgQP (past 0 encoded frames) = 0\n"))
  }

  @Test func `video that is sent has three lines`() {
    let text = Self.text(
      Self.transport(sent: 0, received: 0) + Self.video(qp: 100, frames: 10, bytes: 125_000),
      since: Self.video(qp: 0, frames: 0, bytes: 0))
    #expect(
      text.contains(
        """
        VS (input) 640x480@30fps | (sent) 320x240@30fps
        VS (enc) 180Kbps/260Kbps | (sent) 200Kbps/292Kbps | 0ms | VP8
        AvgQP (past 10 encoded frames) = 10
        """))
  }

  @Test func `a counter that began anew has gained what it is`() {
    let text = Self.text(
      Self.transport(sent: 62_500, received: 0), since: Self.transport(sent: 9_000_000, received: 0))
    #expect(text.contains("(s)100Kbps"))
  }

  @Test func `a connection that tells nothing has a report that can be read`() throws {
    let text = Self.text([], since: [])
    #expect(text == "CN 0ms | unknown->unknown/unknown | (s)0bps | (r)0bps\nPackets lost: VS 0 | VR 0 | AS 0 | AR 0")
    #expect(try StatsString(parsing: text).description == text)
  }

  @Test func `received audio tells its delay, what was expanded, and its level`() throws {
    let entry = StatsReport.Entry(
      id: "IA1", type: "inbound-rtp", kind: "audio",
      members: [
        ("bytesReceived", .integer(20_000)), ("headerBytesReceived", .integer(5_000)), ("packetsLost", .integer(-2)),
        ("jitterBufferDelay", .real(40)), ("jitterBufferEmittedCount", .integer(240_000)),
        ("concealedSamples", .integer(600)), ("totalSamplesReceived", .integer(240_000)), ("audioLevel", .real(0.5)),
      ])
    let report = ConnectionReport(
      StatsReport(entries: [entry]), since: StatsReport(entries: []), after: .seconds(5))
    #expect(report.text.description.contains("AR 40Kbps | unknown | 0ms | (expandrate)0.0025\n"))
    #expect(report.text.description.hasSuffix("AR -2"))
    #expect(report.audioReceivedOutputLevel == 16_384)
  }
}
