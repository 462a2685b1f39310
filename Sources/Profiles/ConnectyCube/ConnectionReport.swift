internal import CallCore
internal import Statistics

/// A report of the product on the connection to an opponent (`QBRTCStatsReport` of its relative), made of two reports of
/// the connection's W3C statistics.
///
/// What the statistics do not tell is zero: the times of encoding and decoding, which no virtual time passes in, and the
/// bandwidth that is available to receive, which the sender estimates.
struct ConnectionReport {
  let text: StatsString
  /// The loudness of the opponent's voice, 0 to 32767.
  let audioReceivedOutputLevel: Int

  init(_ report: StatsReport, since last: StatsReport, after time: Interval) {
    let growth = StatsGrowth(now: report, last: last, seconds: time.seconds)
    let inboundAudio = report.first("inbound-rtp", kind: "audio")
    text = StatsString(
      connection: growth.connection,
      videoSend: report.first("outbound-rtp", kind: "video").map(growth.videoSend),
      videoReceive: report.first("inbound-rtp", kind: "video").map(growth.videoReceive),
      audioSend: report.first("outbound-rtp", kind: "audio").map(growth.audioSend),
      audioReceive: inboundAudio.map(growth.audioReceive), packetsLost: growth.packetsLost)
    let level = inboundAudio?.number("audioLevel") ?? 0
    audioReceivedOutputLevel = Int(DecimalNumber(rounding: min(level, 1) * 32_767, places: 0).digits)
  }
}

/// What has grown between two reports.
private struct StatsGrowth {
  let now: StatsReport
  let last: StatsReport
  let seconds: Double

  /// What a counter gained; all of it for a new object. A counter that began anew gained what it is.
  private func growth(of member: String, in entry: StatsReport.Entry) -> Double {
    let value = entry.number(member) ?? 0
    let before = last.entries.first { $0.id == entry.id && $0.type == entry.type }?.number(member) ?? 0
    return value < before ? value : value - before
  }

  private func perSecond(_ growth: Double) -> Double { seconds > 0 ? growth / seconds : 0 }

  private func bitrate(_ entry: StatsReport.Entry, _ members: String...) -> StatsString.Rate {
    StatsString.Rate(bitsPerSecond: perSecond(members.reduce(0) { $0 + growth(of: $1, in: entry) } * 8))
  }

  private func ratio(_ part: Double, _ whole: Double) -> Double { whole > 0 ? part / whole : 0 }

  private func codec(of entry: StatsReport.Entry) -> String {
    let type = entry.text("codecId").flatMap { now.entry("codec", $0) }?.text("mimeType")
    return type?.split(separator: "/").last.map(String.init) ?? "unknown"
  }

  private func pictures(
    _ entry: StatsReport.Entry?, _ width: String, _ height: String, fps: Double
  ) -> StatsString.Pictures {
    StatsString.Pictures(
      width: whole(entry?.number(width)), height: whole(entry?.number(height)), fps: whole(fps))
  }

  private func whole(_ value: Double?) -> Int64 { DecimalNumber(rounding: value ?? 0, places: 0).digits }

  // MARK: Lines

  private var pair: StatsReport.Entry? {
    now.first("transport")?.text("selectedCandidatePairId").flatMap { now.entry("candidate-pair", $0) }
  }

  var connection: StatsString.Connection {
    let local = pair?.text("localCandidateId").flatMap { now.entry("local-candidate", $0) }
    let remote = pair?.text("remoteCandidateId").flatMap { now.entry("remote-candidate", $0) }
    let none = StatsString.Rate(bitsPerSecond: 0)
    let transport = now.first("transport")
    return StatsString.Connection(
      roundTripTime: whole((pair?.number("currentRoundTripTime") ?? 0) * 1_000),
      localCandidateType: local?.text("candidateType") ?? "unknown",
      remoteCandidateType: remote?.text("candidateType") ?? "unknown",
      transportType: local?.text("protocol") ?? "unknown",
      sendBitrate: transport.map { bitrate($0, "bytesSent") } ?? none,
      receivedBitrate: transport.map { bitrate($0, "bytesReceived") } ?? none)
  }

  func videoSend(_ stream: StatsReport.Entry) -> StatsString.VideoSend {
    let source = stream.text("mediaSourceId").flatMap { now.entry("media-source", $0) }
    let encoded = growth(of: "bytesSent", in: stream) - growth(of: "retransmittedBytesSent", in: stream)
    let frames = growth(of: "framesEncoded", in: stream)
    // The SDK's relatives divide whole numbers.
    let average = ratio(growth(of: "qpSum", in: stream), frames).rounded(.down)
    return StatsString.VideoSend(
      input: pictures(source, "width", "height", fps: source?.number("framesPerSecond") ?? 0),
      sent: pictures(stream, "frameWidth", "frameHeight", fps: stream.number("framesPerSecond") ?? 0),
      actualEncodingBitrate: StatsString.Rate(bitsPerSecond: perSecond(max(0, encoded) * 8)),
      targetEncodingBitrate: StatsString.Rate(bitsPerSecond: stream.number("targetBitrate") ?? 0),
      bitrate: bitrate(stream, "bytesSent", "headerBytesSent"),
      availableBandwidth: StatsString.Rate(bitsPerSecond: pair?.number("availableOutgoingBitrate") ?? 0),
      encodeTime: 0, codec: codec(of: stream), framesEncoded: whole(frames),
      averageQP: DecimalNumber(rounding: average, places: 0))
  }

  func videoReceive(_ stream: StatsReport.Entry) -> StatsString.VideoReceive {
    StatsString.VideoReceive(
      received: pictures(
        stream, "frameWidth", "frameHeight", fps: perSecond(growth(of: "framesReceived", in: stream))),
      decodedFps: whole(perSecond(growth(of: "framesDecoded", in: stream))),
      outputFps: whole(perSecond(growth(of: "framesRendered", in: stream))),
      bitrate: bitrate(stream, "bytesReceived", "headerBytesReceived"),
      availableBandwidth: StatsString.Rate(bitsPerSecond: 0), decodeTime: 0)
  }

  func audioSend(_ stream: StatsReport.Entry) -> StatsString.AudioSend {
    StatsString.AudioSend(bitrate: bitrate(stream, "bytesSent", "headerBytesSent"), codec: codec(of: stream))
  }

  func audioReceive(_ stream: StatsReport.Entry) -> StatsString.AudioReceive {
    let delay = ratio(
      growth(of: "jitterBufferDelay", in: stream), growth(of: "jitterBufferEmittedCount", in: stream))
    let expansion = ratio(growth(of: "concealedSamples", in: stream), growth(of: "totalSamplesReceived", in: stream))
    return StatsString.AudioReceive(
      bitrate: bitrate(stream, "bytesReceived", "headerBytesReceived"), codec: codec(of: stream),
      currentDelay: whole(delay * 1_000), expandRate: DecimalNumber(rounding: expansion, places: 6).trimmed)
  }

  var packetsLost: StatsString.PacketsLost {
    func lost(_ type: String, _ kind: String) -> Int64 {
      guard case .integer(let count)? = now.first(type, kind: kind)?["packetsLost"] else { return 0 }
      return count
    }
    return StatsString.PacketsLost(
      videoSend: lost("remote-inbound-rtp", "video"), videoReceive: lost("inbound-rtp", "video"),
      audioSend: lost("remote-inbound-rtp", "audio"), audioReceive: lost("inbound-rtp", "audio"))
  }
}
