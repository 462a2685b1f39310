/// What CallKit, PushKit and an app say to each other, in the order in which they do.
public enum CallKitWord: String, Sendable, CaseIterable {
  /// A VoIP push has reached the device.
  case push
  /// The app reported an incoming call (`reportNewIncomingCall`).
  case report
  /// The system did not show the reported call.
  case reportRefused = "report-refused"
  /// The app completed the handling of a push.
  case pushCompleted = "push-completed"
  /// The app reported that an outgoing call is connected.
  case connected
  /// The app reported that a call has ended (`reportCall(with:endedAt:reason:)`).
  case reportEnd = "report-end"
  /// The app fulfilled a `CXStartCallAction`, and so on for the other actions.
  case start, answer, end, hold, unhold, mute, unmute
  /// The app failed an action.
  case fail
  /// The system activated or deactivated the audio session (`didActivate`, `didDeactivate`).
  case activate, deactivate
  /// The system has ended all calls, because their app is not running any more.
  case reset
}

/// The state of a call, as the call UI of the system shows it.
public enum CallKitState: String, Sendable, CaseIterable {
  case none, ringing, dialling, active, held
}
