import CallSim

/// A view controller as a guide to the product has it, with two mistakes of our own choice. ``RepairedViewController`` has
/// neither.
class ViewController: VonageSessionDelegate {
  private let sdk: VonageSDK
  var session: VonageSession?

  required init(_ sdk: VonageSDK) { self.sdk = sdk }

  func connectToSession(_ sessionID: String) throws(ActionError) {
    guard session == nil else { return }
    let session = try sdk.makeSession(sessionID, delegate: self)
    self.session = session
    session.connect()
  }

  func join(_ sessionID: String) throws(ActionError) {
    try connectToSession(sessionID)
    // Defect: the session is not connected yet, and nobody looks at the error.
    doPublish()
  }

  func leave() {
    session?.disconnect()
    session = nil
  }

  func doPublish() { try? session?.publish() }

  func doSubscribe(_ stream: VonageStream) { try? session?.subscribe(to: stream) }

  // MARK: OTSessionDelegate

  func sessionDidConnect(_ session: VonageSession) {}

  func session(_ session: VonageSession, streamCreated stream: VonageStream) { doSubscribe(stream) }

  /// Defect: what is over is cleaned up where the user leaves, and not where the session ends by itself.
  func session(_ session: VonageSession, didFailWithError error: VonageError) {}

  func sessionDidDisconnect(_ session: VonageSession) {}
}
