internal import Digests
internal import Formats
internal import PeerSession
internal import SCTP

extension SessionEvent {
  /// The event of the peer protocol about a data channel, or nil for any other.
  var dataChannelEvent: (String, [JSON.Member])? {
    switch self {
    case .dataChannel(let channel): ("datachannel", [channel.channel.member] + channel.members)
    case .dataChannelStateChange(let channel, let state):
      ("datachannelstatechange", [channel.member, JSON.Member("state", .string(state.rawValue))])
    case .dataChannelMessage(let channel, let message): ("message", [channel.member, message.member])
    case .dataChannelBufferedAmountLow(let channel): ("bufferedamountlow", [channel.member])
    default: nil
    }
  }
}

extension DataChannelID {
  /// The name of the channel in the peer protocol.
  var name: String { Self.prefix + "\(rawValue)" }

  fileprivate var member: JSON.Member { JSON.Member("channel", .string(name)) }

  private static let prefix = "channel"

  /// Returns the channel of a name, whether it exists or not; nil for a text that names none.
  init?(name: String) {
    guard name.hasPrefix(Self.prefix), let number = Int(name.dropFirst(Self.prefix.count)), number >= 0 else {
      return nil
    }
    self.init(rawValue: number)
  }
}

extension DataChannelSnapshot {
  fileprivate var members: [JSON.Member] {
    [
      JSON.Member("label", .string(label)), JSON.Member("protocol", .string(protocolName)),
      JSON.Member("ordered", .bool(ordered)),
      JSON.Member("maxPacketLifeTime", maxPacketLifeTime.map { .integer(Int64($0)) } ?? .null),
      JSON.Member("maxRetransmits", maxRetransmits.map { .integer(Int64($0)) } ?? .null),
      JSON.Member("stream", id.map { .integer(Int64($0)) } ?? .null),
    ]
  }
}

extension DataChannelMessage {
  fileprivate var member: JSON.Member {
    switch self {
    case .string(let text): JSON.Member("text", .string(text))
    case .binary(let bytes): JSON.Member("binary", .string(Base64.encode(bytes)))
    }
  }
}
