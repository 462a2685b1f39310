package import CallCore
package import RTP

/// The receiving end of one video stream: packets go in, pictures to decode come out when they are due, with requests
/// for lost packets and for key frames.
///
/// Packets are authenticated and belong to one SSRC; retransmissions are given as the originals. After each call look
/// at ``takePicture(at:)``, ``takeNACK(at:)`` and ``takeKeyFrameRequest(at:)``, and call ``advance(to:)`` at
/// ``deadline``.
///
/// It is asked for its deadline after every packet, and must not be copied for it.
package struct VideoReceiver: ~Copyable, Sendable {
  /// A payload type and its format.
  package struct Codec: Hashable, Sendable {
    package var payloadType: UInt8
    package var format: VideoFormat

    package init(payloadType: UInt8, format: VideoFormat) {
      self.payloadType = payloadType
      self.format = format
    }
  }

  package struct Settings: Hashable, Sendable {
    package var codecs: [Codec]
    /// The identifier of the Dependency Descriptor's header extension.
    package var dependencyDescriptorID: UInt8?
    /// The settings for requests of lost packets; nil when generic NACK was not negotiated.
    package var nack: NACKGenerator.Settings? = .video
    /// Whether a key frame can be asked for (`nack pli` or `ccm fir`).
    package var requestsKeyFrames = true
    package var timing = RenderTiming.Settings()
    /// The time that the sender keeps packets to send them again (`rtx-time`, RFC 4588 section 8.1).
    package var retransmissionTime = Interval.seconds(1)

    package init(codecs: [Codec]) { self.codecs = codecs }
  }

  /// A picture to decode: one frame, or one for each spatial layer.
  package struct Picture: Sendable {
    /// The frames in decoding order, at least one.
    package var frames: [EncodedFrame]
    /// The time at which the picture is to be shown.
    package var renderTime: Instant
  }

  /// What became of a packet.
  package enum Verdict: Hashable, Sendable {
    case inserted, duplicate, old, overflow, padding
    case malformed
    /// The packet has a payload type without a format.
    case unknownPayloadType
    /// The packet's Dependency Descriptor needs a structure that has not arrived.
    case missingStructure
  }

  package private(set) var settings: Settings
  private var assembler: FrameAssembler?
  private var finder = FrameReferenceFinder()
  private var parameterSets = H264ParameterSets()
  private var structure: FrameDependencyStructure?
  private var buffer = FrameBuffer()
  private var schedule: PictureSchedule
  package private(set) var nack: NACKGenerator?
  package private(set) var keyFrames = KeyFrameRequester()
  /// The freezes and pauses of what was shown.
  package private(set) var freezes = FreezeDetector()
  private var watch: StreamWatch
  /// Memory that is used again.
  private var assembled: [EncodedFrame] = []
  private var ready: [EncodedFrame] = []
  private var pendingNACKs: [UInt16] = []
  package private(set) var statistics = VideoReceiveStatistics()

  package init(settings: Settings, at now: Instant) {
    self.settings = settings
    schedule = PictureSchedule(timing: RenderTiming(settings: settings.timing, at: now))
    nack = settings.nack.map { NACKGenerator(settings: $0) }
    watch = StreamWatch(retransmissionTime: settings.retransmissionTime)
  }

  package var timing: RenderTiming { schedule.timing }

  /// Applies the result of a later negotiation. Payload types keep their meaning, and earlier ones stay accepted (RFC
  /// 3264 section 8.3.2).
  package mutating func accept(_ codecs: [Codec], nack: NACKGenerator.Settings?, requestsKeyFrames: Bool) {
    for codec in codecs where !settings.codecs.contains(codec) { settings.codecs.append(codec) }
    if (nack == nil) != (settings.nack == nil) { self.nack = nack.map { NACKGenerator(settings: $0) } }
    settings.nack = nack
    settings.requestsKeyFrames = requestsKeyFrames
  }

  /// Postpones due requests while nothing can be sent.
  package mutating func postponeRequests(at now: Instant) {
    nack?.postponeDue(at: now)
    pendingNACKs.removeAll(keepingCapacity: true)
    keyFrames.postpone(at: now)
  }

  /// The round trip, which determines the time between requests.
  package mutating func setRoundTrip(_ roundTrip: Interval) {
    nack?.roundTrip = roundTrip
    keyFrames.roundTrip = roundTrip
    schedule.jitter.roundTrip = roundTrip
  }

  /// Sets the minimum of the delay between arrival and rendering.
  package mutating func setMinimumDelay(_ minimum: Interval) {
    schedule.timing.settings.minimumDelay = minimum
  }

  /// Takes a parameter set of H.264 from signalling.
  package mutating func insertParameterSet(_ unit: RawSpan) { parameterSets.insert(unit) }

  /// Begins again with a source that goes on at other sequence numbers. Frames that are whole stay.
  package mutating func restart() {
    assembler = nil
    finder.reset()
    nack?.reset()
  }
}

// MARK: - Receiving

extension VideoReceiver {
  /// Takes an authenticated packet, or the original in one that was retransmitted.
  ///
  /// - Parameter isRetransmission: whether it came in the stream that retransmits.
  @discardableResult
  package mutating func receive(
    _ packet: RTPPacket, in datagram: RawSpan, isRetransmission: Bool = false, at now: Instant
  ) -> Verdict {
    watch.packetArrived(at: now)
    let overflows = nack?.overflowCount ?? 0
    let requests = nack?.receive(sequenceNumber: packet.header.sequenceNumber, at: now) ?? 0
    if nack?.overflowCount ?? 0 > overflows { request(.nackOverflow, at: now) }
    let verdict = insert(packet, in: datagram, wasRequested: isRetransmission || requests > 0, at: now)
    statistics.count(verdict)
    deliver(at: now)
    return verdict
  }

  /// Takes the header of a packet of forward error correction: it holds no media, and its number is not missing.
  package mutating func receive(repair header: RTPHeader, at now: Instant) {
    watch.packetArrived(at: now)
    _ = nack?.receive(sequenceNumber: header.sequenceNumber, at: now)
    insertPadding(header, at: now)
    deliver(at: now)
  }

  private mutating func insertPadding(_ header: RTPHeader, at now: Instant) {
    guard assembler != nil else { return }
    if assembler?.insertPadding(header, at: now, into: &assembled) == .overflow { overflowed(at: now) }
    if let number = assembler?.extended(header.sequenceNumber) { finder.insertPadding(number, into: &ready) }
  }

  private mutating func insert(
    _ packet: RTPPacket, in datagram: RawSpan, wasRequested: Bool, at now: Instant
  ) -> Verdict {
    guard !packet.payloadRange.isEmpty else {
      insertPadding(packet.header, at: now)
      return .padding
    }
    guard let format = settings.codecs.first(where: { $0.payloadType == packet.header.payloadType })?.format else {
      return .unknownPayloadType
    }
    // Repaired from before the codec changed: as in libwebrtc, the new one goes on.
    if let assembler, assembler.format != format, assembler.isOlder(packet.header.sequenceNumber) { return .old }
    let bytes = datagram.extracting(packet.payloadRange)
    guard var payload = VideoPayload(parsing: bytes, format: format) else { return .malformed }
    var descriptor: DependencyDescriptor?
    if let id = settings.dependencyDescriptorID, let range = packet.extensionElement(id: id, in: datagram) {
      switch DependencyDescriptor.read(datagram.extracting(range), structure: structure) {
      case .malformed: return .malformed
      case .missingStructure:
        request(.missingStructure, at: now)
        return .missingStructure
      case .descriptor(let read):
        if let attached = read.structure { structure = attached }
        payload.apply(read)
        descriptor = read
      }
    }
    if payload.isKeyFrame { watch.keyPacketArrived(at: now) }
    if assembler?.format != format {
      if assembler != nil { finder.reset() }
      assembler = FrameAssembler(format: format)
    }
    let insertion = assembler?.insert(
      payload, bytes: bytes, header: packet.header, dependencies: descriptor, wasRequested: wasRequested, at: now,
      into: &assembled)
    switch insertion {
    case .duplicate?: return .duplicate
    case .old?: return .old
    case .overflow?:
      overflowed(at: now)
      return .overflow
    case .inserted?, nil: return .inserted
    }
  }

  private mutating func overflowed(at now: Instant) { request(.packetOverflow, at: now) }

  private mutating func request(_ reason: KeyFrameRequester.Reason, at now: Instant) {
    if settings.requestsKeyFrames { keyFrames.request(reason, at: now) }
  }

  /// Moves whole frames into the buffer.
  private mutating func deliver(at now: Instant) {
    for frame in assembled {
      var frame = frame
      if frame.format == .h264, !parameterSets.accept(&frame) {
        request(.missingParameterSets, at: now)
        statistics.undecodableFrameCount += 1
        continue
      }
      if !watch.hasReceivedFrame, !frame.isKeyFrame { request(.firstFrameIsDelta, at: now) }
      watch.hasReceivedFrame = true
      finder.insert(frame, into: &ready)
    }
    assembled.removeAll(keepingCapacity: true)
    for frame in ready { store(frame, at: now) }
    ready.removeAll(keepingCapacity: true)
    schedule.update(&buffer, isKeyFrameRequired: watch.isKeyFrameRequired, at: now)
    statistics.framesDropped = buffer.droppedCount
  }

  private mutating func store(_ frame: EncodedFrame, at now: Instant) {
    statistics.framesReceived += 1
    if frame.isKeyFrame {
      statistics.keyFramesReceived += 1
      keyFrames.keyFrameArrived()
    }
    // Delays of repaired frames are not those of the path.
    if !frame.wasRetransmitted { schedule.timing.frameArrived(timestamp: frame.timestamp, at: frame.lastArrival) }
    switch buffer.insert(frame) {
    case .inserted: break
    case .full: request(.frameOverflow, at: now)
    case .old, .invalidReferences: statistics.discardedFrameCount += 1
    }
    if let sequence = buffer.lastContinuousSequence { nack?.discard(through: UInt16(truncatingIfNeeded: sequence)) }
  }
}

// MARK: - Pictures and requests

extension VideoReceiver {
  /// Returns the picture to decode now, or nil when none is due.
  package mutating func takePicture(at now: Instant) -> Picture? {
    schedule.update(&buffer, isKeyFrameRequired: watch.isKeyFrameRequired, at: now)
    guard let picture = schedule.take(&buffer, at: now), let last = picture.frames.last else {
      statistics.framesDropped = buffer.droppedCount
      return nil
    }
    assembler?.discard(through: last.sequences.upperBound)
    finder.discard(through: last.sequences.upperBound)
    watch.pictureTaken(isKeyFrame: picture.frames[0].isKeyFrame, at: now)
    schedule.update(&buffer, isKeyFrameRequired: watch.isKeyFrameRequired, at: now)
    statistics.framesDropped = buffer.droppedCount
    return picture
  }

  /// Takes the time that the last picture took to decode.
  package mutating func pictureDecoded(in duration: Interval, at now: Instant) {
    schedule.timing.frameDecoded(in: duration, at: now)
  }

  /// Takes the time at which a picture is shown.
  package mutating func pictureRendered(at now: Instant) { freezes.frameRendered(at: now) }

  /// Notes that the decoder refused a picture: nothing but a key frame is given to it now.
  package mutating func decodingFailed(at now: Instant) {
    if watch.decodingFailed(at: now) { request(.decodeError, at: now) }
    schedule.cancel()
    schedule.update(&buffer, isKeyFrameRequired: watch.isKeyFrameRequired, at: now)
  }

  /// Does what is due by time alone.
  package mutating func advance(to now: Instant) {
    switch watch.advance(to: now) {
    case .nothing: break
    case .keyFrameNeeded: request(.timeout, at: now)
    case .paused: freezes.streamPaused()
    }
  }

  /// Returns the sequence numbers of one NACK to send now, or nil. Call it until it returns nil.
  package mutating func takeNACK(at now: Instant) -> [UInt16]? {
    if pendingNACKs.isEmpty, let deadline = nack?.deadline, now >= deadline {
      nack?.takeDue(at: now, into: &pendingNACKs)
    }
    guard !pendingNACKs.isEmpty else { return nil }
    let numbers = Array(pendingNACKs.prefix(NACKGenerator.Settings.maximumPerPacket))
    pendingNACKs.removeFirst(numbers.count)
    statistics.nackCount += 1
    return numbers
  }

  /// Returns why to ask for a key frame now, or nil.
  package mutating func takeKeyFrameRequest(at now: Instant) -> KeyFrameRequester.Reason? { keyFrames.take(at: now) }

  /// The time of the next picture, request or timeout; nil when nothing is pending.
  package var deadline: Instant? {
    if !pendingNACKs.isEmpty { return .zero }
    var earliest = schedule.decodeTime
    if let time = nack?.deadline { earliest = min(earliest ?? time, time) }
    if let time = keyFrames.deadline { earliest = min(earliest ?? time, time) }
    if let time = watch.deadline { earliest = min(earliest ?? time, time) }
    return earliest
  }
}
