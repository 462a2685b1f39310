public import CallCore
public import Vocabulary

/// A fault that a scenario applies to signalling at the server's end of the WebSockets.
public struct SignallingFault: Hashable, Sendable {
  /// The effect on a matching frame.
  public enum Effect: Hashable, Sendable {
    case drop
    case delay(Interval)
    case duplicate
    /// Held until the next frame on the same socket in the same direction has passed it, or for one second.
    case reorder
    /// One character of the text is replaced.
    case corrupt
    /// One field, given by its name or its role, is damaged.
    case damage(field: String)
    /// One field, given by its name or its role, gets the value that the text stands for.
    case set(field: String, String)
    /// The message is mutated by its declaration.
    case mutate(MessageMutation)
    /// The text is mutated, whatever it holds.
    case mutateFrame(FrameMutation)
    /// Lost, while the connections seem to be open. Without a type and users this includes upgrades and closings.
    case blackhole

    /// The longest time for which the frame is held.
    var longestHold: Interval {
      switch self {
      case .delay(let interval): interval
      case .reorder: .seconds(1)
      // The description waits for the candidates that are put into it.
      case .mutate(.description(.inlineCandidates)): .milliseconds(500)
      case .drop, .duplicate, .corrupt, .damage, .set, .mutate, .mutateFrame, .blackhole: .zero
      }
    }

    /// Whether the frame never leaves.
    var isLoss: Bool { self == .drop || self == .blackhole }
  }

  /// The effect on each matching frame.
  public var effect: Effect
  /// The type with which the frames came to the server; nil matches all, pings and connects included.
  public var type: String?
  /// The user that sends the frames; nil matches all.
  public var from: String?
  /// The user that receives the frames; nil matches all.
  public var to: String?
  /// The number of matching frames left, including those that an older fault drops; nil for no limit.
  public var remaining: Int?

  /// Creates a fault for the next `count` matching frames; nil for all.
  public init(_ effect: Effect, type: String? = nil, from: String? = nil, to: String? = nil, count: Int? = nil) {
    self.effect = effect
    self.type = type
    self.from = from
    self.to = to
    remaining = count
  }

  /// Whether nothing passes, in either direction.
  var isTotal: Bool { effect == .blackhole && type == nil && from == nil && to == nil }

  func matches(_ message: SignallingMessage) -> Bool {
    (type == nil || type == message.type) && (from == nil || from == message.from) && (to == nil || to == message.to)
      && remaining != 0
  }
}

/// One text frame at the signalling server.
public struct SignallingMessage: Hashable, Sendable {
  /// The type in scenarios, or the profile's name for a transport frame, such as `ping`.
  public var type: String
  /// The sending user; nil if the server itself sends it, or does not know the client's user yet.
  public var from: String?
  /// The receiving user; nil if the message is for the server.
  public var to: String?
  /// The text of the frame.
  public var text: String
  /// The decoded message; nil for a transport frame.
  public var content: MessageContent?

  /// Creates a message.
  public init(type: String, from: String?, to: String?, text: String, content: MessageContent? = nil) {
    self.content = content
    self.type = type
    self.from = from
    self.to = to
    self.text = text
  }
}
