import CallSim

/// The same call service without the defects: a call rings until the user answers, and candidates wait for it.
final class RepairedCallService: CallService {
  private var offer: String?
  private var candidates: [JSON] = []

  override func received(offer sdp: String) {
    (offer, candidates) = (sdp, [])
    ring(for: .seconds(45))
  }

  override func received(candidate: JSON) {
    guard webRTC?.hasRemoteDescription != true else { return super.received(candidate: candidate) }
    if candidates.count < 100 { candidates.append(candidate) }
  }

  override func accept() throws(ActionError) {
    guard state == .ringing, let offer else { throw ActionError("nothing is ringing") }
    stopRinging()
    environment.trace.set("user.accepted", true)
    answer(offer)
    for candidate in candidates { super.received(candidate: candidate) }
  }

  override func decline() throws(ActionError) {
    guard state == .ringing else { throw ActionError("nothing is ringing") }
    emit("call_decline")
    end(.declined, "declined")
  }
}
