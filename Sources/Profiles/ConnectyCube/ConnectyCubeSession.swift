internal import CallCore
internal import PeerSession
public import VirtualPeer
internal import Vocabulary

/// A call of up to four users, with a peer connection to each of the others (a mesh).
public final class ConnectyCubeSession {
  /// What this user sends to everybody.
  struct Tracks {
    var isAudioEnabled = true
    var isVideoEnabled = true
  }

  /// The states of a session, in the product's words.
  enum State: String { case new, pending, connecting, connected, closed }

  /// The id that all its users have for it.
  public let id: String
  /// The user who placed the call.
  public let initiator: String
  /// Whether it is a call with pictures.
  public let isVideo: Bool
  let environment: PeerEnvironment
  unowned let client: CallClient
  private(set) var opponents: [Opponent] = []
  private(set) var tracks = Tracks()
  private(set) var state = State.new
  /// Whether this user placed or accepted the call.
  private(set) var isAccepted: Bool
  private let began: Instant
  /// How long a call rings here, from its first signal on.
  private var ringGuard: PeerTimer? { didSet { oldValue?.cancel() } }
  /// The recorder of a session of two users, on a device that is fast enough.
  let recorder: CallRecorder?
  /// The end code of the opponent who left last.
  private var lastCode = "failed"
  private static let rejectedByMe = "rejected-by-me"

  private var trace: PeerTrace { environment.trace }
  private var settings: ConnectyCubeSettings { client.settings }
  var isInitiator: Bool { initiator == environment.userID }
  /// Whether this user refused it.
  var wasRejected: Bool { lastCode == Self.rejectedByMe }
  /// Whether a call ended before this user accepted or refused it.
  var wasMissed: Bool { state == .closed && !isAccepted && !wasRejected }

  /// - Parameter others: The ids of the other users.
  init(id: String, initiator: String, others: [String], isVideo: Bool, of client: CallClient) {
    self.id = id
    self.initiator = initiator
    self.isVideo = isVideo
    self.client = client
    environment = client.environment
    began = environment.clock.now
    isAccepted = initiator == environment.userID
    recorder =
      others.count == 1 && !client.settings.isLowPerformance
      ? CallRecorder(of: others[0], id, space: client.settings.recorderSpace, environment) : nil
    opponents = others.map { Opponent($0, of: self, environment.trace.to($0)) }
  }

  func opponent(_ user: String) -> Opponent? { opponents.first { $0.id == user } }

  /// Whether a user is in the session, and has not left it.
  func isIn(_ user: String) -> Bool { opponents.contains { $0.id == user && !$0.isClosed } }

  /// Limits the bit rates of a description by `b=AS` lines.
  func limited(_ sdp: String) -> String { settings.bandwidth.limiting(sdp) }

  var usesDTLS: Bool { settings.usesDTLS }

  var statsReportInterval: Interval? { settings.statsReportInterval }

  /// Shows who is talking: the opponent whose voice is the loudest.
  func levelsChanged() { client.showSpeaker() }

  /// Enters a state. Each opponent has the machine of its session: a user may be in one session only.
  func enter(_ state: State, on event: String) {
    self.state = state
    for opponent in opponents where !opponent.isClosed { opponent.entered(state, on: event) }
    client.entered(state, of: self, on: event)
  }

  /// Writes a callback, about an opponent or about the session.
  func notify(_ callback: SessionCallback, of opponent: Opponent? = nil) {
    trace.set("callback.session", id)
    (opponent?.trace ?? trace).notify(callback.rawValue)
    client.tell(callback, of: self, about: opponent?.id ?? initiator)
  }

  // MARK: User actions

  /// Calls the others. The app initializes the audio session before.
  ///
  /// - Parameter userInfo: What the app adds to the signal.
  public func startCall(_ userInfo: [JSON.Member] = []) {
    guard state == .new else { return }
    enter(.pending, on: "startCall")
    for opponent in opponents { dial(opponent, userInfo, for: settings.answerInterval) }
  }

  /// Accepts the call. The app initializes the audio session before.
  public func acceptCall(_ userInfo: [JSON.Member] = []) {
    guard state == .pending, !isAccepted else { return }
    trace.set(PeerEvents.accepted.name, true)
    pickUp(on: "acceptCall", userInfo)
  }

  /// Connects to those whose offers are there, and waits for the others.
  func pickUp(on event: String, _ userInfo: [JSON.Member] = []) {
    isAccepted = true
    ringGuard = nil
    enter(.connecting, on: event)
    let wait = max(settings.answerInterval - (environment.clock.now - began), .seconds(1))
    for opponent in opponents where !opponent.isClosed {
      if opponent.pendingOffer != nil {
        answer(opponent, userInfo)
      } else if opponent.id != initiator, client.isHigher(environment.userID, than: opponent.id) {
        dial(opponent, userInfo, for: wait)
      } else {
        startWaiting(for: opponent, wait)
      }
    }
  }

  /// Refuses the call.
  public func rejectCall(_ userInfo: [JSON.Member] = []) {
    guard state != .closed else { return }
    for opponent in opponents where !opponent.isClosed { send(.reject, to: opponent, userInfo) }
    lastCode = Self.rejectedByMe
    for opponent in opponents { opponent.close(callbacks: [], on: "rejectCall") }
    close(on: "rejectCall")
  }

  /// Ends the call for this user, and where this user placed it for all.
  public func hangUp(_ userInfo: [JSON.Member] = []) {
    guard state != .closed else { return }
    lastCode = state == .connecting && Defect.hangupBlamedOnOther.isPlanted ? "hung-up-by-user" : "hung-up"
    for opponent in opponents where !opponent.isClosed || (isInitiator && opponent.isLost) {
      send(.hangUp, to: opponent, userInfo)
      opponent.close(callbacks: [.disconnectedFromUser], on: "hangUp")
    }
    close(on: "hangUp")
  }

  func setTracks(_ change: (inout Tracks) -> Void) {
    change(&tracks)
    for opponent in opponents { opponent.apply(tracks) }
  }

  /// Restarts ICE on every connection that this user has offered.
  func restartICE() -> Bool {
    var isAny = false
    for opponent in opponents where opponent.isConnecting && offers(to: opponent) {
      attempt(opponent) { () throws(SessionError) in
        guard let sdp = try opponent.offerRestart() else { return }
        send(.restart, to: opponent, sdp: sdp)
        isAny = true
      }
    }
    return isAny
  }

  /// Whether this user is the one who offers to another: the initiator to all, and else the one with the higher id.
  private func offers(to opponent: Opponent) -> Bool {
    isInitiator || (opponent.id != initiator && client.isHigher(environment.userID, than: opponent.id))
  }

  // MARK: Dialling

  private func dial(_ opponent: Opponent, _ userInfo: [JSON.Member], for time: Interval) {
    attempt(opponent) { () throws(SessionError) in
      let sdp = try opponent.offer()
      sendCall(sdp, to: opponent, userInfo)
    }
    guard !opponent.isClosed else { return }
    redialLater(opponent, userInfo, until: environment.clock.now + time)
    startWaiting(for: opponent, time)
  }

  private func redialLater(_ opponent: Opponent, _ userInfo: [JSON.Member], until end: Instant) {
    opponent.dialling = environment.clock.schedule(after: settings.diallingInterval) { [weak self, weak opponent] in
      // The timers of an app that was suspended come late.
      guard let self, let opponent, let sdp = opponent.dialledOffer, environment.clock.now < end else { return }
      sendCall(sdp, to: opponent, userInfo)
      redialLater(opponent, userInfo, until: end)
    }
  }

  private func sendCall(_ sdp: String, to opponent: Opponent, _ userInfo: [JSON.Member]) {
    var signal = self.signal(.call, userInfo)
    signal.sdp = sdp
    client.send(signal, to: opponent.id)
  }

  private func startWaiting(for opponent: Opponent, _ time: Interval) {
    opponent.limit = environment.clock.schedule(after: time) { [weak self, weak opponent] in
      guard let self, let opponent else { return }
      trace.raise("cc.no_answer")
      leave(opponent, .noAnswer, callbacks: [.userDidNotRespond], code: "no-answer", on: "answer interval")
    }
  }

  func answer(_ opponent: Opponent, _ userInfo: [JSON.Member]) {
    attempt(opponent) { () throws(SessionError) in
      let sdp = try opponent.answer()
      var signal = self.signal(.accept, userInfo)
      signal.sdp = sdp
      client.send(signal, to: opponent.id)
    }
  }

  // MARK: Signals

  /// Takes the offer of a user: to answer once the call is accepted, or at once.
  func received(call sdp: String, from opponent: Opponent) {
    // A call is repeated until its answer arrives.
    guard !obeys(call: sdp, from: opponent), opponent.connection == nil, !opponent.isClosed else { return }
    opponent.pendingOffer = sdp
    if isAccepted { answer(opponent, []) } else { ring() }
    if Defect.addressesRevealedWhileRinging.isPlanted, !isAccepted {
      attempt(opponent) { () throws(SessionError) in try opponent.setUpEarly() }
    }
  }

  /// A caller that vanishes must not ring for ever.
  private func ring() {
    guard ringGuard == nil, !Defect.ringTimerForgotten.isPlanted else { return }
    ringGuard = environment.clock.schedule(after: settings.answerInterval) { [weak self] in
      guard let self else { return }
      lastCode = "missed"
      for opponent in opponents { opponent.close(callbacks: [], on: "ring guard") }
      close(on: "ring guard")
    }
  }

  func received(_ signal: CallSignal, from opponent: Opponent) {
    guard !opponent.isClosed else {
      // The initiator ends the call also for those whose own connection to it was lost.
      guard signal.kind == .hangUp, opponent.id == initiator, opponent.isLost, state != .closed else {
        return reject(signal, "\(opponent.id) has left")
      }
      lastCode = "hung-up-by-user"
      return endedByInitiator()
    }
    if !signal.userInfo.isEmpty { opponent.trace.set("user-info", signal.info) }
    switch signal.kind {
    case .call: received(call: signal.sdp ?? "", from: opponent)
    case .accept where Defect.callersAnswerObeyed.isPlanted && !isAccepted:
      client.initializeAudio()
      pickUp(on: "acceptedByUser")
    case .accept: accepted(signal, by: opponent)
    case .reject:
      // A callee refuses the call for all who are called, and never for who calls.
      let isFellow = opponent.id != initiator && !isInitiator && !opponent.isConnecting
      guard opponent.dialledOffer != nil || isFellow || Defect.refusalObeyedByCallee.isPlanted else {
        return reject(signal, "nothing was offered")
      }
      trace.raise("cc.rejected")
      leave(opponent, .rejected, callbacks: [.rejectedByUser], code: "rejected", on: "reject")
    case .hangUp: hungUp(by: opponent)
    case .iceCandidates: for candidate in signal.candidates { opponent.add(candidate) }
    case .restart:
      attempt(opponent) { () throws(SessionError) in
        guard let sdp = try opponent.answerRestart(signal.sdp ?? "") else { return reject(signal, "not now") }
        send(.restartAccept, to: opponent, sdp: sdp)
      }
    case .restartAccept:
      attempt(opponent) { () throws(SessionError) in try opponent.restartAnswered(signal.sdp ?? "") }
    }
  }

  private func accepted(_ signal: CallSignal, by opponent: Opponent) {
    guard opponent.dialledOffer != nil else { return reject(signal, "nothing was offered") }
    opponent.notify(.acceptedByUser)
    if state == .pending { enter(.connecting, on: "acceptedByUser") }
    attempt(opponent) { () throws(SessionError) in try opponent.answered(signal.sdp ?? "") }
  }

  private func hungUp(by opponent: Opponent) {
    leave(
      opponent, .hangUp, callbacks: [.hungUpByUser, .disconnectedFromUser],
      code: isAccepted ? "hung-up-by-user" : "cancelled", on: "hangUp")
    if opponent.id == initiator, state != .closed { endedByInitiator() }
  }

  /// The initiator ends the call for everybody.
  private func endedByInitiator() {
    for other in opponents where !other.isClosed {
      other.close(callbacks: other.isConnecting ? [.disconnectedFromUser] : [], on: "initiator hung up")
    }
    close(on: "initiator hung up")
  }

  private func reject(_ signal: CallSignal, _ reason: String) {
    trace.event(PeerEvents.messageRejected.name, "reason", "\(signal.kind.rawValue): \(reason)")
  }

  // MARK: Connections

  /// Without a candidate of the other side ICE never fails; nor does it where one side uses DTLS and the other does not.
  func startSetupLimit(of opponent: Opponent, agreesOnDTLS: Bool) {
    let time =
      agreesOnDTLS
      ? settings.setupTimeout : min(settings.setupTimeout, ConnectyCubeSettings.disagreementTimeout)
    opponent.limit = environment.clock.schedule(after: time) { [weak self, weak opponent] in
      guard let self, let opponent else { return }
      failed(opponent, wasConnected: false)
    }
  }

  func connected(_ opponent: Opponent) {
    guard state == .connecting else { return }
    enter(.connected, on: "connectedToUser")
    if isInitiator { environment.callKit.reportOutgoingCallConnected(id) }
  }

  func disconnected(_ opponent: Opponent) {
    opponent.limit = environment.clock.schedule(after: settings.disconnectInterval) {
      [weak self, weak opponent] in
      guard let self, let opponent else { return }
      trace.raise("cc.disconnect_timeout")
      leave(opponent, .disconnectTimeout, callbacks: [], code: "disconnect-timeout", on: "disconnect interval")
    }
  }

  func failed(_ opponent: Opponent, wasConnected: Bool) {
    guard !opponent.isClosed else { return }
    // An app with a long disconnect interval restarts ICE itself.
    if wasConnected, settings.waitsAfterFailure {
      if opponent.state == .connected {
        opponent.enter(.disconnected, on: "ICE failed")
        opponent.notify(.disconnectedFromUser)
        disconnected(opponent)
      }
      return
    }
    trace.raise("cc.ice_failed")
    leave(opponent, .failed, callbacks: [.connectionFailedForUser], code: "failed", on: "ICE failed")
  }

  /// Runs a step of negotiation; a description that cannot be used fails the connection to that opponent.
  func attempt(_ opponent: Opponent, _ step: () throws(SessionError) -> Void) {
    do throws(SessionError) {
      try step()
    } catch {
      trace.event("sdp-rejected", "reason", "\(error)")
      if opponent.isConnecting || opponent.dialledOffer != nil || opponent.pendingOffer != nil {
        send(.hangUp, to: opponent)
      }
      let code = error == .noCommonCodec ? "codec-mismatch" : "protocol-violation"
      leave(opponent, .failed, callbacks: [.connectionFailedForUser], code: code, on: "description refused")
    }
  }

  // MARK: The end

  private func leave(
    _ opponent: Opponent, _ cause: Opponent.State, callbacks: [SessionCallback], code: String, on event: String
  ) {
    guard !opponent.isClosed else { return }
    lastCode = code
    opponent.close(after: cause, callbacks: callbacks, on: event)
    if opponents.allSatisfy(\.isClosed) { close(on: event) }
  }

  private func close(on event: String) {
    ringGuard = nil
    client.closed(self, code: lastCode, on: event)
  }

  /// Ends the session at the end of the run.
  func shutDown() {
    ringGuard = nil
    for opponent in opponents {
      if !opponent.isClosed { send(isAccepted ? .hangUp : .reject, to: opponent) }
      opponent.release()
    }
  }

  // MARK: Sending

  private func signal(_ kind: CallSignal.Kind, _ userInfo: [JSON.Member] = []) -> CallSignal {
    var signal = CallSignal(kind, sessionID: id)
    signal.userInfo = userInfo
    guard [.call, .accept, .reject, .hangUp].contains(kind) else { return signal }
    signal.initiator = initiator
    signal.isVideo = isVideo
    signal.opponents = client.members(of: self).filter { $0 != initiator }
    return signal
  }

  private func send(
    _ kind: CallSignal.Kind, to opponent: Opponent, _ userInfo: [JSON.Member] = [], sdp: String? = nil
  ) {
    var signal = self.signal(kind, userInfo)
    signal.sdp = sdp
    client.send(signal, to: opponent.id)
  }

  func send(candidates: [CallSignal.Candidate], to opponent: Opponent) {
    var signal = self.signal(.iceCandidates)
    signal.candidates = candidates
    client.send(signal, to: opponent.id)
  }
}
