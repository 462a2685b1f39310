internal import VirtualPeer

/// A second delegate of the client, beside the app itself: it counts the calls that this user missed.
final class CallLog: CallClientDelegate {
  private let trace: PeerTrace
  private var missed = 0

  init(_ trace: PeerTrace) {
    self.trace = trace
    trace.set("missed-calls", missed)
  }

  func sessionDidClose(_ session: ConnectyCubeSession) {
    guard session.wasMissed else { return }
    missed += 1
    trace.set("missed-calls", missed)
  }
}
