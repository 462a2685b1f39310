internal import VirtualPeer
public import Vocabulary

extension VonageApp {
  /// Vonage Video, the former OpenTok: sessions of publishers and subscribers, routed or relayed.
  ///
  /// States, callbacks and codes are documented. The protocol on the wire is not, and is the harness's own.
  public static let vocabulary = ProfileVocabulary(
    profile: "vonage",
    summary: "Sessions in which clients publish and subscribe to streams, over a media router or peer to peer.",
    machines: [sessionState],
    actions: userActions + callActions + operatorActions,
    messages: messages,
    events: events,
    endCodes: VonageCode.endCodes,
    errorCodes: VonageCode.errorCodes,
    values: values,
    settings: [
      ParameterDeclaration(
        "token", .choice(VonageToken.Kind.allCases.map(\.rawValue)), "what is wrong with the token; valid"),
      ParameterDeclaration(
        "role", .choice(VonageRole.allCases.map(\.rawValue)), "the role in the token; publisher",
        provenance: .documented),
      ParameterDeclaration("publishes", .flag, "whether the app publishes when it is connected; true"),
      ParameterDeclaration("subscribes", .flag, "whether the app subscribes to each stream; true"),
      ParameterDeclaration(
        "capturer", .choice(VonageSettings.Capturer.allCases.map(\.rawValue)),
        "who makes the pictures, the device's camera or the app; camera", provenance: .documented, as: .capturer,
        needing: ParameterDeclaration.video),
      ParameterDeclaration(
        "audio-fallback", .flag, "whether the publisher's video may be taken from a bad network; true",
        provenance: .documented, needing: ParameterDeclaration.video),
      ParameterDeclaration(
        "views-in-background", .flag,
        "the app makes views in the background, against the guide, and so subscribes to video there; false",
        needing: ParameterDeclaration.video),
      ParameterDeclaration(
        VonageSettings.callKit, .flag, "use CallKit, and PushKit for invitations while the app does not run; false",
        provenance: .documented, as: .usesCallKit),
    ],
    servers: [
      ServerDeclaration(
        "session", "signals for sessions, and forwards the media of routed ones", opensConnections: true,
        forwardsMedia: true, leavesMedia: true)
    ], readsDate: true, sendsPushes: true)

  private static let sessionState = StateMachine(
    "session.state",
    states: [
      .init("notConnected", "In no session.", as: .idle),
      .init("connecting", "Asking to be let in.", as: .settingUp),
      .init("connected", "In the session.", as: .connected),
      .init("reconnecting", "The messaging connection is lost.", as: .recovering),
      .init("disconnecting", "Leaving.", as: .over),
      .init("failed", "The attempt to connect failed.", as: .over),
    ],
    transitions: [
      .init("notConnected", "connecting", on: "connect"), .init("failed", "connecting", on: "connect"),
      .init("connecting", "connected", on: "accepted"), .init("connecting", "failed", on: "refusal or timeout"),
      .init("connecting", "notConnected", on: "disconnected"),
      .init("connected", "reconnecting", on: "connection lost"),
      .init("reconnecting", "connected", on: "connection back"),
      .init("connected", "notConnected", on: "connection lost for good"),
      .init("reconnecting", "notConnected", on: "connection lost for good"),
      .init("connected", "disconnecting", on: "disconnect, or the server"),
      .init("reconnecting", "disconnecting", on: "disconnect, or the server"),
      .init("disconnecting", "notConnected", on: "disconnected"),
    ])

  // MARK: Actions

  private static let name = ParameterDeclaration("name", .text, "the stream's name; main", provenance: .documented)

  private static func user(_ summary: String) -> ParameterDeclaration {
    ParameterDeclaration("user", .peer, required: true, summary, provenance: .documented)
  }

  private static let userActions = [
    ActionDeclaration(
      "connect", [ParameterDeclaration("session", .text, required: true, "the session's id", provenance: .documented)],
      "Connect to a session.", as: .join(room: "session")),
    ActionDeclaration("disconnect", [], "Leave the session.", as: .leave),
    ActionDeclaration("publish", [name], "Publish the microphone and, if there is one, the camera."),
    ActionDeclaration("unpublish", [name], "Remove a publisher."),
    ActionDeclaration("subscribe", [user("whose streams")], "Subscribe to the streams of a user that are not yet."),
    ActionDeclaration("unsubscribe", [user("whose streams")], "Remove the subscribers to the streams of a user."),
    ActionDeclaration("mute", [], "Set publishAudio to false; silence is sent.", as: .mute),
    ActionDeclaration("unmute", [], "Set publishAudio to true.", as: .unmute),
    ActionDeclaration("camera-off", [], "Set publishVideo to false."),
    ActionDeclaration("camera-on", [], "Set publishVideo to true."),
    ActionDeclaration(
      "subscribe-to-audio",
      [ParameterDeclaration("wanted", .flag, required: true, "whether sound is wanted", provenance: .documented)],
      "Set subscribeToAudio of all subscribers."),
    ActionDeclaration(
      "subscribe-to-video",
      [ParameterDeclaration("wanted", .flag, required: true, "whether pictures are wanted", provenance: .documented)],
      "Set subscribeToVideo of all subscribers."),
    ActionDeclaration(
      "signal",
      [
        ParameterDeclaration("type", .text, "up to 128 letters, digits, -, _ or ~; none", provenance: .documented),
        ParameterDeclaration("data", .text, "at most 8 KB", provenance: .documented),
        ParameterDeclaration("size", .count, "the bytes of data that is made up, without `data`"),
        ParameterDeclaration("to", .peer, "for whom; all, the sender too", provenance: .documented),
        ParameterDeclaration(
          "retry-after-reconnect", .flag, "whether it waits for a reconnection; true", provenance: .documented),
      ], "Send a signal."),
    ActionDeclaration("force-disconnect", [user("whom")], "Disconnect a client, as a moderator."),
    ActionDeclaration("force-mute", [user("whom")], "Mute the streams of a client, as a moderator."),
  ]

  private static let callActions = [
    ActionDeclaration(
      "invite", [user("whom"), ParameterDeclaration("session", .text, required: true, "the session's id")],
      "Have the app's own backend invite a user to a session by a VoIP push; nothing comes of it where no app of the user takes pushes."
    ),
    ActionDeclaration("accept", [], "Answer an invitation in the system's call UI, and connect.", as: .accept),
    ActionDeclaration("decline", [], "Refuse an invitation in the system's call UI.", as: .refuse),
  ]

  private static let operatorActions = [
    ActionDeclaration(
      "create-session",
      [
        ParameterDeclaration("session", .text, required: true, "the session's id"),
        ParameterDeclaration(
          "mode", .choice(VonageMode.allCases.map(\.rawValue)), required: true, "who carries media",
          provenance: .documented),
      ], "Create a session by the REST API."),
    ActionDeclaration(
      "set-limit",
      [
        ParameterDeclaration(
          "what", .choice(VonageLimits.names), required: true,
          "the connections of a session, or the subscribers of a client"),
        ParameterDeclaration("count", .count, required: true, "how many there may be"),
      ], "Set a limit of the service."),
    ActionDeclaration(
      "set-refusal",
      [ParameterDeclaration("code", .choice(["none", "1026", "1503"]), required: true, "the code of the refusal")],
      "Make the service refuse new connections, or take them again."),
  ]

  // MARK: Values

  private static let values =
    [
      ValueDeclaration(
        "callback.error", .choice(["none", "other"] + VonageCode.names), "the error that the last callback brought"),
      ValueDeclaration("callback.user", .peer, "the user whose connection or stream it is about; none"),
      ValueDeclaration(
        "callback.reason", .choice(["none"] + VideoReason.allCases.map(\.rawValue)),
        "why video was disabled or enabled: 1 publisher, 2 subscriber, 3 quality"),
      ValueDeclaration(
        "session.mode", .choice(["none"] + VonageMode.allCases.map(\.rawValue)), "the session's media mode"),
      ValueDeclaration("connections", .peers, "the users of the other connections, sorted; none"),
      ValueDeclaration("streams", .peers, "the users of the streams of others, one for each, sorted; none"),
      ValueDeclaration("streams.audio", .peers, "the users whose stream has audio, sorted; none"),
      ValueDeclaration("streams.video", .peers, "the users whose stream has video, sorted; none"),
      ValueDeclaration("publishers", .count, "how many streams of this client are in the session"),
      ValueDeclaration("publish.audio", .flag, "publishAudio: whether sound is published"),
      ValueDeclaration("publish.video", .flag, "publishVideo: whether pictures are published"),
      ValueDeclaration("subscribed", .peers, "the users to whose streams subscribers are connected, sorted; none"),
      ValueDeclaration("views", .peers, "the users for whose streams the app has views, sorted; none"),
      ValueDeclaration("video.disabled", .peers, "the users whose video is disabled for a subscriber, sorted; none"),
      ValueDeclaration("signal.type", .text, "the type of the last signal that came"),
      ValueDeclaration("signal.data", .text, "its data"),
      ValueDeclaration("signal.from", .peer, "its sender"),
    ]

  /// The callbacks of session, publishers and subscribers.
  private static let events = [
    EventDeclaration("sessionDidConnect", "The client is in the session."),
    EventDeclaration("sessionDidDisconnect", "The client is out of the session."),
    EventDeclaration("sessionDidFailWithError", "Connecting failed, or the connection did not come back."),
    EventDeclaration("sessionDidBeginReconnecting", "The messaging connection is lost."),
    EventDeclaration("sessionDidReconnect", "It is back."),
    EventDeclaration("sessionConnectionCreated", "Another client is in the session."),
    EventDeclaration("sessionConnectionDestroyed", "Another client is gone."),
    EventDeclaration("sessionStreamCreated", "Another client publishes a stream."),
    EventDeclaration("sessionStreamDestroyed", "A stream of another client is gone."),
    EventDeclaration("sessionReceivedSignal", "A signal came."),
    EventDeclaration("sessionMuteForced", "A moderator has muted this client."),
    EventDeclaration("publisherStreamCreated", "The session has a stream of this client."),
    EventDeclaration("publisherStreamDestroyed", "It has it no more."),
    EventDeclaration("publisherDidFailWithError", "A publisher failed, and is detached."),
    EventDeclaration("subscriberDidConnectToStream", "Media of a stream come in."),
    EventDeclaration("subscriberDidFailWithError", "A subscriber failed."),
    EventDeclaration("subscriberDidDisconnectFromStream", "Media of a stream are lost."),
    EventDeclaration("subscriberDidReconnectToStream", "They are back."),
    EventDeclaration("subscriberVideoDisabled", "There is no video any more; `callback.reason` says why."),
    EventDeclaration("subscriberVideoEnabled", "The reason is gone."),
    EventDeclaration("subscriberVideoDisableWarning", "Video is about to be disabled for its quality."),
    EventDeclaration("subscriberVideoDisableWarningLifted", "It is not any more."),
  ]

  // MARK: Messages

  private static let client = [MessageField("id", .string), MessageField("user", .string)]
  private static let connection = MessageField("connection", .object, members: client)
  private static let connections = MessageField("connections", .list, "those of the others", members: client)
  private static let announced = [
    MessageField("id", .string), connection, MessageField("name", .string), hasAudio, hasVideo,
  ]
  private static let streams = MessageField("streams", .list, members: announced)
  private static let ownStreams = MessageField(
    "streams", .list,
    members: [
      MessageField("publisher", .string), MessageField("id", .string, required: false), hasAudio, hasVideo,
    ])
  private static let subscription = [stream, audio, video, MessageField("number", .integer, "the peer connection's")]
  private static let stream = MessageField("stream", .string, "the stream's id")
  private static let audio = MessageField("audio", .boolean, "whether sound is wanted")
  private static let video = MessageField("video", .boolean, "whether pictures are wanted")
  private static let hasAudio = MessageField("hasAudio", .boolean)
  private static let hasVideo = MessageField("hasVideo", .boolean)
  private static let code = MessageField("code", .integer, required: false)
  private static let event = MessageField("event", .string)
  private static let secret = MessageField("secret", .string, as: .credential)

  private static let messages =
    [
      message(
        "connect", .clientToServer, "Asks to be let into a session.",
        [MessageField("session", .string), MessageField("token", .string)]),
      message(
        "connected", .serverToClient, "The client is in the session.",
        [connection, secret, MessageField("role", .string), MessageField("mode", .string), connections, streams]),
      message(
        "resume", .clientToServer, "Takes the session up again on a new WebSocket.",
        [
          secret, MessageField("received", .integer, "the number of the last signal"),
          MessageField("muted", .integer, "that of the last `muted`"), ownStreams,
          MessageField("subscriptions", .list, members: subscription),
        ]),
      message("resumed", .serverToClient, "The session goes on.", [connections, streams]),
      message("disconnect", .clientToServer, "Leaves the session."),
      message(
        "disconnected", .serverToClient, "The client is out of the session.", [MessageField("reason", .string)]),
      MessageDeclaration(
        "keepalive", .both, "Shows that the sender is there.", provenance: .harnessDefault,
        fields: [
          MessageField(
            "received", .integer, going: .clientToServer, required: false, "the number of the last signal that came")
        ], isRelayed: false),
      message(
        "error", .serverToClient, "Refuses a message.",
        [
          MessageField("domain", .string, "`session` for one that ends it"), code,
          MessageField("stream", .string, required: false),
        ]),
      message("connection", .serverToClient, "A client came or went.", [event, connection, reason]),
    ] + mediaMessages + otherMessages

  private static let reason = MessageField("reason", .string, required: false)

  private static let mediaMessages = [
    message(
      "stream", .serverToClient, "A stream came, changed or went.",
      [event, MessageField("stream", .object, members: announced), reason]),
    message(
      "publish", .clientToServer, "Asks for a stream.",
      [
        MessageField("publisher", .string, "the client's own number"), MessageField("name", .string, as: .payload),
        hasAudio, hasVideo, MessageField("fallback", .boolean),
      ]),
    message("published", .serverToClient, "Gives it.", [MessageField("publisher", .string), stream]),
    message("unpublish", .clientToServer, "Ends a stream.", [stream]),
    message("update", .clientToServer, "Changes what a stream has.", [stream, hasAudio, hasVideo]),
    message(
      "subscribe", .both, "Asks for the media of a stream; a relayed session passes it on.", subscription),
    message("unsubscribe", .both, "Ends that.", [stream]),
    message(
      "media", .both, "A description or candidates of the peer connection.",
      [
        MessageField("number", .integer, "the peer connection's"), .description(required: false), .ice,
        MessageField(
          "from", .string, going: .serverToClient, required: false, "in a relayed session, the other connection's id"),
      ]),
    message(
      "videoQuality", .serverToClient, "The router disables or enables the video of a stream, or warns.",
      [event, stream]),
  ]

  private static let otherMessages = [
    message(
      "signal", .both, "A signal.",
      [
        MessageField("number", .integer, "counted by the sender, and by the server for each client"),
        MessageField("name", .string, "the signal's type"), MessageField("data", .string, as: .payload),
        MessageField("to", .string, going: .clientToServer, required: false, "a connection's id"),
        MessageField("from", .string, as: .sender, going: .serverToClient, "the sender's user"),
      ]),
    message(
      "signalConfirmed", .serverToClient, "The server has a signal.", [MessageField("number", .integer), code]),
    message(
      "moderate", .clientToServer, "Disconnects or mutes another client.",
      [MessageField("request", .string), MessageField("connection", .string)]),
    message(
      "muted", .serverToClient, "A moderator has muted the client.",
      [MessageField("by", .string), MessageField("number", .integer, required: false, "counted for each client")]),
    message(
      "rest", .clientToServer, "Stands for a request of the REST API.",
      [
        MessageField("request", .string), MessageField("number", .integer),
        MessageField("session", .string, required: false),
        MessageField("mode", .string, required: false), MessageField("what", .string, required: false),
        MessageField("count", .integer, required: false), MessageField("code", .string, required: false),
        MessageField("user", .string, required: false),
      ]),
    message(
      "restAnswer", .serverToClient, "Answers it.",
      [MessageField("number", .integer), MessageField("problem", .string, required: false, "why it is refused")]),
  ]

  private static func message(
    _ name: String, _ direction: MessageDeclaration.Direction, _ summary: String, _ fields: [MessageField] = []
  ) -> MessageDeclaration {
    MessageDeclaration(name, direction, summary, provenance: .harnessDefault, fields: fields)
  }
}

/// Who carries the media of a session.
enum VonageMode: String, CaseIterable {
  /// The media router.
  case routed
  /// The clients themselves, of which there are two at most.
  case relayed
}

/// The limits of the service.
struct VonageLimits {
  static let names = ["connections", "subscribers"]
  /// The connections of a session: the product's figure.
  var connections: Int64 = 3_000
  /// The subscribers of a client; the product has no such figure in its documentation.
  var subscribers: Int64 = 3_000
}
