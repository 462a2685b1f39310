extension KeyCases {
  static let dataChannels: [KeyCase] = keysOfDataChannels + actionsOnDataChannels

  private static let keysOfDataChannels: [KeyCase] = [
    KeyCase("data channel.protocol", ["one", "other"], sending("protocol: <>")),
    KeyCase(words: "data channel.ordered", losing("ordered: <>")),
    KeyCase("data channel.max_retransmits", ["0", "1"], losing("max_retransmits: <>")),
    KeyCase("data channel.max_packet_life_time", ["1ms", "300ms"], losing("max_packet_life_time: <>")),
    KeyCase("data channel.negotiated", ["negotiated: true, id: 0", "negotiated: false"], agreed),
    KeyCase("data channel.id", ["0", "5"], both("{ negotiated: true, id: <> }")),
    KeyCase(
      words: "data channel.opens",
      channels("first: {}, chat: { opens: <> }", "  - { at: 700ms, do: alice.open-data-channel, channel: chat }")),
  ]

  private static let actionsOnDataChannels: [KeyCase] = [
    KeyCase(
      effect: "action open-data-channel", at: "700ms", "do: alice.open-data-channel, channel: chat",
      channels("first: {}, chat: { opens: by-action }", "<>")),
    KeyCase(
      "action open-data-channel.channel", ["chat", "talk", "first"],
      channels(
        "first: {}, chat: { opens: by-action }, talk: { opens: by-action }",
        "  - { at: 700ms, do: alice.open-data-channel, channel: <> }")),
    KeyCase(
      effect: "action send-data", at: "700ms", "do: bob.send-data, channel: chat, text: hello",
      channels("chat: {}", "<>")),
    KeyCase(
      "action send-data.channel", ["chat", "talk", "none"],
      channels("chat: {}, talk: {}", "  - { at: 700ms, do: bob.send-data, channel: <>, text: hello }")),
    KeyCase(
      "action send-data.text", ["hello", "hullo", "hello there"],
      channels("chat: {}", "  - { at: 700ms, do: bob.send-data, channel: chat, text: <> }")),
    KeyCase(
      "action send-data.bytes", ["0B", "1B", "100000B"],
      channels("chat: {}", "  - { at: 700ms, do: bob.send-data, channel: chat, bytes: <> }")),
    KeyCase(
      "action send-data.messages", ["1", "2", "20"],
      channels("chat: {}", "  - { at: 700ms, do: bob.send-data, channel: chat, bytes: 9B, messages: <> }")),
    KeyCase(
      "action send-data.interval", ["1ms", "20ms"],
      channels("chat: {}", "  - { at: 700ms, do: bob.send-data, channel: chat, bytes: 9B, messages: 9, interval: <> }")),
    KeyCase(
      effect: "action close-data-channel", at: "700ms", "do: bob.close-data-channel, channel: chat",
      channels("chat: {}", "<>")),
    KeyCase(
      "action close-data-channel.channel", ["chat", "talk"],
      channels("chat: {}, talk: {}", "  - { at: 700ms, do: bob.close-data-channel, channel: <> }")),
  ]

  /// Alice declares these channels.
  private static func channels(_ declared: String, _ timeline: String = "") -> String {
    KeyWorld.lan(alice: ", data_channels: { \(declared) }", timeline: timeline, talk: "2s")
  }

  /// Both declare the channel.
  private static func both(_ channel: String) -> String {
    KeyWorld.lan(
      alice: ", data_channels: { chat: \(channel) }", bob: ", data_channels: { chat: \(channel) }",
      expect:
        "  - { eventually: bob.stats.data-channel.chat.dataChannelIdentifier == 5, within: 2s, of: bob.connected }",
      talk: "2s")
  }

  /// Bob declares a channel, and so does Alice if it is negotiated.
  private static let agreed = KeyWorld.lan(
    alice: ", data_channels: { chat: { <> } }", bob: ", data_channels: { chat: { negotiated: true, id: 0 } }",
    talk: "2s")

  /// A channel with this key on which much is sent.
  private static func sending(_ key: String) -> String {
    channels("chat: { \(key) }", "  - { at: 700ms, do: alice.send-data, channel: chat, bytes: 3000B, messages: 20 }")
  }

  private static func losing(_ key: String) -> String {
    KeyWorld.lan(
      alice: ", data_channels: { chat: { \(key) } }",
      // The call comes about before.
      timeline: """
          - { at: 650ms, fault: link.set, link: a, loss: 20% }
          - { at: 700ms, do: alice.send-data, channel: chat, bytes: 200B, messages: 60, interval: 10ms }
        """,
      talk: "3s")
  }
}
