internal import CallCore
internal import CongestionControl
internal import RTP
internal import SDP

/// One transceiver's media of whatever kind, as the transport sees it: packets and feedback, out and in.
enum MediaChannel {
  case audio(AudioChannel)

  var kind: MediaKind {
    switch self {
    case .audio: .audio
    }
  }

  var state: ChannelState {
    get {
      switch self {
      case .audio(let channel): channel.state
      }
    }
    nonmutating set {
      switch self {
      case .audio(let channel): channel.state = newValue
      }
    }
  }

  func setTrack(_ track: LocalTrack) {
    switch self {
    case .audio(let channel): channel.setTrack(track)
    }
  }

  func setParameters(_ parameters: EncodingParameters) {
    switch self {
    case .audio(let channel): channel.setParameters(parameters)
    }
  }

  /// - Returns: the source that ends with it, when the far side may have heard of it.
  func removeTrack() -> UInt32? {
    switch self {
    case .audio(let channel): channel.removeTrack()
    }
  }

  func stop() {
    switch self {
    case .audio(let channel): channel.stop()
    }
  }

  /// Takes what a negotiation came to; nil when the section is rejected. Streams outlive a hold, with their numbers and
  /// counts.
  func apply(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    switch self {
    case .audio(let channel): channel.apply(media, extensions: extensions, random: random)
    }
  }

  // MARK: Out

  var hasSent: Bool {
    switch self {
    case .audio(let channel): channel.send?.hasSent ?? false
    }
  }

  /// Hands all packets that there are to the pacer, media and retransmissions.
  func produce(into pacer: inout Pacer, at now: Instant) {
    switch self {
    case .audio(let channel): channel.produce(into: &pacer, at: now)
    }
  }

  /// Counts a packet that leaves.
  ///
  /// - Parameter bytes: the packet as it leaves, before protection.
  /// - Returns: whether its source is one of this channel.
  func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) -> Bool {
    switch self {
    case .audio(let channel): channel.send?.departed(packet, bytes, at: now) ?? false
    }
  }

  /// Takes note of a packet that never leaves.
  func dropped(_ packet: OutgoingPacket) {
    switch self {
    case .audio(let channel): channel.send?.dropped(packet)
    }
  }

  /// Throws away what is due to be sent.
  func dropPending() {
    switch self {
    case .audio(let channel): channel.send?.dropPending()
    }
  }

  // MARK: Reports

  var roundTrip: Interval? {
    switch self {
    case .audio(let channel): channel.send?.roundTrip
    }
  }

  /// The report of a stream that sends; nil of one that is held.
  func senderReport(clock: WallClock, at now: Instant) -> SenderReport? {
    switch self {
    case .audio(let channel): channel.send?.senderReport(clock: clock, at: now)
    }
  }

  func endReportInterval() {
    switch self {
    case .audio(let channel): channel.send?.endReportInterval()
    }
  }

  /// Appends a block for each source that is there, up to a packet's worth.
  func takeReportBlocks(into blocks: inout [ReportBlock], at now: Instant) {
    switch self {
    case .audio(let channel): channel.receive?.takeReportBlocks(into: &blocks, at: now)
    }
  }

  func receive(_ report: SenderReport, at now: Instant) {
    switch self {
    case .audio(let channel): channel.receive?.receive(report, at: now)
    }
  }

  func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    switch self {
    case .audio(let channel): channel.send?.receive(block, clock: clock, at: now)
    }
  }

  // MARK: Feedback

  func receive(_ nack: GenericNACK) {
    switch self {
    case .audio(let channel): channel.send?.receive(nack)
    }
  }

  func takeNACK(from source: UInt32, roundTrip: Interval?, at now: Instant) -> GenericNACK? {
    switch self {
    case .audio(let channel): channel.receive?.takeNACK(from: source, roundTrip: roundTrip, at: now)
    }
  }

  func postponeNACK(at now: Instant) {
    switch self {
    case .audio(let channel): channel.receive?.postponeNACK(at: now)
    }
  }

  var nackDeadline: Instant? {
    switch self {
    case .audio(let channel): channel.receive?.nackDeadline
    }
  }

  // MARK: In

  /// What a received packet meant to its channel.
  enum Reception {
    case taken
    /// The first packet of a muted track.
    case unmuted(mid: String)
    /// Nothing is received here.
    case unexpected
    case unknownPayloadType
  }

  func receive(
    _ packet: RTPPacket, as role: RTPRouter.Role, in datagram: RawSpan, ecn: ECN, at now: Instant
  ) -> Reception {
    switch self {
    case .audio(let channel): channel.receive(packet, as: role, in: datagram, ecn: ecn, at: now)
    }
  }

  /// Whether a packet of this source has been received here.
  func knows(_ source: UInt32) -> Bool {
    switch self {
    case .audio(let channel): channel.receive?.knows(source) ?? false
    }
  }

  /// Takes over a source that its MID has moved here from another channel, with its numbers and counts.
  func adopt(_ source: UInt32, from other: MediaChannel) -> Bool {
    switch (self, other) {
    case (.audio(let channel), .audio(let other)): channel.adopt(source, from: other)
    }
  }

  /// Takes note of a BYE.
  ///
  /// - Returns: whether it was the source that plays.
  func depart(_ source: UInt32) -> Bool {
    switch self {
    case .audio(let channel): channel.receive?.depart(source) ?? false
    }
  }

  /// The far side sends no more in this section and every source of it has said goodbye.
  func forgetWhatIsOver() {
    switch self {
    case .audio(let channel): channel.forgetWhatIsOver()
    }
  }
}
