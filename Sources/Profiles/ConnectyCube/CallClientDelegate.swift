/// What the SDK tells an app of its sessions. Each callback is an event of its own, later than what caused it; a client
/// may have several delegates, which are all told of each.
public protocol CallClientDelegate: AnyObject {
  /// Another user calls.
  func didReceiveNewSession(_ session: ConnectyCubeSession)
  /// The session is over.
  func sessionDidClose(_ session: ConnectyCubeSession)
  /// A called user has not answered in time.
  func session(_ session: ConnectyCubeSession, userDidNotRespond user: String)
  /// A called user has accepted.
  func session(_ session: ConnectyCubeSession, acceptedByUser user: String)
  /// A called user has refused.
  func session(_ session: ConnectyCubeSession, rejectedByUser user: String)
  /// A user has hung up.
  func session(_ session: ConnectyCubeSession, hungUpByUser user: String)
  /// The connection to a user is being set up.
  func session(_ session: ConnectyCubeSession, startedConnectingToUser user: String)
  /// Media may flow to and from a user.
  func session(_ session: ConnectyCubeSession, connectedToUser user: String)
  /// The connection to a user is lost, and may come back.
  func session(_ session: ConnectyCubeSession, disconnectedFromUser user: String)
  /// The connection to a user has failed.
  func session(_ session: ConnectyCubeSession, connectionFailedForUser user: String)
  /// The connection to a user is over.
  func session(_ session: ConnectyCubeSession, connectionClosedForUser user: String)
  /// A user's audio track is there.
  func session(_ session: ConnectyCubeSession, receivedRemoteAudioTrackFromUser user: String)
  /// A user's video track is there.
  func session(_ session: ConnectyCubeSession, receivedRemoteVideoTrackFromUser user: String)
  /// There is a new report of the statistics of the connection to a user.
  func session(_ session: ConnectyCubeSession, updatedStatsReportForUser user: String)
}

extension CallClientDelegate {
  /// Does nothing.
  public func didReceiveNewSession(_ session: ConnectyCubeSession) {}
  /// Does nothing.
  public func sessionDidClose(_ session: ConnectyCubeSession) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, userDidNotRespond user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, acceptedByUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, rejectedByUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, hungUpByUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, startedConnectingToUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, connectedToUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, disconnectedFromUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, connectionFailedForUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, connectionClosedForUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, receivedRemoteAudioTrackFromUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, receivedRemoteVideoTrackFromUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, updatedStatsReportForUser user: String) {}
}
