import CallCore

extension Scenario.DataChannel {
  static let type = MappingType(
    "data channel", "a data channel of a peer (W3C RTCDataChannelInit); {} for a reliable and ordered one",
    Scenario.DataChannel(),
    [
      .key("protocol", .text, \.protocolName, default: "none", "the subprotocol that both apps speak on it"),
      .key("ordered", .flag, \.ordered, default: "true", "messages are delivered in order"),
      .key(
        "max_retransmits", ValueFormat<Int>.count(0...65_535), \.maxRetransmits, default: "no limit",
        "how often a lost message is sent again, before it is given up"),
      .key(
        "max_packet_life_time", ValueFormat<Interval>.duration().checked(lifeTimeProblem), \.maxPacketLifeTime,
        default: "no limit", "how long a lost message is sent again, before it is given up"),
      .key(
        "negotiated", .flag, \.negotiated, default: "false",
        "both peers declare it with the same id, and neither announces it"),
      .key(
        "id", ValueFormat<Int>.count(0...65_534), \.id, "the SCTP stream of a negotiated channel"),
      .key(
        "opens", .choice, \.opening, default: "with-call",
        "when the app creates it: with its peer connection, or by the action open-data-channel"),
    ])

  /// Reads the channels of a peer, each with keys that fit each other.
  static let format: ValueFormat<[Scenario.DataChannel]> = {
    let named = checked.named
    return ValueFormat<[Scenario.DataChannel]>(named.shape) { node, reading in
      named.decode(node, &reading)?.map { entry in
        var channel = entry.value
        (channel.label, channel.span) = (entry.name, entry.span)
        return channel
      }
    } encode: { channels in
      named.encode(channels.map { Named(name: $0.label, span: $0.span, value: $0) })
    }
  }()

  private static let checked = type.format.decoded { node, reading in
    guard let channel = type.format.decode(node, &reading) else { return nil }
    func refuse(_ key: String, _ message: String, _ hint: String) -> Scenario.DataChannel? {
      reading.report(.conflictingKeys, message, at: node.entry(key)?.keySpan ?? node.span, hint: hint)
      return nil
    }
    if channel.maxRetransmits != nil, channel.maxPacketLifeTime != nil {
      return refuse(
        "max_packet_life_time", "'max_retransmits' and 'max_packet_life_time' exclude each other (W3C webrtc-pc)",
        "leave one of them out")
    }
    if channel.negotiated, channel.id == nil {
      return refuse("negotiated", "a negotiated channel is known by its id, and has none", "add id: 0")
    }
    if !channel.negotiated, channel.id != nil {
      return refuse("id", "'id' is for negotiated channels; the stack chooses those of others", "add negotiated: true")
    }
    return channel
  }

  private static let lifeTimeProblem: @Sendable (Interval) -> String? = { time in
    time.nanoseconds % 1_000_000 == 0 && time <= .milliseconds(65_535)
      ? nil : "\(time) is not a whole number of milliseconds up to 65535 (W3C webrtc-pc)"
  }
}
