package import Vocabulary

/// What keeps an app from its device, as faults of a scenario say.
package struct DeviceConditions: Hashable, Sendable {
  /// Something is shown over the app.
  package var isCovered = false
  /// The user has left the app: home, lock, another app.
  package var isLeft = false
  /// The system has suspended the app, whatever it does.
  package var isSuspended = false
  /// The user has killed the app, and does not open it.
  package var isKilled = false
  /// The system takes the memory of suspended apps.
  package var isMemoryShort = false
  /// Another app plays or records.
  package var isAudioTaken = false
  /// The app is not told when what takes its audio now is over.
  package var isAudioEndUntold = false
  /// A cellular call rings, or the user has answered one.
  package var phoneCall: PhoneCall?
  /// What is connected to the device, the latest last.
  package private(set) var accessories: [AudioRoute.Accessory] = []
  /// Why the system takes the camera from an app in the foreground.
  package var cameraInterruption: CameraInterruption?

  package enum PhoneCall: Hashable, Sendable { case ringing, answered }

  /// Where it leaves the app, other than a cellular call does.
  package enum Presence: Hashable, Sendable { case seen, covered, left, suspended, killed }

  package init() {}

  package var presence: Presence {
    isKilled ? .killed : isSuspended ? .suspended : isLeft ? .left : isCovered ? .covered : .seen
  }

  /// Connects something that is not connected yet.
  package mutating func connect(_ accessory: AudioRoute.Accessory) {
    if !accessories.contains(accessory) { accessories.append(accessory) }
  }

  package var takesAudio: Bool { isAudioTaken || phoneCall != nil }
  /// Whether the user is not in the app.
  var isAway: Bool { isKilled || isSuspended || isLeft || phoneCall == .answered }
}
