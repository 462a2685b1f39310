internal import Digests
internal import Formats
internal import PeerSession
internal import SCTP

/// The data channels of a program, as far as it has reported them.
struct ExternalDataChannels {
  private struct Entry {
    var snapshot: DataChannelSnapshot
    /// The program's name for the channel; nil until the program has answered.
    var name: String?
  }

  private var entries: [Entry] = []
  private var count = 0

  /// The channels that are not closed, in order of creation. Programs report no buffered amounts.
  var snapshots: [DataChannelSnapshot] { entries.map(\.snapshot) }

  /// Adds a channel that the program is asked to create.
  mutating func add(_ label: String, _ settings: DataChannelInit) -> DataChannelID {
    let id = nextID()
    entries.append(
      Entry(
        snapshot: DataChannelSnapshot(
          id, label: label, settings: settings, id: settings.negotiated ? settings.id : nil, readyState: .connecting)))
    return id
  }

  mutating func name(_ id: DataChannelID, _ name: String) {
    guard let index = entries.firstIndex(where: { $0.snapshot.channel == id }) else { return }
    entries[index].name = name
  }

  /// Returns the program's name for a channel that is not closed.
  func name(of id: DataChannelID) -> String? { entries.first { $0.snapshot.channel == id }?.name }

  private mutating func nextID() -> DataChannelID {
    count += 1
    return DataChannelID(rawValue: count - 1)
  }

  /// Applies an event of the program, and returns it; nil if it is about no known channel.
  mutating func take(_ event: JSON) -> SessionEvent? {
    guard let name = event["channel"]?.string else { return nil }
    if event["event"]?.string == "datachannel" { return announce(name, event) }
    guard let index = entries.firstIndex(where: { $0.name == name }) else { return nil }
    let id = entries[index].snapshot.channel
    switch event["event"]?.string {
    case "datachannelstatechange":
      guard let state = event["state"]?.string.flatMap(DataChannelState.init) else { return nil }
      entries[index].snapshot.readyState = state
      if state == .closed { entries.remove(at: index) }
      return .dataChannelStateChange(id, state)
    case "message":
      if let text = event["text"]?.string { return .dataChannelMessage(id, .string(text)) }
      return event["binary"]?.string.flatMap(Base64.decode).map { .dataChannelMessage(id, .binary($0)) }
    case "bufferedamountlow": return .dataChannelBufferedAmountLow(id)
    default: return nil
    }
  }

  private mutating func announce(_ name: String, _ event: JSON) -> SessionEvent? {
    guard !entries.contains(where: { $0.name == name }) else { return nil }
    func number(_ member: String) -> UInt16? { event[member]?.integer.map { UInt16(clamping: $0) } }
    var settings = DataChannelInit()
    settings.ordered = event["ordered"] != .bool(false)
    settings.protocolName = event["protocol"]?.string ?? ""
    settings.maxPacketLifeTime = number("maxPacketLifeTime")
    settings.maxRetransmits = number("maxRetransmits")
    let snapshot = DataChannelSnapshot(
      nextID(), label: event["label"]?.string ?? "", settings: settings, id: number("stream"), readyState: .connecting)
    entries.append(Entry(snapshot: snapshot, name: name))
    return .dataChannel(snapshot)
  }
}

extension DataChannelInit {
  /// Returns the parameters of `createDataChannel`.
  func peerProtocolJSON(label: String) -> JSON {
    func number(_ value: UInt16?) -> JSON { value.map { .integer(Int64($0)) } ?? .null }
    return [
      "label": .string(label), "ordered": .bool(ordered), "maxPacketLifeTime": number(maxPacketLifeTime),
      "maxRetransmits": number(maxRetransmits), "protocol": .string(protocolName), "negotiated": .bool(negotiated),
      "id": number(id),
    ]
  }
}

extension DataChannelMessage {
  /// Returns the parameters of `sendData`.
  func peerProtocolJSON(channel: String) -> JSON {
    switch self {
    case .string(let text): ["channel": .string(channel), "text": .string(text)]
    case .binary(let bytes): ["channel": .string(channel), "binary": .string(Base64.encode(bytes))]
    }
  }
}
