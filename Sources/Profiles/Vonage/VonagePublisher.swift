internal import PeerSession
internal import SDP
internal import VirtualPeer

/// A publisher of the app: it sends the device's sound and pictures as one stream.
final class VonagePublisher {
  /// The number among the publishers of the session.
  let id: String
  let name: String
  /// The id of its stream, once the server has given it one.
  var stream: String?
  /// The properties `publishAudio` and `publishVideo` that the server was told last.
  var told = (audio: true, video: true)
  /// Whether the session has the stream.
  var isAnnounced = false
  var senders: [MediaKind: Transceiver.ID] = [:]
  /// What the other client of a relayed session wants of it.
  var isWanted = (audio: true, video: true)
  /// The end of the time to be connected.
  var timer: PeerTimer?

  init(id: String, name: String) { (self.id, self.name) = (id, name) }
}

/// A subscriber of the app: it receives one stream of another client.
final class VonageSubscriber {
  enum State { case connecting, connected, disconnected }

  let stream: String
  let user: String
  var state = State.connecting
  /// Why there is no video.
  var withoutVideo: Set<VideoReason> = []
  /// Whether the app was told that video is about to be disabled.
  var isWarned = false
  /// Whether the app could make a view for it; without one it takes the audio alone.
  var mayHaveView = true
  var hasView = false
  /// The packets that had come when media were lost.
  var baseline: Int64 = 0
  /// The end of the time to be connected.
  var timer: PeerTimer?

  init(stream: String, user: String) { (self.stream, self.user) = (stream, user) }
}
