internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// What an operator does by the REST API, and with the account.
struct TwilioAccount {
  private let requests: OperatorRequests

  init(_ environment: PeerEnvironment) {
    requests = OperatorRequests(environment, to: "room", text: TwilioWire.text, message: TwilioWire.message)
  }

  func perform(_ action: UserAction) throws(ActionError) {
    let values = action.values
    var fields: [(String, JSON?)] = [("room", values.text("room").map(JSON.string))]
    func seconds(_ name: String) -> JSON? { values.duration(name).map { .integer(Int64($0.seconds.rounded(.up))) } }
    switch action.name {
    case "create-room":
      fields += [
        ("max_participants", values.count("max-participants").map(JSON.integer)),
        ("max_participant_duration", seconds("max-participant-duration")),
        ("max_published_tracks", values.count("max-published-tracks").map(JSON.integer)),
        ("audio_only", values.flag("audio-only").map(JSON.bool)),
        ("video_codec", values.text("video-codec").map(JSON.string)),
        ("empty_room_timeout", seconds("empty-room-timeout")),
        ("unused_room_timeout", seconds("unused-room-timeout")),
      ]
    case "complete-room": break
    case "set-ad-hoc": fields.append(("flag", values.flag("allowed").map(JSON.bool)))
    case "set-busy":
      fields += [
        ("flag", values.flag("busy").map(JSON.bool)),
        ("retry_after", values.duration("retry-after").map { .integer($0.milliseconds) }),
        ("keep_alive", values.flag("keep-alive").map(JSON.bool)),
      ]
    case "set-quota":
      fields += [
        ("quota", values.text("what").map(JSON.string)), ("count", values.count("count").map(JSON.integer)),
      ]
    case "set-refusal": fields.append(("code", values.text("code").map(JSON.string)))
    default: throw ActionError("unknown action '\(action.name)'")
    }
    requests.send(action, fields)
  }

  func shutDown() { requests.shutDown() }
}
