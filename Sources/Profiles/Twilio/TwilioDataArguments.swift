internal import CallCore
internal import PeerSession
internal import SCTP
internal import VirtualPeer
internal import Vocabulary

/// The arguments of actions on data tracks.
enum TwilioDataArguments {
  /// Returns the settings of the channel of a data track.
  static func settings(of action: UserAction) throws(ActionError) -> DataChannelInit {
    var settings = DataChannelInit()
    settings.ordered = action.values.flag("ordered") ?? true
    if let time = action.values.duration("max-packet-life-time") {
      settings.maxPacketLifeTime = try number(time.milliseconds, "max-packet-life-time", "0ms to 65535ms")
    }
    if let count = action.values.count("max-retransmits") {
      settings.maxRetransmits = try number(count, "max-retransmits", "0 to 65535")
    }
    return settings
  }

  private static func number(_ value: Int64, _ name: String, _ range: String) throws(ActionError) -> UInt16 {
    guard let number = UInt16(exactly: value) else { throw ActionError("\(name) is \(range)") }
    return number
  }

  /// Returns the messages to send; of several texts each ends with its number.
  static func messages(of action: UserAction) throws(ActionError) -> [DataChannelMessage] {
    let count = action.values.count("messages") ?? 1
    guard (1...10_000).contains(count) else { throw ActionError("1 to 10000 messages are sent, not \(count)") }
    if let text = action.values.text("text") {
      return (1...count).map { .string(count == 1 ? text : "\(text) \($0)") }
    }
    guard let size = action.values.byteSize("bytes") else {
      throw ActionError("send-message says nothing to send: add text: hello, or bytes: 100B")
    }
    guard size <= 1_048_576 else { throw ActionError("bytes is at most 1 MiB") }
    return (1...count).map { number in .binary(Array(repeating: UInt8(truncatingIfNeeded: number), count: Int(size))) }
  }
}
