internal import CallCore
public import VirtualPeer
internal import Vocabulary

/// The SDK of Vonage Video on one device, as an app for iOS uses it: it makes sessions, which tell their delegates.
///
/// ``VonageApp`` is written on it, and an app of your own may be: it declares the product's vocabulary
/// (`ProfileVocabulary.app`), and what happens reaches the trace from here.
public final class VonageSDK {
  let environment: PeerEnvironment
  let callbacks: VonageCallbacks
  let settings: VonageSettings
  /// The session that was connected last.
  private(set) var session: VonageSession?
  private var sessionCount = 0
  private var isInForeground = true

  /// Creates the SDK of a device; it does nothing before ``start()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    callbacks = VonageCallbacks(environment)
    settings = VonageSettings(environment)
  }

  /// Writes that there is no session yet. The app calls it when it starts.
  public func start() {
    let trace = environment.trace
    for name in ["connections", "streams", "streams.audio", "streams.video", "subscribed", "views", "video.disabled"] {
      trace.set(name, users: [])
    }
    trace.set("session.mode", "none")
    trace.set("publishers", 0)
    environment.device.usesCustomCapturer = settings.capturer == .custom
    // A push launches the app in the background.
    isInForeground = !environment.device.isInBackground
  }

  /// Makes a session, with a token that the app's own server gives it now.
  ///
  /// - Throws: if the app is in a session already, or the id or the token is empty.
  public func makeSession(
    _ id: String, delegate: (any VonageSessionDelegate)?
  ) throws(ActionError) -> VonageSession {
    if let session, session.isLive {
      environment.trace.raise("1015")
      throw ActionError("in a session already")
    }
    let session = VonageSession(id, self, number: sessionCount + 1)
    session.delegate = delegate
    guard session.hasParameters else {
      environment.trace.raise("1011")
      throw ActionError("a session's id and a token are needed")
    }
    return session
  }

  func connects(_ session: VonageSession) {
    sessionCount += 1
    self.session = session
    session.media.setForeground(isInForeground)
  }

  // MARK: The device

  /// The network of the device has changed.
  public func networkChanged() { session?.networkChanged() }

  /// The device or the app's state has changed.
  public func deviceChanged(_ change: DeviceChange) {
    switch change {
    case .audioInterruptionEnded(shouldResume: true): resumeAudio()
    case .appState(.background): setForeground(false)
    case .appState(.active):
      setForeground(true)
      resumeAudio()
    case .appState, .audioInterruptionBegan, .audioInterruptionEnded, .cameraInterrupted, .cameraInterruptionEnded:
      break
    }
  }

  private func resumeAudio() {
    if session?.isLive == true, !settings.usesCallKit { session?.media.resumeAudio() }
  }

  private func setForeground(_ isInForeground: Bool) {
    self.isInForeground = isInForeground
    session?.media.setForeground(isInForeground)
  }

  /// Leaves the session, and calls no delegate any more.
  public func shutDown() {
    callbacks.shutDown()
    session?.disconnect()
    session = nil
  }
}

/// An error that a callback brings, by the product's number.
public struct VonageError: Error, Hashable, Sendable {
  /// The code, as ``VonageApp/vocabulary`` declares it.
  public let code: String
}

/// What the SDK tells an app of a session. Each callback is an event of its own, later than what caused it.
public protocol VonageSessionDelegate: AnyObject {
  /// The client is in the session: it may publish and subscribe.
  func sessionDidConnect(_ session: VonageSession)
  /// The client is out of the session.
  func sessionDidDisconnect(_ session: VonageSession)
  /// The session failed; one that was connected is told as disconnected next.
  func session(_ session: VonageSession, didFailWithError error: VonageError)
  /// The messaging connection is lost.
  func sessionDidBeginReconnecting(_ session: VonageSession)
  /// It is back.
  func sessionDidReconnect(_ session: VonageSession)
  /// Another client publishes a stream.
  func session(_ session: VonageSession, streamCreated stream: VonageStream)
  /// A stream of another client is gone.
  func session(_ session: VonageSession, streamDestroyed stream: VonageStream)
}

extension VonageSessionDelegate {
  /// Does nothing.
  public func sessionDidConnect(_ session: VonageSession) {}
  /// Does nothing.
  public func sessionDidDisconnect(_ session: VonageSession) {}
  /// Does nothing.
  public func session(_ session: VonageSession, didFailWithError error: VonageError) {}
  /// Does nothing.
  public func sessionDidBeginReconnecting(_ session: VonageSession) {}
  /// Does nothing.
  public func sessionDidReconnect(_ session: VonageSession) {}
  /// Does nothing.
  public func session(_ session: VonageSession, streamCreated stream: VonageStream) {}
  /// Does nothing.
  public func session(_ session: VonageSession, streamDestroyed stream: VonageStream) {}
}
