/// The callbacks of the SDK about a session or one of its users, under their documented names.
enum SessionCallback: String {
  case didReceiveNewSession, sessionDidClose
  case userDidNotRespond, acceptedByUser, rejectedByUser, hungUpByUser
  case startedConnectingToUser, connectedToUser, disconnectedFromUser, connectionFailedForUser, connectionClosedForUser
  case receivedRemoteAudioTrack, receivedRemoteVideoTrack, updatedStatsReport

  /// Calls the delegate's method.
  func call(_ delegate: any CallClientDelegate, _ session: ConnectyCubeSession, _ user: String) {
    switch self {
    case .didReceiveNewSession: delegate.didReceiveNewSession(session)
    case .sessionDidClose: delegate.sessionDidClose(session)
    case .userDidNotRespond: delegate.session(session, userDidNotRespond: user)
    case .acceptedByUser: delegate.session(session, acceptedByUser: user)
    case .rejectedByUser: delegate.session(session, rejectedByUser: user)
    case .hungUpByUser: delegate.session(session, hungUpByUser: user)
    case .startedConnectingToUser: delegate.session(session, startedConnectingToUser: user)
    case .connectedToUser: delegate.session(session, connectedToUser: user)
    case .disconnectedFromUser: delegate.session(session, disconnectedFromUser: user)
    case .connectionFailedForUser: delegate.session(session, connectionFailedForUser: user)
    case .connectionClosedForUser: delegate.session(session, connectionClosedForUser: user)
    case .receivedRemoteAudioTrack: delegate.session(session, receivedRemoteAudioTrackFromUser: user)
    case .receivedRemoteVideoTrack: delegate.session(session, receivedRemoteVideoTrackFromUser: user)
    case .updatedStatsReport: delegate.session(session, updatedStatsReportForUser: user)
    }
  }
}
