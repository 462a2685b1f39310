internal import VirtualPeer
internal import Vocabulary

extension ConnectyCubeApp {
  /// What the last report on an opponent said, as its text says it; names are those of the report's properties, but for
  /// `hasVideo` and `averageQP`.
  static let reportValues: [ValueDeclaration] =
    [
      value("statsString", .text, "the whole text"),
      value("hasVideo", .flag, "there are lines about video"),
      value("localCandidateType", .text, "the type of the candidate here, in W3C's words"),
      value("remoteCandidateType", .text, "the type of the opponent's candidate"),
      value("transportType", .text, "the transport of the selected pair"),
      value("connectionRoundTripTime", .count, unit: "ms", "the round trip of the selected pair"),
      value("connectionSendBitrate", .rate, "all that was sent"),
      value("connectionReceivedBitrate", .rate, "all that was received"),
      value("videoSendInputFps", .count, "pictures that the encoder got in a second"),
      value("videoSendFps", .count, "pictures that were sent in a second"),
      value("videoSendBitrate", .rate, "the video that was sent"),
      value("videoSendCodec", .text, "its codec"),
      value("averageQP", .count, "the mean quantization parameter of the pictures since the report before"),
      value("videoReceivedFps", .count, "pictures that came in a second"),
      value("videoReceivedOutputFps", .count, "pictures that were shown in a second"),
      value("videoReceivedBitrate", .rate, "the video that was received"),
      value("availableReceiveBandwidth", .rate, "0bps: the sender estimates, and does not tell"),
      value("audioSendCodec", .text, "the codec of the sent audio"),
      value("audioReceivedCodec", .text, "the codec of the received audio"),
      value("audioReceivedBitrate", .rate, "the audio that was received"),
      value("audioReceivedCurrentDelay", .count, unit: "ms", "the delay in the jitter buffer"),
    ]
    + ["videoSend", "videoReceived", "audioSend", "audioReceived"].map {
      value("\($0)PacketsLost", .count, counting: .net, "packets lost so far")
    } + [
      ValueDeclaration(
        "report.audioReceivedOutputLevel", .count, of: .remote,
        "the loudness of the user's voice in the last report, 0 to 32767; not in its text")
    ]

  private static func value(
    _ name: String, _ type: ValueType, unit: String? = nil, counting: ValueDeclaration.Counting? = nil,
    _ summary: String
  ) -> ValueDeclaration {
    ValueDeclaration(
      "report.\(name)", type, of: .remote, unit: unit, counting: counting, "In the last report: \(summary).")
  }
}

extension PeerTrace {
  /// Sets what a report on an opponent says.
  func set(_ report: StatsString) {
    set("report.statsString", "\(report)")
    set("report.hasVideo", report.videoSend != nil || report.videoReceive != nil)
    let connection = report.connection
    set("report.localCandidateType", connection.localCandidateType)
    set("report.remoteCandidateType", connection.remoteCandidateType)
    set("report.transportType", connection.transportType)
    set("report.connectionRoundTripTime", Int(connection.roundTripTime))
    set("report.connectionSendBitrate", connection.sendBitrate.rate)
    set("report.connectionReceivedBitrate", connection.receivedBitrate.rate)
    if let video = report.videoSend {
      set("report.videoSendInputFps", Int(video.input.fps))
      set("report.videoSendFps", Int(video.sent.fps))
      set("report.videoSendBitrate", video.bitrate.rate)
      set("report.videoSendCodec", video.codec)
      set("report.averageQP", Int(video.averageQP.digits / video.averageQP.divisor))
    }
    if let video = report.videoReceive {
      set("report.videoReceivedFps", Int(video.received.fps))
      set("report.videoReceivedOutputFps", Int(video.outputFps))
      set("report.videoReceivedBitrate", video.bitrate.rate)
      set("report.availableReceiveBandwidth", video.availableBandwidth.rate)
    }
    if let audio = report.audioSend { set("report.audioSendCodec", audio.codec) }
    if let audio = report.audioReceive {
      set("report.audioReceivedCodec", audio.codec)
      set("report.audioReceivedBitrate", audio.bitrate.rate)
      set("report.audioReceivedCurrentDelay", Int(audio.currentDelay))
    }
    let lost = report.packetsLost
    set("report.videoSendPacketsLost", Int(lost.videoSend))
    set("report.videoReceivedPacketsLost", Int(lost.videoReceive))
    set("report.audioSendPacketsLost", Int(lost.audioSend))
    set("report.audioReceivedPacketsLost", Int(lost.audioReceive))
  }
}
