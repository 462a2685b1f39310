package import CallCore

/// The data channels of a session over one association (RFC 8831, RFC 8832), sans-IO: W3C's `RTCSctpTransport` and
/// `RTCDataChannel`.
///
/// The owner calls ``start(as:at:)`` when DTLS is connected, passes every decrypted record to ``receive(_:at:)``, and
/// after every call drains ``transmit(into:at:)`` until it returns false, then ``nextEvent()`` until nil, and only then
/// reads ``deadline``.
package struct SCTPTransport: ~Copyable {
  /// The settings of the association and the limits of channels.
  package struct Configuration: Hashable, Sendable {
    /// The settings of the association.
    package var association = SCTPSettings()
    /// The maximum size of a message that is sent, whatever the peer accepts.
    package var maximumMessageSize = 256 * 1_024
    /// The maximum buffered amount of a channel.
    package var maximumBufferedAmount = 16 * 1_024 * 1_024

    package init() {}
  }

  /// The configuration that the transport was made with.
  package let configuration: Configuration
  /// The state of the transport; `connecting` before the start, too.
  package internal(set) var state = SCTPTransportState.connecting
  /// The role that was given at the start.
  package internal(set) var role: DataChannelRole?

  var association: SCTPAssociation
  /// The channels that are not closed, by their IDs.
  var channels: [DataChannel] = []
  /// The channels of streams.
  var channelOfStream: [UInt16: DataChannelID] = [:]
  var events = FIFO<DataChannelEvent>()
  var opened = 0
  var closed = 0
  var refused = 0
  /// The number of the next channel.
  package private(set) var nextID: Int
  private var remoteMaximumMessageSize: Int?

  /// Makes a transport. All random numbers come from `random`.
  ///
  /// - Parameter firstID: the number of the first channel, of a transport that follows another.
  package init(configuration: Configuration = Configuration(), random: consuming RandomStream, firstID: Int = 0) {
    self.configuration = configuration
    nextID = firstID
    association = SCTPAssociation(settings: configuration.association, random: random)
  }

  // MARK: Commands

  /// Opens the association, and gives the channels that wait for it their streams.
  ///
  /// - Parameter remotePort: the port in the remote description (RFC 8841 section 5); nil for that of the settings.
  package mutating func start(as role: DataChannelRole, remotePort: UInt16? = nil, at now: Instant) {
    guard self.role == nil, state == .connecting else { return }
    self.role = role
    if let remotePort { association.settings.remotePort = remotePort }
    for id in channels.map(\.id) {
      guard let index = index(of: id), channels[index].stream == nil else { continue }
      if let stream = freeStream(for: role) { assign(stream, to: index) } else { close(id, failure: .noStream) }
    }
    association.start(at: now)
    settle(at: now)
  }

  /// Sets the maximum message size of the remote description: zero means no limit, nil the default (RFC 8841 section
  /// 6).
  package mutating func setRemoteMaximumMessageSize(_ size: Int?) {
    remoteMaximumMessageSize = size.map { $0 == 0 ? .max : $0 } ?? 65_536
  }

  /// The maximum size of a message that can be sent.
  package var maximumMessageSize: Int { min(configuration.maximumMessageSize, remoteMaximumMessageSize ?? .max) }

  /// Opens a channel.
  package mutating func open(
    _ parameters: DataChannelParameters, at now: Instant
  ) throws(DataChannelError) -> DataChannelID {
    guard state != .closed else { throw .transportClosed }
    guard parameters.label.utf8.count <= 65_535, parameters.protocolName.utf8.count <= 65_535 else {
      throw .nameTooLong
    }
    guard parameters.maximumRetransmits == nil || parameters.maximumPacketLifeTime == nil else { throw .bothLimits }
    var stream = parameters.negotiatedStream
    if let stream {
      guard stream < association.outboundStreams else { throw .streamOutOfRange(stream) }
      guard channelOfStream[stream] == nil else { throw .streamInUse(stream) }
    } else if let role {
      stream = freeStream(for: role)
      guard stream != nil else { throw .noFreeStream }
    } else if channels.count >= Int(association.outboundStreams) {
      throw .noFreeStream
    }
    let id = add(parameters, stream: stream, isRemote: false)
    if state == .connected { activate(id, at: now) }
    settle(at: now)
    return id
  }

  /// Sends a message on an open channel.
  package mutating func send(
    _ message: DataChannelMessage, on id: DataChannelID, at now: Instant
  ) throws(DataChannelError) {
    guard let index = index(of: id) else { throw .unknownChannel }
    let channel = channels[index]
    guard channel.state == .open, let stream = channel.stream else { throw .notOpen(channel.state) }
    let size = message.byteCount
    guard size <= maximumMessageSize else { throw .messageTooLarge(limit: maximumMessageSize) }
    guard association.bufferedBytes(of: stream) + size <= configuration.maximumBufferedAmount else {
      throw .bufferFull
    }
    let parameters = channel.parameters
    let outgoing = OutgoingMessage(
      stream: stream, ppid: message.ppid, payload: message.payload, countsAsBuffered: size > 0,
      isUnordered: !parameters.isOrdered && channel.isAcknowledged,
      maximumRetransmissions: parameters.maximumRetransmits.map(Int.init),
      expiry: parameters.maximumPacketLifeTime.map { now + .milliseconds(Int64($0)) }, priority: parameters.priority)
    do { try association.send(outgoing, at: now) } catch {
      switch error {
      case .sendBufferFull: throw .bufferFull
      case .notEstablished, .noSuchStream, .streamIsReset, .emptyMessage: throw .notOpen(channel.state)
      }
    }
    channels[index].messagesSent += 1
    channels[index].bytesSent += size
    channels[index].bufferedAmount += size
  }

  /// Closes a channel after everything was sent.
  package mutating func close(_ id: DataChannelID, at now: Instant) {
    guard let index = index(of: id) else { return }
    switch channels[index].state {
    case .connecting: finish(id)
    case .open:
      change(id, to: .closing)
      requestReset(id, at: now)
    case .closing, .closed: break
    }
    settle(at: now)
  }

  /// Closes the open channels of this side as by an error: what waits to be sent is lost. Returns their number.
  package mutating func failChannels(at now: Instant) -> Int {
    let failing = channels.filter { $0.state == .open && !$0.isRemote }
    for channel in failing {
      events.append(.failed(channel.id, .internalError))
      if let stream = channel.stream { association.discardUnsent(of: stream) }
      close(channel.id, at: now)
    }
    return failing.count
  }

  /// Closes the transport at once, and all channels with it; the peer gets an ABORT.
  package mutating func close(at now: Instant) {
    association.abort(reason: "closed", at: now)
    settle(at: now)
  }

  /// Closes the transport after everything was sent and acknowledged.
  package mutating func shutdown(at now: Instant) {
    association.shutdown(at: now)
    settle(at: now)
  }

  /// Sets the buffered amount at which ``DataChannelEvent/bufferedAmountLow(_:)`` is reported.
  package mutating func setBufferedAmountLowThreshold(_ threshold: Int, of id: DataChannelID) {
    if let index = index(of: id) { channels[index].threshold = max(0, threshold) }
  }

  // MARK: Channels

  func index(of id: DataChannelID) -> Int? {
    var (low, high) = (0, channels.count)
    while low < high {
      let middle = (low + high) / 2
      if channels[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < channels.count && channels[low].id == id ? low : nil
  }

  mutating func add(_ parameters: DataChannelParameters, stream: UInt16?, isRemote: Bool) -> DataChannelID {
    let id = DataChannelID(rawValue: nextID)
    nextID += 1
    channels.append(DataChannel(id: id, parameters: parameters, isRemote: isRemote, stream: stream))
    if let stream { channelOfStream[stream] = id }
    return id
  }

  private mutating func assign(_ stream: UInt16, to index: Int) {
    channels[index].stream = stream
    channelOfStream[stream] = channels[index].id
  }

  /// The lowest stream of our parity that no channel has.
  private func freeStream(for role: DataChannelRole) -> UInt16? {
    stride(from: role == .client ? 0 : 1, to: association.outboundStreams, by: 2).first { channelOfStream[$0] == nil }
  }
}
