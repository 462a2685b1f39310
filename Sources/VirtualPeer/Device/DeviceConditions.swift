/// What keeps an app from its device, as faults of a scenario say.
package struct DeviceConditions: Hashable, Sendable {
  /// Something is shown over the app.
  package var isCovered = false
  /// The user has left the app: home, lock, another app.
  package var isLeft = false
  /// The system has suspended the app, whatever it does.
  package var isSuspended = false
  /// Another app plays or records.
  package var isAudioTaken = false
  /// A cellular call rings, or the user has answered one.
  package var phoneCall: PhoneCall?

  package enum PhoneCall: Hashable, Sendable { case ringing, answered }

  package init() {}

  var takesAudio: Bool { isAudioTaken || phoneCall != nil }
}
