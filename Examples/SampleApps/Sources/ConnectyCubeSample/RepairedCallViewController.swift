import CallSim

/// The same view controller, which initializes the audio session before every call.
final class RepairedCallViewController: CallViewController {
  override func viewDidLoad() {
    client.initialize()
    client.connectToChat()
  }

  override func call(_ users: [String], video: Bool) throws(ActionError) {
    let session = try client.createNewSession(with: users, video: video)
    self.session = session
    client.audio.initialize()
    session.startCall()
  }

  override func accept() {
    guard let session else { return }
    client.audio.initialize()
    session.acceptCall()
  }
}
