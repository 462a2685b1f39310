public import SDP

/// A track of ours, as a peer connection sees it (W3C `MediaStreamTrack`): what kind of media, from which source.
///
/// There is one source for each kind: the device's microphone. A camera comes with video.
public struct MediaStreamTrack: Hashable, Sendable {
  /// The kind of media.
  public var kind: MediaKind
  /// Its name in descriptions (RFC 8830); empty for one that the connection names when it is added.
  public var id: String

  /// Makes a track of a kind.
  public init(_ kind: MediaKind, id: String = "") {
    self.kind = kind
    self.id = id
  }

  /// The device's microphone, under a name of the connection's choice.
  public static let microphone = MediaStreamTrack(.audio)
}

/// How a transceiver begins (W3C `RTCRtpTransceiverInit`).
public struct TransceiverInit: Hashable, Sendable {
  /// The direction to begin with.
  public var direction: MediaDirection
  /// One encoding without a name when empty. Audio has one alone: what is beyond is left out, as W3C says.
  public var sendEncodings: [EncodingParameters]

  /// Makes the settings of a new transceiver.
  public init(direction: MediaDirection = .sendrecv, sendEncodings: [EncodingParameters] = []) {
    self.direction = direction
    self.sendEncodings = sendEncodings
  }
}

/// What is sent and received in one section of descriptions, at one moment (W3C `RTCRtpTransceiver`).
public struct RTPTransceiver: Hashable, Sendable {
  /// W3C `RTCRtpSender`.
  public struct Sender: Hashable, Sendable {
    /// What is sent; nil when there is nothing.
    public let track: MediaStreamTrack?

    package init(track: MediaStreamTrack?) { self.track = track }
  }

  /// W3C `RTCRtpReceiver`.
  public struct Receiver: Hashable, Sendable {
    /// The far side's track, under its name for it, which is empty until it has told one.
    public let track: MediaStreamTrack
    /// Whether nothing comes of it (W3C `muted`).
    public let isMuted: Bool

    package init(track: MediaStreamTrack, isMuted: Bool) {
      self.track = track
      self.isMuted = isMuted
    }
  }

  /// The transceiver's identifier, by which the connection's methods take it.
  public let id: Transceiver.ID
  /// The kind of media of its sender and receiver.
  public let kind: MediaKind
  /// Its section; nil before negotiation.
  public let mid: String?
  /// The direction that was asked for.
  public let direction: MediaDirection
  /// What was negotiated last.
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
