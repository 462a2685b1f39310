/// The name of a channel in its transport. A channel keeps it for life, and no other has it.
public struct DataChannelID: Hashable, Comparable, Sendable {
  /// The number of the channel.
  public let rawValue: Int

  /// Makes a name, for other stacks that number their channels.
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Orders channels by their creation.
  public static func < (a: DataChannelID, b: DataChannelID) -> Bool { a.rawValue < b.rawValue }
}

/// The W3C's `RTCDataChannelState`.
public enum DataChannelState: String, Sendable, CaseIterable {
  /// The association is not established, or the channel is not announced.
  case connecting
  /// Messages can be sent.
  case open
  /// One side has closed the channel; sent messages are still delivered.
  case closing
  /// The channel is over.
  case closed
}

/// The W3C's `RTCSctpTransportState`.
public enum SCTPTransportState: String, Sendable, CaseIterable {
  /// The association is not established.
  case connecting
  /// The association is established.
  case connected
  /// The association is over.
  case closed
}

/// The role in the DTLS handshake, which decides the streams of channels: even for the client, odd for the server (RFC
/// 8832 section 6).
package enum DataChannelRole: Sendable { case client, server }

/// An event of the data channels of a session.
package enum DataChannelEvent: Hashable, Sendable {
  case transportStateChanged(SCTPTransportState)
  /// The peer made a new association. Messages that it had not acknowledged are lost.
  case restarted
  /// The peer has opened a channel; its state follows.
  case announced(DataChannelID)
  case stateChanged(DataChannelID, DataChannelState)
  case message(DataChannelID, DataChannelMessage)
  /// The buffered amount has fallen to the threshold.
  case bufferedAmountLow(DataChannelID)
  /// The channel will be closed for this reason.
  case failed(DataChannelID, DataChannelFailure)
}

/// The reason why a channel was closed without a request.
package enum DataChannelFailure: Hashable, Sendable {
  /// The association ended.
  case transport(SCTPClosure)
  /// No stream is free, or the peer does not accept this many.
  case noStream
  /// The peer refused the reset of the channel's stream.
  case resetRefused
  /// The stack failed by itself.
  case internalError
}

extension DataChannelFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .transport(.shutdown): "the peer has shut the association down"
    case .transport(.aborted): "the association was aborted"
    case .transport(.peerAborted): "the peer has aborted the association"
    case .transport(.timedOut): "the peer does not answer"
    case .transport(.failed(let cause)): "the peer violated SCTP: \(cause)"
    case .noStream: "no stream is free"
    case .resetRefused: "the peer refused to reset the stream"
    case .internalError: "internal error"
    }
  }
}

/// An error in the use of data channels.
package enum DataChannelError: Error, Hashable, Sendable {
  case transportClosed
  case unknownChannel
  case notOpen(DataChannelState)
  case messageTooLarge(limit: Int)
  /// The channel has too many bytes buffered.
  case bufferFull
  /// The label or the protocol has more than 65535 bytes.
  case nameTooLong
  /// The number of retransmissions and the lifetime cannot both be limited.
  case bothLimits
  case streamInUse(UInt16)
  case streamOutOfRange(UInt16)
  case noFreeStream
}

extension DataChannelError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .transportClosed: "the SCTP transport is closed"
    case .unknownChannel: "there is no such data channel, or it is closed"
    case .notOpen(let state): "the data channel is \(state.rawValue), not open"
    case .messageTooLarge(let limit): "the message has more than \(limit) bytes, the maximum of the peer"
    case .bufferFull: "the data channel has too many bytes buffered"
    case .nameTooLong: "a label and a protocol have at most 65535 bytes"
    case .bothLimits: "maxRetransmits and maxPacketLifeTime exclude each other"
    case .streamInUse(let stream): "another data channel has the id \(stream)"
    case .streamOutOfRange(let stream): "the id \(stream) is beyond the streams of the association"
    case .noFreeStream: "all ids of data channels are in use"
    }
  }
}
