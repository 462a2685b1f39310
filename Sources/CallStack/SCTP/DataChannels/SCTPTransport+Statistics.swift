internal import CallCore

extension SCTPTransport {
  /// The channels that are not closed, in the order of their creation.
  package var channelIDs: [DataChannelID] { channels.map(\.id) }

  /// Returns the parameters of a channel, those of the peer if it opened the channel.
  package func parameters(of id: DataChannelID) -> DataChannelParameters? {
    index(of: id).map { channels[$0].parameters }
  }

  /// The state of a channel; that of an unknown one is closed.
  package func state(of id: DataChannelID) -> DataChannelState {
    index(of: id).map { channels[$0].state } ?? .closed
  }

  /// The stream of a channel, which W3C calls its `id`; nil until the DTLS role is known.
  package func stream(of id: DataChannelID) -> UInt16? { index(of: id).flatMap { channels[$0].stream } }

  /// The bytes of a channel that are not yet sent.
  package func bufferedAmount(of id: DataChannelID) -> Int {
    stream(of: id).map { association.bufferedBytes(of: $0) } ?? 0
  }

  /// The buffered amount at which ``DataChannelEvent/bufferedAmountLow(_:)`` is reported.
  package func bufferedAmountLowThreshold(of id: DataChannelID) -> Int {
    index(of: id).map { channels[$0].threshold } ?? 0
  }

  /// Returns the statistics of a channel, or nil if it is closed.
  package func statistics(of id: DataChannelID) -> DataChannelStatistics? {
    guard let index = index(of: id) else { return nil }
    let channel = channels[index]
    return DataChannelStatistics(
      label: channel.parameters.label, protocolName: channel.parameters.protocolName,
      dataChannelIdentifier: channel.stream, state: channel.state, messagesSent: channel.messagesSent,
      bytesSent: channel.bytesSent, messagesReceived: channel.messagesReceived, bytesReceived: channel.bytesReceived)
  }

  /// The statistics of the transport.
  package var statistics: SCTPTransportStatistics {
    var result = association.statistics
    result.dataChannelsOpened = opened
    result.dataChannelsClosed = closed
    result.refusedMessages = refused
    return result
  }
}

extension SCTPAssociation {
  /// The streams that we may use: those we offer, until the peer has said how many it accepts.
  var outboundStreams: UInt16 { block?.capabilities.outboundStreams ?? settings.outboundStreams }

  /// The statistics without those of channels.
  package var statistics: SCTPTransportStatistics {
    var result = SCTPTransportStatistics(mtu: settings.mtu)
    result.association = counters
    guard let block else { return result }
    result.smoothedRoundTripTime = block.timeout.smoothed
    result.congestionWindow = block.transmission.congestion.window
    result.receiverWindow = block.transmission.peerWindow
    result.unackData = block.transmission.outstanding.flightCount
    result.retransmittedPackets = block.transmission.retransmittedPackets
    result.retransmittedBytes = block.transmission.retransmittedBytes
    result.abandonedMessages = block.transmission.outstanding.abandonedMessages
    return result
  }
}
