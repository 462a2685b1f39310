internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// What an operator makes the service refuse, by the code that clients are told.
enum TwilioRefusal: String, CaseIterable {
  case roomNotCreated = "53103"
  case roomNotConnected = "53104"
  case audioOnlyNotSupported = "53124"
  case configurationMissing = "53500"
  case relayCredentialsMissing = "53501"
  case descriptionFails = "53401"
  case participantForgotten = "53204"
  case restartNotAllowed = "53408"
  case trackCapacityExceeded = "53305"

  /// Whether a request to be let in is refused.
  ///
  /// - Parameter creates: whether the room has to be created for it.
  func refusesConnect(creating creates: Bool) -> Bool {
    switch self {
    case .roomNotCreated: creates
    case .roomNotConnected, .audioOnlyNotSupported, .configurationMissing, .relayCredentialsMissing,
      .descriptionFails:
      true
    case .participantForgotten, .restartNotAllowed, .trackCapacityExceeded: false
    }
  }
}

/// The state of the account and of the service's capacity, which an operator sets.
struct TwilioServerPolicy {
  /// The words for quotas.
  static let quotas = ["rooms", "participants"]

  /// Whether clients may create rooms.
  var allowsAdHoc = true
  /// The answer to new links while the server is busy.
  var busy: (retryAfter: Int64, keepsAlive: Bool)?
  /// The rooms that the account may have at once; nil without a limit.
  var roomQuota: Int64?
  /// The participants that the account may have in all rooms; nil without a limit.
  var participantQuota: Int64?
  /// What is refused.
  var refusal: TwilioRefusal?

  /// Returns the code with which a request to be let in is refused.
  func problem(creating creates: Bool, beside rooms: [TwilioServerRoom]) -> String? {
    if creates, !allowsAdHoc { return "53106" }
    if let refusal, refusal.refusesConnect(creating: creates) { return refusal.rawValue }
    if creates, !mayCreate(beside: rooms) { return "53119" }
    if let participantQuota, rooms.reduce(0, { $0 + $1.participants.count }) >= participantQuota { return "53206" }
    return nil
  }

  /// Whether the account may have one more room.
  func mayCreate(beside rooms: [TwilioServerRoom]) -> Bool { roomQuota.map { rooms.count < $0 } ?? true }

  /// Takes a request of an operator; false for one of another kind.
  mutating func take(_ request: MessageContent) -> Bool {
    switch request["request"]?.string {
    case "set-ad-hoc": allowsAdHoc = request["flag"]?.flag ?? true
    case "set-busy":
      let isBusy = request["flag"]?.flag ?? false
      busy = isBusy ? (request["retry_after"]?.integer ?? -1, request["keep_alive"]?.flag ?? false) : nil
    case "set-quota":
      let count = request["count"]?.integer
      if request["quota"]?.string == "rooms" { roomQuota = count } else { participantQuota = count }
    case "set-refusal": refusal = request["code"]?.string.flatMap(TwilioRefusal.init)
    default: return false
    }
    return true
  }
}
