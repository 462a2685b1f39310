/// What the SDK tells an app of its sessions. Each callback is an event of its own, later than what caused it.
public protocol CallClientDelegate: AnyObject {
  /// Another user calls.
  func didReceiveNewSession(_ session: ConnectyCubeSession)
  /// A called user has accepted.
  func session(_ session: ConnectyCubeSession, acceptedByUser user: String)
  /// A called user has refused.
  func session(_ session: ConnectyCubeSession, rejectedByUser user: String)
  /// A called user has not answered in time.
  func session(_ session: ConnectyCubeSession, userDidNotRespond user: String)
  /// A user has hung up.
  func session(_ session: ConnectyCubeSession, hungUpByUser user: String)
  /// Media may flow to and from a user.
  func session(_ session: ConnectyCubeSession, connectedToUser user: String)
  /// The connection to a user is lost, and may come back.
  func session(_ session: ConnectyCubeSession, disconnectedFromUser user: String)
  /// The connection to a user is over.
  func session(_ session: ConnectyCubeSession, connectionClosedForUser user: String)
  /// The session is over.
  func sessionDidClose(_ session: ConnectyCubeSession)
}

extension CallClientDelegate {
  /// Does nothing.
  public func didReceiveNewSession(_ session: ConnectyCubeSession) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, acceptedByUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, rejectedByUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, userDidNotRespond user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, hungUpByUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, connectedToUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, disconnectedFromUser user: String) {}
  /// Does nothing.
  public func session(_ session: ConnectyCubeSession, connectionClosedForUser user: String) {}
  /// Does nothing.
  public func sessionDidClose(_ session: ConnectyCubeSession) {}

  /// Calls the method of a callback, if there is one.
  func call(_ callback: String, of session: ConnectyCubeSession, about user: String) {
    switch callback {
    case "didReceiveNewSession": didReceiveNewSession(session)
    case "acceptedByUser": self.session(session, acceptedByUser: user)
    case "rejectedByUser": self.session(session, rejectedByUser: user)
    case "userDidNotRespond": self.session(session, userDidNotRespond: user)
    case "hungUpByUser": self.session(session, hungUpByUser: user)
    case "connectedToUser": self.session(session, connectedToUser: user)
    case "disconnectedFromUser": self.session(session, disconnectedFromUser: user)
    case "connectionClosedForUser": self.session(session, connectionClosedForUser: user)
    case "sessionDidClose": sessionDidClose(session)
    default: break
    }
  }
}
