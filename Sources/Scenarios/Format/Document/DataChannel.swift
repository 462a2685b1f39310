public import CallCore

extension Scenario {
  /// A data channel that the app of a peer opens (W3C `RTCDataChannelInit`).
  public struct DataChannel: Sendable, Equatable {
    /// The time at which the app creates it.
    public enum Opening: String, Sendable, CaseIterable {
      case withCall = "with-call"
      case byAction = "by-action"
    }

    /// The label, by which the scenario refers to it.
    public var label = ""
    /// The subprotocol.
    public var protocolName = ""
    /// Whether messages are delivered in order.
    public var ordered = true
    /// The number of retransmissions of a message; nil for no limit.
    public var maxRetransmits: Int?
    /// The time in which a message is transmitted and retransmitted; nil for no limit.
    public var maxPacketLifeTime: Interval?
    /// Whether both peers declare it with the same ``id``, so that it is not announced.
    public var negotiated = false
    /// The SCTP stream of a ``negotiated`` channel.
    public var id: Int?
    /// The time at which the app creates it.
    public var opening = Opening.withCall
    /// The location in the scenario file.
    @NotCompared public var span = SourceSpan.builtIn
    /// Creates a reliable and ordered channel.
    public init() {}

    /// Whether every message is delivered.
    package var isReliable: Bool { maxRetransmits == nil && maxPacketLifeTime == nil }
  }

  /// The labels of all data channels, in order of appearance.
  package var dataChannelLabels: [String] { peers.flatMap(\.dataChannels).map(\.label).inOrderOfAppearance }

  /// Returns the data channel of a label. Where both peers declare it, they agree.
  package func dataChannel(_ label: String) -> DataChannel? {
    peers.lazy.flatMap(\.dataChannels).first { $0.label == label }
  }
}
