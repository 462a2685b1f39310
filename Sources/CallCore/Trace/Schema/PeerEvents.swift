/// Events of an app, its user and its device.
package enum PeerEvents {
  /// Returns the event of a machine of the profile's vocabulary; its field `event` is the cause of the transition.
  package static func state(_ machine: String) -> TraceEvent<String, String, String> {
    TraceEvent(machine, ("value", String.self), ("from", String.self), ("event", String.self))
  }
  /// Returns the event of a value that the vocabulary declares: `call.reason`.
  package static func value<Value>(_ name: String, _ type: Value.Type) -> TraceEvent<Value> {
    TraceEvent(name, ("value", type))
  }
  /// Returns the event of an app's note with one word of detail.
  package static func note(_ name: String, _ field: String) -> TraceEvent<String> {
    TraceEvent(name, (field, String.self))
  }
  /// Returns the event of a callback of the profile's SDK.
  package static func callback(_ name: String) -> TraceEvent<> { TraceEvent(name) }
  /// The app keeps so many parts of messages until something else comes; written with every hundredth.
  package static let backlog = TraceEvent("backlog", ("queue", String.self), ("count", Int.self))
  /// The app rejected a received message.
  package static let messageRejected = note("message.rejected", "reason")

  /// The id that both sides use for the app's current or last call, and its remote peer.
  package static let callID = value("call.id", String.self)
  package static let callPeer = value("call.peer", String.self)
  /// The ids of the calls that go on beside the one that the app shows, with blanks between them; `none`.
  package static let callsBeside = value("call.beside", String.self)

  /// The process of the app has ended, and with it a value of the app: it is unknown until another process writes it.
  package static let valueForgotten = TraceEvent("value.forgotten", ("name", String.self))

  package static let illegalTransition = TraceEvent(
    "illegal-transition", ("machine", String.self), ("from", String.self), ("to", String.self), ("event", String.self))
  /// An error code of the vocabulary was raised.
  package static let code = TraceEvent("code", ("value", String.self))
  package static let callEnded = TraceEvent("call.ended", ("code", String.self))

  /// A user action; `to` is empty if the action has no such argument.
  package static let action = TraceEvent("user.action", ("action", String.self), ("to", String.self))
  package static let actionRefused = TraceEvent("action-refused", ("action", String.self), ("reason", String.self))
  package static let accepted = TraceEvent("user.accepted", ("value", Bool.self))

  /// The state of the app, as its system sees it.
  package static let appState = TraceEvent("app.state", ("value", String.self))
  /// What CallKit, PushKit and the app say to each other: one word, the call that it is about, and a reason.
  package static let callKit = TraceEvent(
    "callkit", ("value", String.self), ("call", String.self), ("reason", String.self))
  /// The state of the oldest call that CallKit has.
  package static let callKitState = TraceEvent("callkit.state", ("value", String.self))
  /// A VoIP push did not reach the device.
  package static let pushLost = TraceEvent("push.lost", ("reason", String.self))
  /// The interface that the device prefers, by its name in the scenario.
  package static let network = TraceEvent("network", ("value", String.self))
  package static let openConnections = TraceEvent("connections.open", ("value", Int.self))

  package static let audioSession = TraceEvent(
    "audio-session.state", ("value", String.self), ("category", String.self), ("mode", String.self))
  /// Where sound is played and recorded.
  package static let audioOutput = TraceEvent("audio.output", ("value", String.self))
  package static let audioInput = TraceEvent("audio.input", ("value", String.self))
  /// The app has told its WebRTC library that it starts the audio unit itself.
  package static let manualAudio = TraceEvent("audio.manual", ("value", Bool.self))
  /// With manual audio, the app lets the audio unit run.
  package static let audioEnabled = TraceEvent("audio.enabled", ("value", Bool.self))
  /// Something else has the audio, or the app is suspended.
  package static let audioInterrupted = TraceEvent("audio.interrupted", ("value", Bool.self))
  /// What becomes of the audio unit, which takes the audio session as it is when the unit starts.
  package static let audioUnit = TraceEvent("audio.unit", ("value", String.self))
  /// The dot that the system shows while something is recorded.
  package static let indicator = TraceEvent("indicator", ("value", String.self))
  /// The bar that the system shows while an app in the background records.
  package static let redBar = TraceEvent("red-bar", ("value", Bool.self))
  package static let cameraInterruption = TraceEvent("camera.interruption", ("value", String.self))
  package static let cameraPosition = TraceEvent("camera.position", ("value", String.self))
  package static let cameraFormat = TraceEvent("camera.format", ("value", String.self))
  package static let cameraFormats = TraceEvent("camera.formats", ("value", String.self))
  package static let microphone = TraceEvent("mic.open", ("value", Bool.self))
  package static let capture = TraceEvent("capture.open", ("value", Bool.self))
  package static let speaker = TraceEvent("speaker.open", ("value", Bool.self))
  package static let camera = TraceEvent("camera.open", ("value", Bool.self))
  /// Pictures of a remote track are being shown.
  package static let visible = TraceEvent("visible", ("value", Bool.self))
  /// The app has made a view for the pictures of a user.
  package static let madeView = TraceEvent("view.made", ("user", String.self))
  package static let firstShown = TraceEvent("media.first-shown")
  package static let firstPlayed = TraceEvent("media.first-played")
  package static let audible = TraceEvent("audible", ("value", Bool.self))
}
