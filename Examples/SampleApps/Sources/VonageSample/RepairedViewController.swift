import CallSim

/// The same view controller without the defects.
final class RepairedViewController: ViewController {
  override func join(_ sessionID: String) throws(ActionError) { try connectToSession(sessionID) }

  override func sessionDidConnect(_ session: VonageSession) { doPublish() }

  /// An error of a session that was connected is followed by `sessionDidDisconnect`, another one by nothing.
  override func session(_ session: VonageSession, didFailWithError error: VonageError) { cleanUp(session) }

  override func sessionDidDisconnect(_ session: VonageSession) { cleanUp(session) }

  private func cleanUp(_ ended: VonageSession) { if session === ended { session = nil } }
}
