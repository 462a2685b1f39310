import CallSim

enum CallState: String { case idle, calling, ringing, connecting, connected, ended }

enum EndReason: String { case localHangup, remoteHangup, declined, missed, failed }

/// The owner of all transitions, as the guide's sample has it: without ringing, which is the sample's defect, and with a
/// mistake of our own choice. ``RepairedCallService`` has neither.
class CallService: WebRTCClientDelegate {
  let environment: PeerEnvironment
  private let socket: SocketIOClient
  var webRTC: WebRTCClient?
  /// The call and the other user in it.
  private(set) var call: (id: String, peer: String)?
  private var callCount = 0
  private var timer: PeerTimer? { didSet { oldValue?.cancel() } }
  private var trace: PeerTrace { environment.trace }

  private(set) var state = CallState.idle {
    didSet { trace.enter("call.state", state.rawValue, on: "call service") }
  }

  required init(_ environment: PeerEnvironment, _ socket: SocketIOClient) {
    self.environment = environment
    self.socket = socket
    socket.onState = { environment.trace.set("socket.state", $0.rawValue) }
    socket.onEvent = { [weak self] name, arguments in
      if let content = arguments.first { self?.received(name, content) }
    }
  }

  // MARK: The user

  func startCall(to peer: String) throws(ActionError) {
    guard state == .idle else { throw ActionError("there is a call already") }
    callCount += 1
    begin("\(environment.name)-\(callCount)", with: peer)
    state = .calling
    trace.set("user.accepted", true)
    attempt { () throws(SessionError) in
      let sdp = try openWebRTC().offer()
      emit(
        "call_offer",
        [JSON.Member("toUserId", .string(peer)), JSON.Member("offer", .string(sdp)), JSON.Member("callType", "audio")])
    }
    timer = environment.clock.schedule(after: .seconds(45)) { [weak self] in
      self?.emit("call_hangup")
      self?.end(.missed, "ring-timeout")
    }
  }

  /// There is no button for it in the sample: nothing ever rings.
  func accept() throws(ActionError) { throw ActionError("nothing is ringing") }

  func decline() throws(ActionError) { throw ActionError("nothing is ringing") }

  func hangUp() throws(ActionError) {
    guard call != nil else { throw ActionError("there is no call") }
    emit("call_hangup")
    end(.localHangup, "local-hangup")
  }

  // MARK: The socket

  private func received(_ name: String, _ content: JSON) {
    guard let id = content["callId"]?.string, let peer = content["fromUserId"]?.string else { return }
    trace.signalReceived(type: name, from: peer)
    if name == "call_offer" {
      guard state == .idle else { return emit("call_busy", id, to: peer) }
      begin(id, with: peer)
      return received(offer: content["offer"]?.string ?? "")
    }
    guard let call, call.id == id, call.peer == peer else { return }
    switch name {
    // The answer has its description under the key `offer`.
    case "call_answer" where state == .calling:
      state = .connecting
      timer = nil
      attempt { () throws(SessionError) in
        try webRTC?.set(remoteSdp: SessionDescriptionText(.answer, sdp: content["offer"]?.string ?? ""))
        hasRemoteDescription()
      }
    case "ice_candidate": received(candidate: content)
    case "call_decline", "call_busy": end(.declined, name == "call_busy" ? "busy" : "declined")
    case "call_hangup":
      if state == .ringing { end(.missed, "cancelled") } else { end(.remoteHangup, "remote-hangup") }
    default: break
    }
  }

  /// Defect: the call is answered as soon as it comes, and the user is not asked.
  func received(offer sdp: String) {
    trace.set("user.accepted", true)
    answer(sdp)
  }

  func answer(_ sdp: String) {
    state = .connecting
    attempt { () throws(SessionError) in
      let webRTC = try openWebRTC()
      try webRTC.set(remoteSdp: SessionDescriptionText(.offer, sdp: sdp))
      emit("call_answer", [JSON.Member("offer", .string(try webRTC.answer()))])
      hasRemoteDescription()
    }
  }

  func hasRemoteDescription() {}

  /// Defect: a candidate that comes before the description is lost.
  func received(candidate: JSON) {
    do throws(SessionError) {
      try webRTC?.set(remoteCandidate: candidate)
    } catch {
      trace.event("message.rejected", "reason", "\(error)")
    }
  }

  func emit(_ name: String, _ members: [JSON.Member] = []) {
    if let call { emit(name, call.id, to: call.peer, members) }
  }

  private func emit(_ name: String, _ id: String, to peer: String, _ members: [JSON.Member] = []) {
    let isSent = socket.emit(name, members + [JSON.Member("callId", .string(id))])
    trace.signalSent(type: name, to: peer, isLost: !isSent)
  }

  // MARK: The call

  func ring(for time: Interval) {
    state = .ringing
    trace.set("user.accepted", false)
    timer = environment.clock.schedule(after: time) { [weak self] in self?.end(.missed, "ring-timeout") }
  }

  func stopRinging() { timer = nil }

  private func begin(_ id: String, with peer: String) {
    call = (id, peer)
    trace.begin(call: id, with: peer)
  }

  private func openWebRTC() throws(SessionError) -> WebRTCClient {
    let client = try WebRTCClient(environment)
    client.delegate = self
    webRTC = client
    return client
  }

  private func attempt(_ step: () throws(SessionError) -> Void) {
    do throws(SessionError) {
      try step()
    } catch {
      emit("call_hangup")
      end(.failed, "protocol-violation")
    }
  }

  func end(_ reason: EndReason, _ code: String) {
    guard call != nil else { return }
    webRTC?.close()
    (webRTC, call) = (nil, nil)
    trace.set("user.accepted", false)
    state = .ended
    trace.set("call.reason", reason.rawValue)
    trace.end(code)
    timer = environment.clock.schedule(after: .seconds(1)) { [weak self] in self?.state = .idle }
  }

  func shutDown() {
    if call != nil { try? hangUp() }
    timer = nil
    socket.shutDown()
  }

  // MARK: WebRTCClientDelegate

  func webRTCClient(_ client: WebRTCClient, didDiscover candidate: String, mid: String?, mLineIndex: Int?) {
    emit(
      "ice_candidate",
      [
        JSON.Member("candidate", .string(candidate)), JSON.Member("sdpMid", mid.map(JSON.string) ?? .null),
        JSON.Member("sdpMLineIndex", mLineIndex.map { .integer(Int64($0)) } ?? .null),
      ])
  }

  func webRTCClient(_ client: WebRTCClient, didChange connectionState: ConnectionState) {
    switch connectionState {
    case .connected where state == .connecting: state = .connected
    case .failed:
      emit("call_hangup")
      end(.failed, "ice-failed")
    default: break
    }
  }
}
