internal import CallCore
internal import PeerSession
internal import SDP
package import VirtualPeer

/// A Knotos event on Socket.IO: a name and one object.
package struct KnotosMessage: Hashable, Sendable {
  package enum Body: Hashable, Sendable {
    /// `callee` is only for the server; a callee identifies the caller by the message's sender.
    case offer(sdp: String, callee: String)
    case answer(sdp: String)
    case candidate(text: String, mid: String?, mLineIndex: Int?)
    case decline, busy
    /// `reason` is an end code if the call failed, so that both sides end for the same cause.
    case hangup(reason: String?)
  }

  package var body: Body
  /// The id of the call. The harness gives every call one, to detect messages of other calls.
  package var callID: String
  /// The sending user, set by the server; nil on the way to the server.
  package var sender: String?

  package var name: String {
    switch body {
    case .offer: "call_offer"
    case .answer: "call_answer"
    case .candidate: "ice_candidate"
    case .decline: "call_decline"
    case .busy: "call_busy"
    case .hangup: "call_hangup"
    }
  }

  /// The event on the wire: an offer to the server contains `toUserId`, every event from it `fromUserId`.
  package var packet: SocketIOPacket {
    var members: [JSON.Member] = sender.map { [.init("fromUserId", .string($0))] } ?? []
    switch body {
    case .offer(let sdp, let callee):
      if sender == nil { members.append(.init("toUserId", .string(callee))) }
      members += [
        .init("offer", .string(sdp)),
        .init("callType", SessionDescriptionText(.offer, sdp: sdp).has(.video) ? "video" : "audio"),
      ]
    case .answer(let sdp): members += [.init("offer", .string(sdp))]
    case .candidate(let text, let mid, let index):
      members += [
        .init("candidate", .string(text)), .init("sdpMid", mid.map(JSON.string) ?? .null),
        .init("sdpMLineIndex", index.map { .integer(Int64($0)) } ?? .null),
      ]
    case .hangup(let reason?): members += [.init("reason", .string(reason))]
    case .decline, .busy, .hangup(nil): break
    }
    members.append(.init("callId", .string(callID)))
    return .event(name: name, arguments: [.object(members)], acknowledgement: nil)
  }

  /// Parses an event; nil if the name is unknown or a member is missing or of the wrong type.
  ///
  /// - Parameter isFromServer: whether the message comes from the server and must carry `fromUserId`.
  package init?(name: String, arguments: [JSON], isFromServer: Bool, callIDIfMissing: String? = nil) {
    guard let object = arguments.first, case .object = object else { return nil }
    if isFromServer {
      guard let sender = object["fromUserId"]?.string else { return nil }
      self.sender = sender
    }
    guard let id = object["callId"]?.string ?? callIDIfMissing else { return nil }
    callID = id
    switch name {
    case "call_offer":
      guard let sdp = object["offer"]?.string else { return nil }
      guard let callee = isFromServer ? "" : object["toUserId"]?.string else { return nil }
      body = .offer(sdp: sdp, callee: callee)
    case "call_answer":
      guard let sdp = object["offer"]?.string else { return nil }
      body = .answer(sdp: sdp)
    case "ice_candidate":
      guard let text = object["candidate"]?.string else { return nil }
      let index = object["sdpMLineIndex"]?.integer
      if Defect.candidateIndexTraps.isPlanted { _ = index.map { UInt8($0) } }
      guard index == nil || (0...1_000).contains(index!) else { return nil }
      body = .candidate(text: text, mid: object["sdpMid"]?.string, mLineIndex: index.map(Int.init))
    case "call_decline": body = .decline
    case "call_busy": body = .busy
    case "call_hangup": body = .hangup(reason: object["reason"]?.string)
    default: return nil
    }
  }

  package init(_ body: Body, callID: String) {
    self.body = body
    self.callID = callID
  }
}
