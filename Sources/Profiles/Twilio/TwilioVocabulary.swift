internal import VirtualPeer
public import Vocabulary

extension TwilioApp {
  /// Twilio Video: rooms on a media server, signalled over a WebSocket.
  ///
  /// States, callbacks and codes are documented. The wire follows the open client, with one description and one list of
  /// candidates in place of lists of connections. What the REST API and the account do stands in actions of any peer.
  public static let vocabulary = ProfileVocabulary(
    profile: "twilio",
    summary: "Rooms on a media server that forwards, with one peer connection from each participant.",
    machines: [roomState],
    actions: userActions + dataActions + operatorActions,
    messages: wireMessages + restMessages,
    events: roomCallbacks,
    endCodes: TwilioCode.ends,
    errorCodes: TwilioCode.raised,
    unseenCodes: TwilioCode.unseen,
    values: roomValues + trackValues + dataValues,
    settings: [
      ParameterDeclaration(
        "identity", .text, "the identity in the token; the peer's user id", provenance: .documented, as: .identity),
      ParameterDeclaration(
        "token", .choice(TwilioToken.Kind.allCases.map(\.rawValue)), "what is wrong with the token; valid"),
      ParameterDeclaration("token-ttl", .duration, "how long the token is valid; 24h, and more is refused"),
      ParameterDeclaration("mic-at-connect", .flag, "whether the microphone is on when the user connects; true"),
      ParameterDeclaration(
        "camera-at-connect", .flag, "whether the camera is on when the user connects; true",
        needing: ParameterDeclaration.camera),
      ParameterDeclaration("mic-name", .text, "the name of the microphone's track; mic", provenance: .documented),
      ParameterDeclaration(
        "turn-off", .choice(OffPolicy.allCases.map(\.rawValue)),
        "how the app turns microphone and camera off; unpublish", provenance: .documented),
      ParameterDeclaration(
        "bandwidth-profile", .choice(["none"] + TwilioBandwidthProfile.Mode.allCases.map(\.rawValue)),
        "how the server divides the way to the user among the videos of others; none", provenance: .documented),
      ParameterDeclaration(
        "track-switch-off", .choice(TwilioBandwidthProfile.SwitchOff.allCases.map(\.rawValue)),
        "whether the server switches a video off that the way does not hold, with a bandwidth profile; predicted",
        provenance: .documented, needing: "bandwidth-profile"),
      ParameterDeclaration(
        "camera-priority", .choice(TwilioTrackPriority.allCases.map(\.rawValue)),
        "the priority with which the camera's track is published; standard", provenance: .documented,
        needing: ParameterDeclaration.camera),
      ParameterDeclaration(
        "dominant-speaker", .flag, "whether the app asks the server who the dominant speaker is; false",
        provenance: .documented),
      ParameterDeclaration(
        "network-quality", .choice(TwilioQualityScope.allCases.map(\.rawValue)),
        "whose network quality levels the app asks for; none", provenance: .documented),
      ParameterDeclaration(
        "sample-code", .flag,
        "whether the app's switches are those of the guide's sample: they show what the user asked for, whatever becomes of "
          + "it, and reach a room that is there; false", provenance: .documented),
    ],
    servers: [
      ServerDeclaration(
        "room", "signals for rooms, and forwards their media", opensConnections: true, forwardsMedia: true)
    ], readsDate: true)

  private static let roomState = StateMachine(
    "room.state",
    states: [
      .init("none", "No room.", as: .idle),
      .init("connecting", "Asking to be let in.", as: .settingUp),
      .init("connected", "In the room.", as: .connected),
      .init("reconnecting", "Signalling or media is lost.", as: .recovering),
      .init("disconnected", "Out of the room.", as: .over),
    ],
    transitions: [
      .init("none", "connecting", on: "connect"), .init("disconnected", "connecting", on: "connect"),
      .init("connecting", "connected", on: "connected, and media"), .init("connecting", "disconnected", on: "failure"),
      .init("connected", "reconnecting", on: "signalling or media lost"),
      .init("reconnecting", "connected", on: "signalling and media back"),
      .init("reconnecting", "disconnected", on: "timeout, refusal or disconnect"),
      .init("connected", "disconnected", on: "disconnect, or the server"),
    ])

  private static let userActions = [
    ActionDeclaration(
      "connect", [ParameterDeclaration("room", .text, required: true, "the room's name", provenance: .documented)],
      "Connect to a room with the tracks that are on.", as: .join(room: "room")),
    ActionDeclaration("disconnect", [], "Leave the room.", as: .leave),
    ActionDeclaration("mic-off", [], "Turn the microphone off, as the setting `turn-off` says.", as: .mute),
    ActionDeclaration("mic-on", [], "Turn the microphone on.", as: .unmute),
    ActionDeclaration(
      "publish",
      [ParameterDeclaration("track-name", .text, required: true, "the track's name", provenance: .documented)],
      "Publish one more track of the microphone.", as: .unmute),
    ActionDeclaration("camera-off", [], "Turn the camera off, as the setting `turn-off` says."),
    ActionDeclaration("camera-on", [], "Turn the camera on."),
  ]

  // MARK: Values

  /// The callbacks of the room's delegate.
  private static let roomCallbacks = [
    EventDeclaration("roomDidConnect", "The participant is in the room."),
    EventDeclaration("roomDidFailToConnect", "The attempt to connect failed."),
    EventDeclaration("roomIsReconnecting", "Signalling or media is lost."),
    EventDeclaration("roomDidReconnect", "Both are back."),
    EventDeclaration("roomDidDisconnect", "The participant is out of the room."),
    EventDeclaration("participantDidConnect", "Another participant came."),
    EventDeclaration("participantIsReconnecting", "Another participant lost its link to the signalling server."),
    EventDeclaration("participantDidReconnect", "Another participant is back."),
    EventDeclaration("participantDidDisconnect", "Another participant is gone."),
    EventDeclaration(
      "localParticipantNetworkQualityLevelDidChange", "The network quality of this participant is another, or is known."
    ),
    EventDeclaration(
      "remoteParticipantNetworkQualityLevelDidChange", "The network quality of another is another, or is known."),
    EventDeclaration("dominantSpeakerDidChange", "Another participant is the dominant speaker, or none is any more."),
  ]

  /// The callbacks about tracks, of the delegates of participants.
  static let trackCallbacks =
    ["Audio", "Video"].flatMap { kind in
      [
        "localParticipantDidPublish\(kind)Track", "localParticipantDidFailToPublish\(kind)Track",
        "remoteParticipantDidPublish\(kind)Track", "remoteParticipantDidUnpublish\(kind)Track",
        "didSubscribeTo\(kind)Track", "didUnsubscribeFrom\(kind)Track", "remoteParticipantDidEnable\(kind)Track",
        "remoteParticipantDidDisable\(kind)Track",
      ]
    } + ["remoteParticipantSwitchedOffVideoTrack", "remoteParticipantSwitchedOnVideoTrack"] + dataCallbacks

  private static let roomValues =
    [
      ValueDeclaration(
        "callback.error", .choice(["none"] + TwilioCode.ends.map(\.name)), "the error that the last callback brought"),
      ValueDeclaration("callback.participant", .peer, "the identity that it is about; none"),
      ValueDeclaration("room.sid", .text, "the room's sid; none outside of one"),
      ValueDeclaration(
        "signalling.state", .choice(TwilioLink.State.allCases.map(\.rawValue)), "the link of the last WebSocket"),
      ValueDeclaration(
        "signalling.closed", .choice(TwilioLink.End.allCases.map(\.rawValue)),
        "why the last link ended: a private close code"),
      ValueDeclaration("roster.count", .count, "the others in the room"),
      ValueDeclaration("roster", .peers, "the identities of the others, sorted; none"),
      ValueDeclaration("roster.reconnecting", .peers, "those of them that are reconnecting; none"),
      ValueDeclaration(
        "network-quality", .count,
        "the network quality level of this participant, 0 to 5, once it is known; 0 while reconnecting, and after the room"
      ),
      ValueDeclaration(
        "participant.network-quality", .count, of: .remote,
        "the network quality level of that participant, 0 to 5, once it is known"),
      ValueDeclaration(
        "dominant-speaker", .peer,
        "the identity of the other who speaks, with the setting of that name; none while this one speaks, or nobody does"
      ),
    ]

  private static let trackValues =
    [
      ValueDeclaration("track.callback", .choice(trackCallbacks), "the last callback about a track"),
      ValueDeclaration("track.callback.error", .choice(["none"] + TwilioCode.names), "the error that it brought"),
    ]
    + [("mic", "microphone"), ("camera", "camera")].flatMap { name, word in
      [
        ValueDeclaration("\(name).on", .flag, showing: "\(name).sent", "what the app shows of its own \(word)"),
        ValueDeclaration(
          "\(name).sent", .flag, "the \(word)'s track is enabled, and published or about to be"),
        ValueDeclaration("\(name).published", .flag, "the server has given the \(word)'s track a sid"),
        ValueDeclaration("\(name).sid", .text, "the sid of the \(word)'s publication; none"),
        ValueDeclaration(
          "remote.\(name)", .peers, showing: "\(name).sent",
          "the identities whose \(word) the app shows as on, sorted; none"),
        ValueDeclaration(
          "remote.\(name).published", .peers, "the identities whose \(word) is published, on or not, sorted; none"),
      ]
    } + [
      ValueDeclaration("remote.subscribed", .count, "how many tracks of others are subscribed to"),
      ValueDeclaration(
        "remote.switched-off", .peers,
        "the identities whose video the server has switched off for this user, sorted; they stay in remote.camera; none"
      ),
    ]

  // MARK: Messages

  private static let wireMessages = [
    frame(
      "hello", .clientToServer, "Begins a link.",
      [
        MessageField("id", .string, as: .payload), MessageField("version", .integer),
        MessageField("timeout", .integer, "in ms"),
        MessageField("cookie", .string, required: false),
      ]),
    frame(
      "welcome", .serverToClient, "Opens a link.", [MessageField("negotiatedTimeout", .integer, "the heartbeat in ms")]),
    frame(
      "busy", .serverToClient, "Puts a hello off.",
      [
        MessageField("retryAfter", .integer, "in ms; negative for never"), MessageField("keepAlive", .boolean),
        MessageField("cookie", .string, required: false),
      ]),
    frame("bad", .serverToClient, "Refuses a hello.", [MessageField("reason", .string)]),
    frame("heartbeat", .both, "Shows that the sender is there."),
    frame("bye", .both, "Ends a link."),
    body(
      "connect", .clientToServer, "Asks to be let into a room.",
      [
        MessageField("name", .string), token, participant, .description(required: true), .ice,
        MessageField(
          "bandwidth_profile", .object, required: false,
          members: [MessageField("mode", .string), MessageField("track_switch_off", .string)]),
        MessageField("dominant_speaker", .boolean, required: false, "whether the server is to tell who speaks"),
        MessageField("network_quality", .string, required: false, "whose levels the server is to tell"),
      ]),
    body(
      "connected", .serverToClient, "The participant is in the room.",
      [
        session, MessageField("sid", .string, "the room's"), admitted, participants(), published(),
        .description(required: true), .ice, dominantSpeaker(),
        MessageField("options", .object, members: [MessageField("session_timeout", .integer, "in seconds")]),
      ]),
    body(
      "update", .both, "A change: tracks, participants, a description or candidates.",
      [
        MessageField("session", .string, as: .credential, going: .clientToServer), participantIfAny,
        participants(going: .serverToClient, required: false), published(going: .serverToClient, required: false),
        .description(required: false), .ice,
        MessageField(
          "switched_off", .list, going: .serverToClient, required: false, "the sids of tracks that are not sent"),
        dominantSpeaker(going: .serverToClient), networkQuality(going: .serverToClient),
      ]),
    body(
      "sync", .clientToServer, "Takes the session up again on a new link.",
      [
        session, token, participant, .description(required: false), .ice,
      ]),
    body(
      "synced", .serverToClient, "The session goes on.",
      [
        participants(), published(), .description(required: false), .ice,
        MessageField("switched_off", .list, required: false, "the sids of tracks that are not sent"),
        dominantSpeaker(), networkQuality(),
      ]),
    body("disconnect", .clientToServer, "Leaves the room.", [session]),
    body("disconnected", .serverToClient, "The room ended.", [MessageField("status", .string, "`completed`")]),
    body(
      "error", .serverToClient, "Refuses a message, and ends the session.",
      [
        MessageField("code", .integer), MessageField("message", .string),
      ]),
  ]

  private static let token = MessageField("token", .string)
  private static let session = MessageField("session", .string, as: .credential)
  private static let participant = MessageField("participant", .object, as: .payload, members: own)
  private static let participantIfAny = MessageField(
    "participant", .object, going: .clientToServer, required: false, members: own)
  private static let admitted = MessageField(
    "participant", .object, as: .payload, members: [sid, MessageField("identity", .string)])
  private static let sid = MessageField("sid", .string)
  private static let revision = MessageField("revision", .integer, as: .revision)

  /// What a participant tells of itself.
  private static let own = [
    revision,
    MessageField(
      "tracks", .list,
      members: [MessageField("id", .string)] + track + [MessageField("priority", .string, required: false)]),
  ]
  private static let track = [
    MessageField("name", .string), MessageField("kind", .string, "`audio`, `video` or `data`"),
    MessageField("enabled", .boolean),
  ]

  private static func participants(
    going direction: MessageDeclaration.Direction = .both, required: Bool = true
  ) -> MessageField {
    MessageField(
      "participants", .list, going: direction, required: required, "the others",
      members: [
        sid, MessageField("identity", .string),
        MessageField("state", .string, "`connected`, `reconnecting` or `disconnected`"), revision,
        MessageField("tracks", .list, members: [sid] + track),
      ])
  }

  private static func published(
    going direction: MessageDeclaration.Direction = .both, required: Bool = true
  ) -> MessageField {
    MessageField(
      "published", .object, going: direction, required: required, "the participant's own tracks",
      members: [
        revision,
        MessageField(
          "tracks", .list,
          members: [
            MessageField("id", .string), MessageField("state", .string, "`ready` or `failed`"),
            MessageField("sid", .string, required: false),
            MessageField("error", .object, required: false, members: [MessageField("code", .integer)]),
          ]),
      ])
  }

  private static func dominantSpeaker(going direction: MessageDeclaration.Direction = .both) -> MessageField {
    MessageField(
      "dominant_speaker", .object, going: direction, required: false,
      members: [MessageField("participant", .string, required: false, "the sid; none for nobody")])
  }

  private static func networkQuality(going direction: MessageDeclaration.Direction = .both) -> MessageField {
    MessageField(
      "network_quality", .object, going: direction, required: false,
      members: [
        MessageField("local", .integer, "the own level"),
        MessageField("remotes", .list, members: [sid, MessageField("level", .integer)]),
      ])
  }

  private static func frame(
    _ name: String, _ direction: MessageDeclaration.Direction, _ summary: String, _ fields: [MessageField] = []
  ) -> MessageDeclaration {
    MessageDeclaration(name, direction, summary, provenance: .documented, fields: fields, isRelayed: false)
  }

  private static func body(
    _ name: String, _ direction: MessageDeclaration.Direction, _ summary: String, _ fields: [MessageField]
  ) -> MessageDeclaration {
    MessageDeclaration(name, direction, summary, provenance: .inferred, fields: fields, isRelayed: false)
  }
}

/// How the app turns a track off.
enum OffPolicy: String, CaseIterable {
  /// Gives it up, so that the device stops capturing.
  case unpublish
  /// Keeps it, and sends silence or black pictures.
  case disable
}
