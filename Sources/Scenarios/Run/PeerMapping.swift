internal import CallCore
internal import PeerSession
internal import ScenarioFormat
internal import VirtualPeer
internal import Vocabulary

/// Settings of peers, converted from the types of the format.
extension AudioSettings {
  init(_ audio: Scenario.Audio) {
    self.init()
    codecs = audio.formats.compactMap { AudioCodec(rawValue: $0.rawValue) }
    redundantPackets = audio.repeatedPackets
    // Runs of many seeds play the same sounds.
    reusesEncodedAudio = true
    if let stereo = audio.stereo { self.stereo = stereo }
    if let ptime = audio.ptime { self.ptime = ptime }
    if let bitrate = audio.bitrate { self.bitrate = bitrate }
    if let fec = audio.fec { inBandFEC = fec }
    if let dtx = audio.dtx { self.dtx = dtx }
    if let complexity = audio.complexity { self.complexity = complexity }
    if let cbr = audio.cbr { constantBitrate = cbr }
    expectedLossPercent = audio.packetLossHint.map { Int(($0 * 100).rounded()) }
  }
}

extension VideoSettings {
  init(_ video: Scenario.Video) {
    self.init()
    if let codecs = video.codecs { self.codecs = codecs.compactMap { Codec(rawValue: $0.rawValue) } }
    if let size = video.size { (width, height) = (size.width, size.height) }
    if let frameRate = video.frameRate { self.frameRate = frameRate }
    maximumBitrate = video.bitrate
    if let startBitrate = video.startBitrate { self.startBitrate = startBitrate }
    if let control = video.congestionControl {
      congestionControl = CongestionControl(rawValue: control.rawValue) ?? .googleCongestionControl
    }
    if let temporalLayers = video.temporalLayers { self.temporalLayers = temporalLayers }
    if let simulcast = video.simulcast { self.simulcast = simulcast }
    if let content = video.content { self.content = content == .detail ? .detail : .motion }
    if let nack = video.nack { self.nack = nack }
    if let rtx = video.rtx { retransmission = rtx }
    if let fec = video.fec { forwardErrorCorrection = ForwardErrorCorrection(rawValue: fec.rawValue) ?? .none }
    if let pli = video.pli { pictureLossIndication = pli }
    if let fir = video.fir { fullIntraRequest = fir }
    if let transportCC = video.transportCC { transportFeedback = transportCC }
    if let remb = video.remb { self.remb = remb }
  }
}

extension DeclaredDataChannel {
  init(_ channel: Scenario.DataChannel) {
    var settings = DataChannelInit()
    settings.protocolName = channel.protocolName
    settings.ordered = channel.ordered
    settings.maxRetransmits = channel.maxRetransmits.map { UInt16($0) }
    settings.maxPacketLifeTime = channel.maxPacketLifeTime.map { UInt16($0.milliseconds) }
    settings.negotiated = channel.negotiated
    settings.id = channel.id.map { UInt16($0) }
    self.init(channel.label, settings, opensWithCall: channel.opening == .withCall)
  }
}

extension CameraFormat {
  fileprivate init(_ format: Scenario.Devices.CameraFormat) {
    self.init(width: format.size.width, height: format.size.height, frameRate: format.frameRate)
  }
}

extension Device.Settings {
  init(_ peer: Scenario.Peer) throws(HarnessError) {
    self.init()
    audioClockDriftPPM = peer.clock.drift * 1e6
    mayRecord = peer.devices.permission == .granted
    hasBackgroundAudio = peer.devices.backgroundAudio
    hasBackgroundVoIP = peer.devices.backgroundVoIP ?? true
    hasFrontCamera = peer.devices.frontCamera
    frontCameraFormats = (peer.devices.frontCameraFormats ?? []).map(CameraFormat.init)
    backCameraFormats = (peer.devices.backCameraFormats ?? []).map(CameraFormat.init)
    isSimulator = peer.devices.simulator
    incomingCalls = IncomingCalls(rawValue: peer.devices.incomingCalls.rawValue) ?? .shown
    pushDelay = peer.devices.pushDelay
    hasVideo = peer.video != nil
    camera = hasVideo ? try CameraSource(peer.devices.camera?.value ?? .talkingHead) : nil
    switch peer.devices.microphone {
    case .speech: microphone = .speech
    case .tone: microphone = .tone(frequency: 440)
    case .noise: microphone = .noise
    case .silence: microphone = .silence
    case .file(let recording, _): microphone = .recording(recording)
    }
  }
}

extension CameraSource {
  /// Makes the source that a scenario means; nil for a device without a camera.
  fileprivate init?(_ camera: Scenario.Devices.Camera) throws(HarnessError) {
    switch camera {
    case .none: return nil
    case .talkingHead: self = .talkingHead
    case .movingBars: self = .movingBars
    case .screen: self = .screen
    case .black: self = .black
    case .file(let file, let atEnd, let path):
      self = .recording(try FilmedFile.video(file, atEnd: atEnd, name: path.wrappedValue))
    }
  }
}

extension NamedValues {
  init(_ arguments: Arguments) {
    self.init(arguments.entries.map { ($0.name, ArgumentValue($0.value.value)) })
  }
}

extension ArgumentValue {
  init(_ value: Value) {
    switch value {
    case .flag(let value): self = .flag(value)
    case .count(let value): self = .count(Int64(value))
    case .real(let value): self = .real(value)
    case .duration(let value): self = .duration(value)
    case .rate(let value): self = .rate(value)
    case .percentage(let value): self = .percentage(value)
    case .byteSize(let value): self = .byteSize(Int64(value))
    case .text(let value): self = .text(value)
    case .list(let members): self = .list(members.map { ArgumentValue($0) })
    }
  }
}
