/// The values and actions that every peer with a call stack has, in any profile: the names of W3C webrtc-pc and
/// webrtc-stats verbatim, and those of the device itself.
///
/// Each machine and value is a trace kind of that name whose first field is `value`, written about the peer; each event
/// is a trace kind of that name.
public enum CommonVocabulary {
  /// The state machines of a peer connection.
  public static let machines = [
    // RTCIceConnectionState, RTCIceGatheringState, RTCPeerConnectionState, RTCSignalingState, RTCDtlsTransportState
    machine("ice.state", ["new", "checking", "connected", "completed", "disconnected", "failed", "closed"]),
    machine("ice-gathering.state", ["new", "gathering", "complete"]),
    machine("connection.state", ["new", "connecting", "connected", "disconnected", "failed", "closed"]),
    machine(
      "signaling.state",
      ["stable", "have-local-offer", "have-remote-offer", "have-local-pranswer", "have-remote-pranswer", "closed"]),
    machine("dtls.state", ["new", "connecting", "connected", "closed", "failed"]),
  ]

  /// The action that makes another interface the preferred one.
  public static let switchNetwork = ActionDeclaration(
    "switch-network", [ParameterDeclaration("to", .text, required: true, "the interface, as the peer names it")],
    "the device makes another of its interfaces the preferred one")
  /// The actions of every peer.
  public static let actions = [switchNetwork] + DataChannelVocabulary.actions

  /// The events of every peer.
  public static let events = [
    EventDeclaration("ice.restart", "new ICE credentials were made for a restart"),
    EventDeclaration("ice.server-error", "a STUN or TURN server refused, or said nothing (W3C icecandidateerror)"),
    EventDeclaration("media.first-sent", "the first media packet of a call left the peer"),
    EventDeclaration("media.first-played", "the first received audio of a call was played"),
    EventDeclaration("media.first-shown", "the first received picture of a call was shown"),
    EventDeclaration("media.recovered", "forward error correction recovered a lost packet"),
    EventDeclaration("bandwidth.estimate", "the estimate of the bandwidth for sending changed"),
  ]

  /// The values of every peer.
  public static let values: [ValueDeclaration] =
    deviceValues + selectedPair + digits + stats + quality

  /// Returns whether a name belongs to one peer connection and not to the device or its app: each of several
  /// connections of a device has its own value.
  public static func isOfConnection(_ name: String) -> Bool {
    machines.contains { $0.name == name } || ["selected.", "stats.", "dtmf.", "data."].contains { name.hasPrefix($0) }
      || [
        "q.mos", "q.concealment", "q.mouth_to_ear", "q.frame_delay", "q.picture_age", "q.lip_sync", "q.psnr",
        "q.ssim", "q.stoi", "q.estoi", "q.lsd", "ice.restart", "ice.server-error", "media.first-sent",
        "media.recovered", "bandwidth.estimate",
      ].contains(name)
  }

  /// The declarations of the values of one peer connection.
  package static var connectionValues: [ValueDeclaration] { values.filter { isOfConnection($0.name) } }

  /// Returns the declaration of a value of every peer.
  package static func value(_ name: String) -> ValueDeclaration? {
    values.first { $0.name == name } ?? DataChannelVocabulary.value(name)
  }

  private static func machine(_ name: String, _ states: [String]) -> StateMachine {
    StateMachine(name, states: states.map { StateMachine.State($0, "") }, transitions: [])
  }

  private static let deviceValues = [
    ValueDeclaration("user.accepted", .flag, "the user of this device accepted or placed the current call"),
    ValueDeclaration("call.id", .text, "what both sides call the call that this app is or was last in"),
    ValueDeclaration(
      "call.peer", .text, "the peer with whom that call is; a user id that no peer has, or more than one, as it is"),
    ValueDeclaration("connections.open", .count, "peer connections that the app has not closed"),
    ValueDeclaration(
      "audible", .flag,
      "this peer hears sound of another; false after 2 s of silence, longer than a pause in speech"),
    ValueDeclaration("mic.open", .flag, "the microphone is open"),
    ValueDeclaration("speaker.open", .flag, "the speaker is playing"),
    ValueDeclaration("camera.open", .flag, "the camera is open; of peers with video"),
    ValueDeclaration("capture.open", .flag, "the microphone or the camera is open"),
    ValueDeclaration(
      "visible", .flag,
      "this peer sees pictures of another; false after 1 s without a new one; of peers with video"),
    ValueDeclaration(
      "app.state", .choice(AppState.allCases.map(\.rawValue)),
      "the state of the app, as its system sees it; a suspended one runs nothing, a terminated one has no process"),
    ValueDeclaration(
      "audio.output", .choice(AudioRoute.Output.allCases.map(\.rawValue)), "where the audio session plays"),
    ValueDeclaration(
      "audio.input", .choice(AudioRoute.Input.allCases.map(\.rawValue)), "where the audio session records"),
    ValueDeclaration("audio.manual", .flag, "the app starts the audio unit itself (RTCAudioSession.useManualAudio)"),
    ValueDeclaration(
      "audio.enabled", .flag, "with manual audio, the audio unit may run (RTCAudioSession.isAudioEnabled)"),
    ValueDeclaration(
      "audio.interrupted", .flag,
      "something else has the audio (another app, a cellular call that does not hold a CallKit call instead), or the app is suspended"
    ),
    ValueDeclaration(
      "audio.unit", .choice(AudioUnitState.allCases.map(\.rawValue)),
      "the audio unit; one that starts on a session that is inactive or does not record has failed, and stays so"),
    ValueDeclaration(
      "indicator", .choice(["none", "orange", "green"]),
      "the dot of the system: orange while the microphone records, green while the camera does"),
    ValueDeclaration("red-bar", .flag, "the bar of the system: an app in the background records"),
    ValueDeclaration(
      "camera.position", .choice(CameraPosition.allCases.map(\.rawValue)), "the camera in use"),
    ValueDeclaration(
      "camera.format", .text,
      "the format of the pictures of the camera in use, as 640x480@30; none before the first"),
    ValueDeclaration(
      "camera.formats", .text, "the formats of the camera in use, with spaces between; any where devices names none"),
    ValueDeclaration(
      "camera.interruption", .choice(["none"] + CameraInterruption.allCases.map(\.rawValue)),
      "why the system takes the camera from the app"),
    ValueDeclaration(
      "callkit", .choice(["none"] + CallKitWord.allCases.map(\.rawValue)),
      "what CallKit, PushKit and the app said last to each other"),
    ValueDeclaration(
      "callkit.state", .choice(CallKitState.allCases.map(\.rawValue)), "the state of the oldest call that CallKit has"),
    network,
  ]

  /// The device's preferred interface: one of the peer's interfaces, by the peer's name for it, or ``noNetwork``.
  package static let network = ValueDeclaration(
    "network", .text, "the interface the device prefers now; none while none is up")
  package static let noNetwork = "none"
  /// The word of a value that names peers, for none of them.
  package static let nobody = "none"

  private static let selectedPair: [ValueDeclaration] =
    ["local", "remote"].flatMap { side in
      [
        ValueDeclaration(
          "selected.\(side).candidateType", .choice(["host", "srflx", "prflx", "relay"]),
          "candidate type at the \(side) end of the selected pair"),
        ValueDeclaration("selected.\(side).address", .text, "address at the \(side) end of the selected pair"),
        ValueDeclaration("selected.\(side).port", .count, "port at the \(side) end of the selected pair"),
        ValueDeclaration("selected.\(side).protocol", .choice(["udp", "tcp"]), "transport of the selected pair"),
        ValueDeclaration(
          "selected.\(side).networkType", .choice(["wifi", "cellular", "ethernet", "unknown"]),
          "network of the \(side) end of the selected pair"),
      ]
    } + [
      ValueDeclaration(
        "selected.relayProtocol", .choice(["udp", "tcp", "tls", "none", "unknown"]),
        "how the peer reaches the relay at its end of the selected pair: none without a relay, unknown where a program "
          + "does not tell")
    ]

  private static let digits = [
    ValueDeclaration(
      "dtmf.digits", .text, "the DTMF digits that the other side has sent on this connection (RFC 4733), such as 42#")
  ]

  private static let quality = [
    ValueDeclaration("q.mos", .real, "listening quality of received audio over the last 5 s, 1 to 5"),
    ValueDeclaration(
      "q.concealment", .percentage,
      "share of 250 ms of speech that was made up or left out; beside a program, of played samples since the sample before"
    ),
    ValueDeclaration("q.mouth_to_ear", .duration, "delay from the remote microphone to this speaker"),
    ValueDeclaration(
      "q.frame_delay", .duration,
      "delay from the remote camera to this screen, of the pictures that come; none while the picture stands still"),
    ValueDeclaration(
      "q.picture_age", .duration,
      "time since the remote camera took the picture on this screen, which grows while the picture stands still"),
    ValueDeclaration(
      "q.lip_sync", .duration,
      "time by which a picture is shown after the sound of its moment is heard, negative when it is before, of the pictures "
        + "that come while their peer speaks; ITU-R BT.1359 takes -125 ms to 45 ms for not noticed, -185 ms to 90 ms for acceptable"
    ),
    ValueDeclaration(
      "q.psnr", .real, unit: "dB",
      "peak signal-to-noise ratio of the luma of the picture that is shown, against the one that the camera, or the "
        + "shared screen, gave, at most 100; of real pictures alone"),
    ValueDeclaration(
      "q.ssim", .real,
      "structural similarity of the two (Wang et al. 2004, a Gaussian window of 11), at most 1; of real pictures alone"),
    ValueDeclaration(
      "q.stoi", .real,
      "short-time objective intelligibility (Taal et al. 2011), at most 1, of each 2.5 s of speech that was sent, against "
        + "what was heard; of real sound alone"),
    ValueDeclaration(
      "q.estoi", .real,
      "extended short-time objective intelligibility of the same speech (Jensen and Taal 2016), at most 1"),
    ValueDeclaration(
      "q.lsd", .real, unit: "dB",
      "log-spectral distance of the same speech up to 5 kHz, over bins down to 60 dB below its loudest"),
    ValueDeclaration(
      "q.recovery", .duration,
      "time from the last fault to sound that is heard again, after an interruption of 100 ms or more"),
  ]

  /// The statistics that the built-in stack writes; an expectation on any other would never be tested.
  private static let stats: [ValueDeclaration] =
    members(of: "inbound-rtp.audio", inbound + inboundAudio) + members(of: "inbound-rtp.video", inbound + inboundVideo)
    + members(of: "outbound-rtp.audio", outbound) + members(of: "outbound-rtp.video", outbound + outboundVideo)
    + streamStats("remote-inbound-rtp", remoteInbound) + streamStats("remote-outbound-rtp", remoteOutbound)
    + members(of: "candidate-pair", candidatePair) + members(of: "transport", transport)
    + members(of: "media-source.audio", audioSource) + members(of: "media-source.video", videoSource)

  /// Returns RTP statistics for each kind of media: `stats.remote-inbound-rtp.audio.packetsLost`.
  private static func streamStats(_ type: String, _ list: [Member]) -> [ValueDeclaration] {
    members(of: type + ".audio", list) + members(of: type + ".video", list)
  }

  private static func members(of type: String, _ list: [Member]) -> [ValueDeclaration] {
    list.map {
      let isLoss = ["packetsLost", "fractionLost"].contains($0.name)
      return ValueDeclaration(
        "stats.\(type).\($0.name)", $0.type, unit: $0.unit, counting: $0.counting,
        "W3C webrtc-stats, \(type)\(isLoss ? Self.outages : "")")
    }
  }

  /// A note for authors who assert the loss of an outage.
  private static let outages = "; an outage of 50 packets or more counts as none, as in libwebrtc (see q.concealment)"

  private struct Member {
    let name: String
    let type: ValueType
    var unit: String?
    let counting: ValueDeclaration.Counting?
  }

  private static func counts(
    _ names: String..., unit: String? = nil, as counting: ValueDeclaration.Counting = .upward
  ) -> [Member] {
    names.map { Member(name: $0, type: .count, unit: unit, counting: counting) }
  }
  private static func totals(
    _ type: ValueType, _ names: String..., as counting: ValueDeclaration.Counting = .upward
  ) -> [Member] {
    names.map { Member(name: $0, type: type, counting: counting) }
  }
  /// Returns members that are not counters.
  private static func of(_ type: ValueType, _ names: String...) -> [Member] {
    names.map { Member(name: $0, type: type, counting: nil) }
  }

  private static let inbound =
    counts(
      "packetsReceived", "packetsReceivedWithCe", "packetsReceivedWithEct1", "jitterBufferEmittedCount", "nackCount")
    + counts("packetsLost", as: .net) + counts("bytesReceived", "headerBytesReceived", unit: "bytes")
    + totals(.duration, "jitterBufferDelay", "totalProcessingDelay")
    + of(.duration, "jitter", "lastPacketReceivedTimestamp", "estimatedPlayoutTimestamp") + of(.count, "ssrc")

  private static let inboundAudio =
    counts(
      "packetsDiscarded", "concealedSamples", "silentConcealedSamples", "concealmentEvents",
      "insertedSamplesForDeceleration", "removedSamplesForAcceleration", "totalSamplesReceived", "fecPacketsReceived",
      "fecPacketsDiscarded")
    + counts("fecBytesReceived", unit: "bytes")
    + totals(.duration, "jitterBufferTargetDelay", "jitterBufferMinimumDelay", "totalSamplesDuration")
    + totals(.real, "totalAudioEnergy") + of(.real, "audioLevel")

  private static let inboundVideo =
    counts(
      "retransmittedPacketsReceived", "framesReceived", "framesDecoded", "keyFramesDecoded", "framesDropped",
      "framesRendered", "framesAssembledFromMultiplePackets", "qpSum", "freezeCount", "pauseCount", "firCount",
      "pliCount", "fecPacketsReceived", "fecPacketsDiscarded")
    + counts("retransmittedBytesReceived", "fecBytesReceived", unit: "bytes")
    + totals(.duration, "totalFreezesDuration", "totalPausesDuration", "totalInterFrameDelay")
    + totals(.real, "totalSquaredInterFrameDelay")
    + of(.count, "frameWidth", "frameHeight", "rtxSsrc", "fecSsrc")
    + of(.real, "framesPerSecond")

  private static let outboundVideo =
    counts(
      "framesSent", "hugeFramesSent", "framesEncoded", "keyFramesEncoded", "qpSum", "firCount", "pliCount")
    + counts("qualityLimitationResolutionChanges")
    + of(.choice(["none", "cpu", "bandwidth", "other"]), "qualityLimitationReason")
    + of(.count, "frameWidth", "frameHeight", "rtxSsrc") + of(.real, "framesPerSecond")

  private static let outbound =
    counts("packetsSent", "nackCount", "retransmittedPacketsSent")
    + counts("bytesSent", "headerBytesSent", "retransmittedBytesSent", unit: "bytes")
    + of(.rate, "targetBitrate") + of(.flag, "active") + of(.count, "ssrc")

  private static let remoteInbound =
    counts("packetsLost", as: .net) + counts("roundTripTimeMeasurements") + totals(.duration, "totalRoundTripTime")
    + of(.percentage, "fractionLost") + of(.duration, "jitter", "roundTripTime") + of(.count, "ssrc")

  private static let remoteOutbound =
    counts("packetsSent", "reportsSent") + counts("bytesSent", unit: "bytes") + of(.duration, "remoteTimestamp")
    + of(.count, "ssrc")

  private static let candidatePair =
    counts(
      "packetsSent", "packetsReceived", "requestsSent", "requestsReceived", "responsesSent", "responsesReceived",
      "consentRequestsSent", as: .ofSelectedPair)
    + counts("bytesSent", "bytesReceived", unit: "bytes", as: .ofSelectedPair)
    + totals(.duration, "totalRoundTripTime", as: .ofSelectedPair)
    + of(.rate, "availableOutgoingBitrate")
    + of(.duration, "currentRoundTripTime", "lastPacketSentTimestamp", "lastPacketReceivedTimestamp")
    + of(.flag, "nominated")
    + of(.choice(["frozen", "waiting", "in-progress", "failed", "succeeded"]), "state")

  private static let transport =
    counts("packetsSent", "packetsReceived", "selectedCandidatePairChanges")
    + counts("bytesSent", "bytesReceived", unit: "bytes")
    + of(.choice(["new", "connecting", "connected", "closed", "failed"]), "dtlsState")
    + of(.choice(["new", "checking", "connected", "completed", "disconnected", "failed", "closed"]), "iceState")
    + of(.choice(["client", "server", "unknown"]), "dtlsRole")
    + of(.choice(["controlling", "controlled", "unknown"]), "iceRole")
    + of(.text, "srtpCipher", "dtlsCipher", "tlsVersion", "iceLocalUsernameFragment")

  private static let audioSource =
    of(.real, "audioLevel") + totals(.real, "totalAudioEnergy") + totals(.duration, "totalSamplesDuration")

  private static let videoSource =
    counts("frames") + of(.count, "width", "height") + of(.real, "framesPerSecond")
}

extension ValueDeclaration {
  /// The calls beside the one that an app shows: for a profile whose app can have any.
  public static let callsBeside = ValueDeclaration(
    "call.beside", .text,
    "the ids of the calls that go on beside the one that this app shows, with blanks between them; none")
}
