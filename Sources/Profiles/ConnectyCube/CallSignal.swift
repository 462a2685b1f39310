internal import CallCore
internal import Formats
internal import Vocabulary

/// A signal of a call: a headline message with `extraParams`, as the product's clients send them to each other.
struct CallSignal: Hashable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case call, accept, reject, hangUp, iceCandidates, restart
    case restartAccept = "restart-accept"
  }

  /// A trickled candidate.
  struct Candidate: Hashable, Sendable {
    let text: String
    let mid: String?
    let mLineIndex: Int?
  }

  var kind: Kind
  var sessionID: String
  /// The user who placed the call; nil in signals that do not say so.
  var initiator: String?
  /// The users whom the initiator called.
  var opponents: [String] = []
  var isVideo: Bool?
  var sdp: String?
  var candidates: [Candidate] = []
  /// What the app of the sender adds, by keys.
  var userInfo: [JSON.Member] = []
  /// The sending user, as the server knows.
  var sender: String?

  init(_ kind: Kind, sessionID: String) {
    self.kind = kind
    self.sessionID = sessionID
  }

  /// Reads a message from the server; nil if it is no signal or lacks what its kind must have.
  init?(_ content: MessageContent) {
    guard let kind = Kind(rawValue: content.type), let id = content["sessionID"]?.string, !id.isEmpty,
      let sender = content["from"]?.string
    else { return nil }
    self.init(kind, sessionID: id)
    self.sender = sender
    initiator = content["callerID"]?.string
    sdp = content["sdp"]?.string
    if case .array(let users)? = content["opponentsIDs"] { opponents = users.compactMap(\.string) }
    if let type = content["callType"]?.integer { isVideo = type == 1 }
    if case .object(let members)? = content["userInfo"] { userInfo = members }
    if case .array(let candidates)? = content["iceCandidates"] {
      self.candidates = candidates.compactMap { Candidate($0) }
      if self.candidates.count < candidates.count { return nil }
    }
    switch kind {
    case .call: guard sdp != nil, initiator != nil, isVideo != nil, !opponents.isEmpty else { return nil }
    case .accept, .restart, .restartAccept: guard sdp != nil else { return nil }
    case .iceCandidates: guard !candidates.isEmpty else { return nil }
    case .reject, .hangUp: break
    }
  }

  /// The message to a user.
  func content(to user: String) -> MessageContent {
    var content = MessageContent(kind.rawValue, [JSON.Member("to", .string(user))])
    content["sessionID"] = .string(sessionID)
    content["platform"] = "ios"
    if let isVideo { content["callType"] = .integer(isVideo ? 1 : 2) }
    if let initiator { content["callerID"] = .string(initiator) }
    if !opponents.isEmpty { content["opponentsIDs"] = .array(opponents.map(JSON.string)) }
    if let sdp { content["sdp"] = .string(sdp) }
    if !candidates.isEmpty { content["iceCandidates"] = .array(candidates.map(\.json)) }
    if !userInfo.isEmpty { content["userInfo"] = .object(userInfo) }
    return content
  }
}

extension CallSignal.Candidate {
  init?(_ json: JSON) {
    guard let text = json["candidate"]?.string else { return nil }
    let index = json["sdpMLineIndex"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
    if Defect.candidateIndexTraps.isPlanted { _ = index.map { UInt8($0) } }
    guard index == nil || (0...1_000).contains(index!) else { return nil }
    self.init(text: text, mid: json["sdpMid"]?.string, mLineIndex: index.map { Int($0) })
  }

  var json: JSON {
    var members = [JSON.Member("candidate", .string(text))]
    if let mid { members.append(JSON.Member("sdpMid", .string(mid))) }
    if let mLineIndex { members.append(JSON.Member("sdpMLineIndex", .integer(Int64(mLineIndex)))) }
    return .object(members)
  }
}
