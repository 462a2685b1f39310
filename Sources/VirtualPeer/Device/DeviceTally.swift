package import Vocabulary

/// How often the conditions of a device have shown, each kind by itself.
package struct DeviceTally: Hashable, Sendable {
  /// The app was left, covered, suspended or ended, or came back.
  package var moves = 0
  /// The same because of a cellular call that rang, was answered or was over.
  package var phoneMoves = 0
  /// The system ended the app for its memory.
  package var memoryEnds = 0
  /// Audio that the app had was taken from it or given back, or it did not get what something else had.
  package var audioChanges = 0
  /// CallKit held the app's calls for a cellular one, or they went on.
  package var holds = 0
  /// Something that is connected was used, or was no more.
  package var accessoryUses: [AudioRoute.Accessory: Int] = [:]
  /// The camera was kept from an app in the foreground that wanted it, or given back.
  package var cameraChanges = 0
}
