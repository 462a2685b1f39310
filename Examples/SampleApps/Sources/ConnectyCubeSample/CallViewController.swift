import CallSim

/// A view controller as a guide to the product has it, with the mistake against which the product's guide warns.
/// ``RepairedCallViewController`` has it not.
class CallViewController: CallClientDelegate {
  let client: CallClient
  var session: ConnectyCubeSession?

  required init(_ client: CallClient) {
    self.client = client
    client.addDelegate(self)
  }

  func viewDidLoad() {
    client.initialize()
    // Defect: the audio session is taken down after a call, and must be initialized before the next one.
    client.audio.initialize()
    client.connectToChat()
  }

  // MARK: Buttons

  func call(_ users: [String], video: Bool) throws(ActionError) {
    let session = try client.createNewSession(with: users, video: video)
    self.session = session
    session.startCall()
  }

  func accept() { session?.acceptCall() }

  func reject() { session?.rejectCall() }

  func hangUp() { session?.hangUp() }

  // MARK: CallClientDelegate

  func didReceiveNewSession(_ session: ConnectyCubeSession) { self.session = session }

  func sessionDidClose(_ session: ConnectyCubeSession) {
    guard session === self.session else { return }
    self.session = nil
    client.audio.deinitialize()
  }
}
