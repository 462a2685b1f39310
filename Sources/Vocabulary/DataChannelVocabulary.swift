/// The names that scenarios have for the data channels that they declare: `data.chat.received`.
public enum DataChannelVocabulary {
  /// Creates a channel that does not open with the call.
  public static let open = ActionDeclaration(
    "open-data-channel", [channel], "the app creates a data channel that it declares with opens: by-action")
  /// Sends one message or several.
  public static let send = ActionDeclaration(
    "send-data",
    [
      channel,
      ParameterDeclaration("text", .text, "the text to send; of several messages each ends with its number"),
      ParameterDeclaration("bytes", .byteSize, "the size of a message of bytes, which are made up"),
      ParameterDeclaration("messages", .count, "how many messages are sent; 1 without it"),
      ParameterDeclaration("interval", .duration, "the time between them; without it all are sent at once"),
    ], "the app sends messages on an open data channel")
  /// Closes a channel.
  public static let close = ActionDeclaration(
    "close-data-channel", [channel], "the app closes a data channel, after what it has sent")

  /// The actions on data channels, of every peer.
  public static let actions = [open, send, close]

  private static let channel = ParameterDeclaration(
    "channel", .text, required: true, "the data channel, by its name in data_channels")

  /// Returns the state machine of a channel (W3C `RTCDataChannelState`).
  package static func machine(of channel: String) -> StateMachine {
    let states = ["connecting", "open", "closing", "closed"].map { StateMachine.State($0, "") }
    return StateMachine("data.\(channel).state", states: states, transitions: [])
  }

  /// Returns the values of a channel, without the state.
  package static func values(of channel: String) -> [ValueDeclaration] {
    func value(
      _ name: String, _ type: ValueType, as counting: ValueDeclaration.Counting? = nil, unit: String? = nil,
      _ summary: String
    ) -> ValueDeclaration {
      ValueDeclaration("data.\(channel).\(name)", type, unit: unit, counting: counting, summary)
    }
    func statistic(_ name: String, _ type: ValueType, unit: String? = nil, isCounter: Bool = false) -> ValueDeclaration
    {
      ValueDeclaration(
        "stats.data-channel.\(channel).\(name)", type, unit: unit, counting: isCounter ? .upward : nil,
        "W3C webrtc-stats, data-channel")
    }
    return [
      value("sent", .count, as: .upward, "messages that the app has sent on this channel"),
      value("received", .count, as: .upward, "messages that the app has received"),
      value(
        "missing", .count, as: .net, "messages of the other side that have not come, although later ones have"),
      value("overtaken", .count, as: .upward, "messages that came after a later one"),
      value("latency", .duration, "time from send() to the message at the other app, of the last one"),
      value("text", .text, "the last text that the app has received"),
      statistic("label", .text), statistic("protocol", .text), statistic("dataChannelIdentifier", .count),
      statistic("state", .choice(["connecting", "open", "closing", "closed"])),
      statistic("messagesSent", .count, isCounter: true),
      statistic("bytesSent", .count, unit: "bytes", isCounter: true),
      statistic("messagesReceived", .count, isCounter: true),
      statistic("bytesReceived", .count, unit: "bytes", isCounter: true),
    ]
  }

  /// Returns the declaration of a value of any channel.
  static func value(_ name: String) -> ValueDeclaration? {
    let parts = name.split(separator: ".")
    let isStatistic = name.hasPrefix("stats.data-channel.")
    guard isStatistic ? parts.count == 4 : parts.count == 3 && parts[0] == "data" else { return nil }
    return values(of: String(parts[isStatistic ? 2 : 1])).first { $0.name == name }
  }
}
