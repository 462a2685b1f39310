public import CallCore
public import SCTP
internal import SDP

/// Data channels, with W3C's methods of `RTCPeerConnection` and `RTCDataChannel`.
extension CallSession {
  /// Creates a channel (W3C `createDataChannel`). The first one needs a negotiation.
  ///
  /// - Throws: `type` for settings that W3C refuses, `operation` when the stream is in use or none is left,
  ///   `invalidState` when the session or its SCTP transport is closed, `notSupported` when data channels are disabled.
  public func createDataChannel(
    _ label: String, _ settings: DataChannelInit = DataChannelInit(), at now: Instant
  ) throws(SessionError) -> DataChannelID {
    guard enter(at: now) else { throw .invalidState("closed") }
    guard jsep.configuration.data != nil else { throw SessionError(.dataUnsupported) }
    let parameters = try settings.parameters(label: label)
    let id: DataChannelID
    do throws(DataChannelError) {
      id = try makeDataTransport().sctp.open(parameters, at: self.now)
    } catch {
      throw SessionError(error)
    }
    try translating { () throws(JSEPError) in try jsep.addData() }
    hasNegotiated = true
    settle()
    return id
  }

  /// The channels that are not closed, in order of creation.
  public var dataChannels: [DataChannelSnapshot] {
    guard let data else { return [] }
    return data.sctp.channelIDs.compactMap { data.sctp.snapshot(of: $0) }
  }

  /// Returns the attributes of a channel, or nil if it is closed.
  public func dataChannel(_ id: DataChannelID) -> DataChannelSnapshot? { data?.sctp.snapshot(of: id) }

  /// Sends a message (W3C `send`).
  ///
  /// - Throws: `invalidState` unless the channel is open, `type` for a message that is larger than the peer accepts,
  ///   `operation` when too much is buffered.
  public func send(_ message: DataChannelMessage, on id: DataChannelID, at now: Instant) throws(SessionError) {
    guard enter(at: now), let data else { throw .invalidState("the data channel is closed") }
    do throws(DataChannelError) {
      try data.sctp.send(message, on: id, at: self.now)
    } catch {
      throw SessionError(error)
    }
    settle()
  }

  /// Closes a channel after everything was sent (W3C `close`).
  public func closeDataChannel(_ id: DataChannelID, at now: Instant) {
    guard enter(at: now), let data else { return }
    data.sctp.close(id, at: self.now)
    settle()
  }

  /// Makes the open channels that this side has created fail as by an error of SCTP. Returns their number.
  package func failDataChannels(at now: Instant) -> Int {
    guard enter(at: now), let data else { return 0 }
    let count = data.sctp.failChannels(at: self.now)
    settle()
    return count
  }

  /// Sets the buffered amount at which ``SessionEvent/dataChannelBufferedAmountLow(_:)`` is reported (W3C
  /// `bufferedAmountLowThreshold`).
  public func setBufferedAmountLowThreshold(_ threshold: Int, of id: DataChannelID) {
    data?.sctp.setBufferedAmountLowThreshold(threshold, of: id)
  }
}

extension SessionError {
  init(_ error: DataChannelError) {
    switch error {
    case .transportClosed, .unknownChannel, .notOpen: self = .invalidState("\(error)")
    case .messageTooLarge, .nameTooLong, .bothLimits: self = .type("\(error)")
    case .bufferFull, .streamInUse, .streamOutOfRange, .noFreeStream: self = .operation("\(error)")
    }
  }
}
