/// RTCRtpTransceiver as far as negotiation sees it (RFC 9429 §3.4.1).
public struct Transceiver: Hashable, Sendable {
  /// The identifier of a transceiver within its connection.
  public struct ID: Hashable, Sendable {
    let number: Int

    /// For stacks of which only their maker knows the transceivers.
    package init(number: Int) { self.number = number }
  }

  /// One of the streams that a track is sent in.
  package struct Encoding: Hashable, Sendable {
    /// Its name among several (RFC 8851); of one alone it is not told.
    package var rid: String?
    package var ssrc: UInt32
    /// Who sends its packets again (RFC 4588).
    package var retransmissionSSRC: UInt32?
    /// Who repairs it (RFC 8627).
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

  /// What a section announces about our outgoing media. The owner allocates all of it.
  package struct Sender: Hashable, Sendable {
    package var trackID: String
    /// Empty for a track in no stream.
    package var streamIDs: [String]
    package var cname: String
    /// One, or those of a simulcast, each with a name. Never empty.
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

    /// The source of the first encoding.
    package var ssrc: UInt32 { encodings[0].ssrc }
    /// The names of a simulcast; empty for one encoding.
    var rids: [String] { encodings.count > 1 ? encodings.compactMap(\.rid) : [] }
  }

  /// What negotiation has made of it: the part that a rollback restores.
  struct Association: Hashable {
    var mid: String?
    var mLineIndex: Int?
    var currentDirection: MediaDirection?
    /// Whether the far side announced that it sends, and the application was told of the track.
    var hasRemoteTrack = false
    var isStopped = false
  }

  enum Maker {
    case addTrack, addTransceiver
    /// A remote offer made it, so rolling that offer back removes it.
    case remoteOffer
  }

  package let id: ID
  package let kind: MediaKind
  /// What the application wants.
  package internal(set) var direction: MediaDirection
  package internal(set) var sender: Sender?
  /// Whether the sender has something to send.
  package internal(set) var hasTrack: Bool
  /// Codecs to negotiate in this order; nil for all capabilities.
  package internal(set) var codecPreferences: [CodecCapability]?
  /// The encodings that the far side's offer would take of a sender, by their names; empty when it asks for no simulcast.
  package internal(set) var proposedEncodings: [String] = []
  /// Asked to stop; it is stopped once that is negotiated.
  package internal(set) var isStopping = false

  var association = Association()
  /// The association of the last stable state.
  var stable = Association()
  var maker: Maker
  var hasSent = false

  package var mid: String? { association.mid }
  package var mLineIndex: Int? { association.mLineIndex }
  /// What was negotiated last.
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
