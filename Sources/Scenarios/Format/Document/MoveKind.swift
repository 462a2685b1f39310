/// The kinds of moves: what a search does to a scenario besides its own timeline.
public enum MoveKind: String, Hashable, Sendable, CaseIterable {
  /// An additional signalling message, in the name of any participant or of a stranger.
  case send
  case drop, duplicate, delay, reorder
  /// A message is changed: its text, its fields, its description or its candidate.
  case corrupt
  /// A user does something.
  case action
  /// A signalling connection is cut, or swallows everything.
  case disconnect
  /// A link fails or gets worse.
  case link
  /// A NAT forgets or moves its mappings.
  case nat
  /// A STUN or TURN server restarts, refuses or falls silent.
  case relay
  /// Packets are lost by what they are.
  case packets
  /// A device's audio is late, its clock jumps, or it prefers another interface.
  case device

  /// The kinds that act on signalling and users.
  public static let signalling: [MoveKind] = [
    .send, .drop, .duplicate, .delay, .reorder, .corrupt, .action, .disconnect,
  ]
  /// The kinds that act on networks, servers and devices.
  public static let environment: [MoveKind] = [.disconnect, .link, .nat, .relay, .packets, .device]

  /// Whether moves of this kind add or change messages.
  public var isOfMessages: Bool {
    switch self {
    case .send, .drop, .duplicate, .delay, .reorder, .corrupt: true
    case .action, .disconnect, .link, .nat, .relay, .packets, .device: false
    }
  }

  /// A one-line description for the reference.
  public var summary: String {
    switch self {
    case .send: "an additional message of any type, from any participant or a stranger"
    case .drop: "a message is lost"
    case .duplicate: "a message comes twice"
    case .delay: "a message comes late"
    case .reorder: "a message comes after the next one"
    case .corrupt: "the text, a field, the description or the candidate of a message is changed"
    case .action: "a user does something at any time"
    case .disconnect: "a signalling connection is cut, or swallows everything"
    case .link: "a link fails or gets worse for a while"
    case .nat: "a NAT forgets or moves its mappings"
    case .relay: "a STUN or TURN server restarts, refuses or falls silent"
    case .packets: "packets are lost by what they are"
    case .device: "audio is late, the clock jumps, or the device prefers another interface"
    }
  }
}
