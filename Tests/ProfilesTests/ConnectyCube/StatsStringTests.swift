import CallCore
import Testing

@testable import Profiles

@Suite struct StatsStringTests {
  /// The sample of the public header of the SDK's relative.
  static let sample = """
    (cpu)61%
    CN 565ms | local->local/udp | (s)248Kbps | (r)869Kbps
    VS (input) 640x480@30fps | (sent) 640x480@30fps
    VS (enc) 279Kbps/260Kbps | (sent) 200Kbps/292Kbps | 8ms | H264
    AvgQP (past 30 encoded frames) = 36
    VR (recv) 640x480@26fps | (decoded)27 | (output)27fps | 827Kbps/0bps | 4ms
    AS 38Kbps | opus
    AR 37Kbps | opus | 168ms | (expandrate)0.190002
    Packets lost: VS 17 | VR 0 | AS 3 | AR 0
    """

  private static let audioOnly = """
    CN 50ms | srflx->relay/udp | (s)1.05Mbps | (r)0bps
    AS 999bps | PCMU
    AR 37Kbps | telephone-event | 0ms | (expandrate)0
    Packets lost: VS 0 | VR 0 | AS -3 | AR 12
    """

  @Test(arguments: [sample, audioOnly]) func `what is read prints as it was`(_ text: String) throws {
    #expect(try StatsString(parsing: text).description == text)
  }

  @Test func `every field of the sample is read`() throws {
    let read = try StatsString(parsing: Self.sample)
    #expect(read.cpu == 61)
    #expect(read.connection.roundTripTime == 565)
    #expect(read.connection.localCandidateType == "local" && read.connection.transportType == "udp")
    #expect(read.connection.receivedBitrate.rate == .kilobitsPerSecond(869))
    let sent = try #require(read.videoSend)
    #expect(sent.input == .init(width: 640, height: 480, fps: 30))
    #expect(sent.actualEncodingBitrate.rate == .kilobitsPerSecond(279))
    #expect(sent.availableBandwidth.rate == .kilobitsPerSecond(292))
    #expect(sent.framesEncoded == 30 && sent.averageQP == DecimalNumber(digits: 36) && sent.codec == "H264")
    let received = try #require(read.videoReceive)
    #expect(received.decodedFps == 27 && received.availableBandwidth.rate == .zero && received.decodeTime == 4)
    #expect(read.audioReceive?.currentDelay == 168)
    #expect(read.audioReceive?.expandRate == DecimalNumber(digits: 190_002, places: 6))
    #expect(read.packetsLost == .init(videoSend: 17, videoReceive: 0, audioSend: 3, audioReceive: 0))
  }

  @Test func `a call without video has no lines about video`() throws {
    let read = try StatsString(parsing: Self.audioOnly)
    #expect(read.videoSend == nil && read.videoReceive == nil && read.cpu == nil)
    #expect(read.connection.sendBitrate.rate == .bitsPerSecond(1_050_000))
    #expect(read.packetsLost.audioSend == -3)
  }

  @Test(arguments: [
    ("565ms", "0565ms", "line 2: a number begins with 0"),
    ("565ms", "ms", "line 2: expected a number, but there is 'ms | local->local/ud'"),
    ("565ms", "+565ms", "line 2: expected a number, but there is '+565ms | local->loca'"),
    ("565ms", "9999999999999999ms", "line 2: a number has more than 15 digits"),
    ("248Kbps", "248kbps", "line 2: expected bps, Kbps or Mbps, but there is 'kbps | (r)869Kbps'"),
    ("248Kbps", "0.00000000000000001Mbps", "line 2: a number has more than 15 digits"),
    ("local->", "->", "line 2: expected a word, but there is '->local/udp | (s)248'"),
    ("| opus\n", "|  opus\n", "line 7: expected a word, but there is ' opus'"),
    ("| opus\n", "| \(String(repeating: "o", count: 33))\n", "line 7: a word has more than 32 letters"),
    ("AR 0", "AR -0", "line 9: a number is -0"),
    ("AR 0", "AR 0\n", "line 9: expected the end of the text, but the line ends"),
    ("VS (enc)", "VS (dec)", "line 4: expected 'VS (enc) ', but there is 'VS (dec) 279Kbps/260'"),
    ("AvgQP", "\nAvgQP", "line 5: expected 'AvgQP (past ', but the line ends"),
    ("(cpu)61%\n", "(cpu)61%\r\n", "line 1: expected the end of the line, but there is '\r'"),
  ]) func `another form is refused with its line and the reason`(_ old: String, _ new: String, _ reason: String) {
    let text = Self.sample.replacing(old, with: new)
    #expect(text != Self.sample)
    do throws(StatsStringError) {
      _ = try StatsString(parsing: text)
      Issue.record("it is read")
    } catch {
      #expect("\(error)" == reason)
    }
  }

  @Test func `every part of a text is refused, and none traps`() {
    let bytes = Array(Self.sample.utf8)
    for end in bytes.indices {
      let part = String(decoding: bytes[..<end], as: UTF8.self)
      #expect(throws: StatsStringError.self) { _ = try StatsString(parsing: part) }
    }
  }

  @Test func `what is changed is refused, or prints as it was`() {
    var random = RandomStream(seed: 7)
    for _ in 0..<5_000 {
      var bytes = Array(Self.sample.utf8)
      for _ in 0..<3 {
        let place = Int(random.uniform(below: UInt64(bytes.count)))
        bytes[place] = UInt8(random.uniform(below: 256))
      }
      let text = String(decoding: bytes, as: UTF8.self)
      if let read = try? StatsString(parsing: text) { #expect(read.description == text) }
    }
  }

  @Test(arguments: [
    (0, "0bps"), (999.4, "999bps"), (1_000, "1000bps"), (1_001, "1Kbps"), (248_499, "248Kbps"), (1e6, "1000Kbps"),
    (1_045_000, "1.05Mbps"), (12_340_000, "12.34Mbps"), (-5, "0bps"), (.infinity, "10000000000000.00Mbps"),
    (.nan, "0bps"),
  ]) func `a rate is printed in the unit that fits`(_ rate: Double, _ text: String) {
    #expect(StatsString.Rate(bitsPerSecond: rate).description == text)
  }
}
