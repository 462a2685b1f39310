internal import CallCore
internal import CongestionControl
internal import RTP
internal import SDP

/// The media of one transceiver, of any kind, as the transport sees it: packets and feedback, out and in.
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

  /// - Returns: the SSRC that ends with the track, if the remote side may know it.
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

  /// Applies the result of a negotiation; nil when the section is rejected. Streams keep their sequence numbers and
  /// counters during a hold.
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

  /// Hands all pending packets to the pacer, media and retransmissions.
  func produce(into pacer: inout Pacer, at now: Instant) {
    switch self {
    case .audio(let channel): channel.produce(into: &pacer, at: now)
    }
  }

  /// Counts a packet as sent.
  ///
  /// - Parameter bytes: the packet as sent, before protection.
  /// - Returns: whether the packet's source belongs to this channel.
  func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) -> Bool {
    switch self {
    case .audio(let channel): channel.send?.departed(packet, bytes, at: now) ?? false
    }
  }

  /// Notes that a packet will not be sent.
  func dropped(_ packet: OutgoingPacket) {
    switch self {
    case .audio(let channel): channel.send?.dropped(packet)
    }
  }

  /// Discards pending media.
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

  /// Returns the sender report of an active stream; nil for a held one.
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

  /// Appends a report block for each active source, up to the limit of one packet.
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

  /// The result of a received packet.
  enum Reception {
    case taken
    /// The first packet of a muted track.
    case unmuted(mid: String)
    /// The channel does not receive.
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

  /// Returns whether a packet of this source was received here.
  func knows(_ source: UInt32) -> Bool {
    switch self {
    case .audio(let channel): channel.receive?.knows(source) ?? false
    }
  }

  /// Takes over a source whose MID has moved here from another channel, with its sequence numbers and counters.
  func adopt(_ source: UInt32, from other: MediaChannel) -> Bool {
    switch (self, other) {
    case (.audio(let channel), .audio(let other)): channel.adopt(source, from: other)
    }
  }

  /// Notes a BYE.
  ///
  /// - Returns: whether that source is playing.
  func depart(_ source: UInt32) -> Bool {
    switch self {
    case .audio(let channel): channel.receive?.depart(source) ?? false
    }
  }

  /// Releases the receive stream once the remote side no longer sends in this section and has sent a BYE for every
  /// source.
  func forgetWhatIsOver() {
    switch self {
    case .audio(let channel): channel.forgetWhatIsOver()
    }
  }
}
