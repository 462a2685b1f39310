import CallSim

/// The same call service without the defects: a call rings until the user answers it, and candidates wait for the
/// description that they belong to.
final class RepairedCallService: CallService {
  private var offer: String?
  private var candidates: [JSON] = []

  override func received(offer sdp: String) {
    offer = sdp
    ring(for: .seconds(45))
  }

  override func received(candidate: JSON) {
    guard webRTC?.hasRemoteDescription != true else { return super.received(candidate: candidate) }
    if candidates.count < 100 { candidates.append(candidate) }
  }

  override func hasRemoteDescription() {
    for candidate in candidates { super.received(candidate: candidate) }
    candidates = []
  }

  override func accept() throws(ActionError) {
    guard state == .ringing, let offer else { throw ActionError("nothing is ringing") }
    stopRinging()
    environment.trace.set("user.accepted", true)
    answer(offer)
  }

  override func decline() throws(ActionError) {
    guard state == .ringing else { throw ActionError("nothing is ringing") }
    emit("call_decline")
    end(.declined, "declined")
  }

  /// What waits belongs to one call.
  override func end(_ reason: EndReason, _ code: String) {
    super.end(reason, code)
    (offer, candidates) = (nil, [])
  }
}
