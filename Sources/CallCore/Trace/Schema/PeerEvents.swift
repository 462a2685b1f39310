/// What an app, its user and its device do.
public enum PeerEvents {
  /// A machine of the profile's vocabulary has moved; `event` is what moved it.
  public static func state(_ machine: String) -> TraceEvent<String, String, String> {
    TraceEvent(machine, ("value", String.self), ("from", String.self), ("event", String.self))
  }
  /// A value that the vocabulary declares: `call.reason`.
  public static func value<Value>(_ name: String, _ type: Value.Type) -> TraceEvent<Value> {
    TraceEvent(name, ("value", type))
  }
  /// A note of the app with one word of detail.
  public static func note(_ name: String, _ field: String) -> TraceEvent<String> {
    TraceEvent(name, (field, String.self))
  }
  /// The app refuses a message that came.
  public static let messageRejected = note("message.rejected", "reason")

  /// What both sides call the call that the app is or was last in, and with whom it is.
  public static let callID = value("call.id", String.self)
  public static let callPeer = value("call.peer", String.self)

  public static let illegalTransition = TraceEvent(
    "illegal-transition", ("machine", String.self), ("from", String.self), ("to", String.self), ("event", String.self))
  /// An error code of the vocabulary was raised.
  public static let code = TraceEvent("code", ("value", String.self))
  public static let callEnded = TraceEvent("call.ended", ("code", String.self))

  /// The user acts; `to` is empty where the action has no such argument.
  public static let action = TraceEvent("user.action", ("action", String.self), ("to", String.self))
  public static let actionRefused = TraceEvent("action-refused", ("action", String.self), ("reason", String.self))
  public static let accepted = TraceEvent("user.accepted", ("value", Bool.self))

  /// The interface that the device prefers, as the scenario names it.
  public static let network = TraceEvent("network", ("value", String.self))
  public static let openConnections = TraceEvent("connections.open", ("value", Int.self))

  public static let audioSession = TraceEvent(
    "audio-session.state", ("value", String.self), ("category", String.self), ("mode", String.self))
  public static let microphone = TraceEvent("mic.open", ("value", Bool.self))
  public static let capture = TraceEvent("capture.open", ("value", Bool.self))
  public static let speaker = TraceEvent("speaker.open", ("value", Bool.self))
  public static let firstPlayed = TraceEvent("media.first-played")
  public static let audible = TraceEvent("audible", ("value", Bool.self))
}
