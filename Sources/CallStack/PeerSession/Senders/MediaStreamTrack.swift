public import SDP

/// A local track of a peer connection (W3C `MediaStreamTrack`): its kind of media and its source.
///
/// The sources are the device's microphone and its camera, and for a server that forwards what its connections receive.
public struct MediaStreamTrack: Hashable, Sendable {
  /// Where the media of a track comes from.
  public enum Source: Hashable, Sendable {
    /// The device: its microphone or its camera.
    case device
    /// What a transceiver of a connection receives.
    case received(connection: Int, transceiver: Transceiver.ID)
  }

  /// The kind of media.
  public var kind: MediaKind
  /// The name in descriptions (RFC 8830); empty to let the connection choose one.
  public var id: String
  /// Where its media comes from.
  public let source: Source

  /// Makes a track of the device.
  public init(_ kind: MediaKind, id: String = "") { self.init(kind, id: id, from: .device) }

  package init(_ kind: MediaKind, id: String, from source: Source) {
    self.kind = kind
    self.id = id
    self.source = source
  }

  func named(_ id: String) -> MediaStreamTrack { MediaStreamTrack(kind, id: id, from: source) }

  /// The device's microphone, with a name chosen by the connection.
  public static let microphone = MediaStreamTrack(.audio)
  /// The device's camera, with a name chosen by the connection.
  public static let camera = MediaStreamTrack(.video)
}

/// The initial settings of a transceiver (W3C `RTCRtpTransceiverInit`).
public struct TransceiverInit: Hashable, Sendable {
  /// The initial direction.
  public var direction: MediaDirection
  /// The encodings; empty means one without a name. Audio uses only the first, as W3C specifies.
  public var sendEncodings: [EncodingParameters]

  /// The identifiers of the media streams that its track belongs to (W3C `streams`, RFC 8830). Audio and video of one stream
  /// are played in step. Empty means a stream of the connection, the same for all of its tracks.
  public var streamIDs: [String]

  /// Makes the settings of a new transceiver.
  public init(
    direction: MediaDirection = .sendrecv, sendEncodings: [EncodingParameters] = [], streamIDs: [String] = []
  ) {
    self.direction = direction
    self.sendEncodings = sendEncodings
    self.streamIDs = streamIDs
  }
}

/// A snapshot of a transceiver, the sender and receiver of one section (W3C `RTCRtpTransceiver`).
public struct RTPTransceiver: Hashable, Sendable {
  /// W3C `RTCRtpSender`.
  public struct Sender: Hashable, Sendable {
    /// The track that is sent; nil if there is none.
    public let track: MediaStreamTrack?

    package init(track: MediaStreamTrack?) { self.track = track }
  }

  /// W3C `RTCRtpReceiver`.
  public struct Receiver: Hashable, Sendable {
    /// The remote track. Its identifier is empty until the remote side announces it. Another connection of a server
    /// that forwards can send it.
    public let track: MediaStreamTrack
    /// Whether no media arrives (W3C `muted`).
    public let isMuted: Bool

    package init(track: MediaStreamTrack, isMuted: Bool) {
      self.track = track
      self.isMuted = isMuted
    }
  }

  /// The identifier to pass to the connection's methods.
  public let id: Transceiver.ID
  /// The kind of media of its sender and receiver.
  public let kind: MediaKind
  /// The MID of its section; nil before negotiation.
  public let mid: String?
  /// The requested direction.
  public let direction: MediaDirection
  /// The negotiated direction; nil before negotiation.
  public let currentDirection: MediaDirection?
  /// The sender.
  public let sender: Sender
  /// The receiver.
  public let receiver: Receiver

  package init(
    id: Transceiver.ID, kind: MediaKind, mid: String?, direction: MediaDirection, currentDirection: MediaDirection?,
    sender: Sender, receiver: Receiver
  ) {
    self.id = id
    self.kind = kind
    self.mid = mid
    self.direction = direction
    self.currentDirection = currentDirection
    self.sender = sender
    self.receiver = receiver
  }
}
