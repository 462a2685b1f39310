/// RTCRtpTransceiver, limited to negotiation (RFC 9429 §3.4.1).
public struct Transceiver: Hashable, Sendable {
  /// The identifier of a transceiver within its connection.
  public struct ID: Hashable, Sendable {
    let number: Int

    /// Makes an identifier, for other stacks that number their transceivers.
    package init(number: Int) { self.number = number }
  }

  /// One of the streams of a track.
  package struct Encoding: Hashable, Sendable {
    /// The name among several encodings (RFC 8851); not announced for a single one.
    package var rid: String?
    package var ssrc: UInt32
    /// The SSRC of its retransmissions (RFC 4588).
    package var retransmissionSSRC: UInt32?
    /// The SSRC of its forward error correction (RFC 8627).
    package var repairSSRC: UInt32?

    package init(
      rid: String? = nil, ssrc: UInt32, retransmissionSSRC: UInt32? = nil, repairSSRC: UInt32? = nil
    ) {
      self.rid = rid
      self.ssrc = ssrc
      self.retransmissionSSRC = retransmissionSSRC
      self.repairSSRC = repairSSRC
    }
  }

  /// The announcement of our outgoing media in a section. The owner allocates all identifiers.
  package struct Sender: Hashable, Sendable {
    package var trackID: String
    /// The streams of the track; may be empty.
    package var streamIDs: [String]
    package var cname: String
    /// One encoding, or those of a simulcast, each with a name. Never empty.
    package let encodings: [Encoding]

    package init(trackID: String, streamIDs: [String] = [], cname: String, encodings: [Encoding]) {
      precondition(!encodings.isEmpty, "a sender has an encoding")
      precondition(
        encodings.count == 1 || Set(encodings.compactMap(\.rid)).count == encodings.count,
        "each encoding of several has a name of its own")
      self.trackID = trackID
      self.streamIDs = streamIDs
      self.cname = cname
      self.encodings = encodings
    }

    package init(
      trackID: String, streamIDs: [String] = [], cname: String, ssrc: UInt32, retransmissionSSRC: UInt32? = nil
    ) {
      self.init(
        trackID: trackID, streamIDs: streamIDs, cname: cname,
        encodings: [Encoding(ssrc: ssrc, retransmissionSSRC: retransmissionSSRC)])
    }

    /// The SSRC of the first encoding.
    package var ssrc: UInt32 { encodings[0].ssrc }
    /// The names of a simulcast; empty for one encoding.
    var rids: [String] { encodings.count > 1 ? encodings.compactMap(\.rid) : [] }
  }

  /// The negotiated state, which a rollback restores.
  struct Association: Hashable {
    var mid: String?
    var mLineIndex: Int?
    var currentDirection: MediaDirection?
    /// Whether the remote side announced that it sends, and the track was reported to the application.
    var hasRemoteTrack = false
    var isStopped = false
  }

  enum Maker {
    case addTrack, addTransceiver
    /// Made by a remote offer, so rolling that offer back removes it.
    case remoteOffer
  }

  package let id: ID
  package let kind: MediaKind
  /// The direction that the application requested.
  package internal(set) var direction: MediaDirection
  package internal(set) var sender: Sender?
  /// Whether the sender has something to send.
  package internal(set) var hasTrack: Bool
  /// The codecs to negotiate in this order; nil for all capabilities.
  package internal(set) var codecPreferences: [CodecCapability]?
  /// The names of the encodings that the remote offer can receive; empty without simulcast.
  package internal(set) var proposedEncodings: [String] = []
  /// Whether stop was requested; it takes effect with the next negotiation.
  package internal(set) var isStopping = false

  var association = Association()
  /// The association of the last stable state.
  var stable = Association()
  var maker: Maker
  var hasSent = false

  package var mid: String? { association.mid }
  package var mLineIndex: Int? { association.mLineIndex }
  /// The negotiated direction.
  package var currentDirection: MediaDirection? { association.currentDirection }
  package var isStopped: Bool { association.isStopped }

  init(id: ID, kind: MediaKind, direction: MediaDirection, sender: Sender?, maker: Maker) {
    self.id = id
    self.kind = kind
    self.direction = direction
    self.sender = sender
    hasTrack = sender != nil
    self.maker = maker
  }
}
