internal import VirtualPeer
public import Vocabulary

extension ConnectyCubeApp {
  /// ConnectyCube: calls of up to four users in a mesh, signalled by XMPP.
  ///
  /// The SDK for iOS documents states, callbacks, intervals and limits, the public sources of its relatives the signals
  /// on the wire. Error codes are the harness's: the product has none.
  public static let vocabulary = ProfileVocabulary(
    profile: "connectycube",
    summary: "Calls of up to four users in a mesh, signalled by XMPP headline messages that a caller repeats.",
    machines: [session, chat, opponent, opponentSession, recorder],
    actions: actions + recorderActions,
    messages: messages,
    events: events + recorderEvents,
    endCodes: endCodes,
    errorCodes: [
      code("cc.no_answer", "An opponent did not answer within the answer interval."),
      code("cc.rejected", "An opponent refused."),
      code("cc.busy", "A second call came in, and the app refused it."),
      code("cc.ice_failed", "ICE or DTLS failed with an opponent."),
      code("cc.disconnect_timeout", "A lost connection did not come back within the disconnect interval."),
      code("cc.not_connected_to_chat", "A call needs the chat, which is not connected."),
      code("cc.not_initialized", "The SDK was used before it was initialized."),
      code("cc.too_many_participants", "A call has at most four participants."),
      code(
        "cc.audio_device", "The audio device could not be changed: the session is inactive, or its mode forbids it."),
      code(
        "cc.recorder_unavailable", "The session has no recorder: it has more than two users, or the device is too slow."
      ),
      code("cc.recorder_active", "The recorder is at work: it cannot be started, and its parameters cannot be set."),
      code("cc.recorder_failed", "The recorder failed: its space is used up, or something could not be coded."),
      code("cc.bad_stats_string", "The text of a report of the statistics has not the form that is documented."),
      code("cc.bad_signal", "A stanza was no signal of a call, or was incomplete, and was ignored."),
    ],
    values: [
      ValueDeclaration("mic.muted", .flag, "The user disabled the local audio track."),
      ValueDeclaration("camera.off", .flag, "The user disabled the local video track."),
      ValueDeclaration("screen.shared", .flag, "The app sends its screen in place of the camera's pictures."),
      ValueDeclaration(
        "remote-audio.muted", .flag, of: .remote, "This user disabled that user's audio track on this device."),
      ValueDeclaration(
        "user-info", .text, of: .remote, "what that user's app added to its last signal that had any; none"),
      ValueDeclaration("opponent.session.id", .text, of: .remote, "The id of the last session with that user."),
      ValueDeclaration("callback.session", .text, "The id of the session that the last callback is about."),
      .callsBeside,
      ValueDeclaration(
        "active-speaker", .peer,
        "the opponent with the highest audioReceivedOutputLevel in the last reports; none where nobody has any"),
      ValueDeclaration(
        "missed-calls", .count,
        "with call-log, the calls that ended before this user accepted or refused them, as a second delegate of the client counts them"
      ),
    ] + reportValues + recorderValues,
    settings: [
      ParameterDeclaration(
        "answer-interval", .duration, "the time in which opponents must answer, at least 10s; 45s",
        provenance: .documented),
      ParameterDeclaration(
        "dialling-interval", .duration, "the time after which a call is repeated, at least 3s; 5s",
        provenance: .documented),
      ParameterDeclaration(
        "disconnect-interval", .duration, "how long a lost connection may take to come back; 30s",
        provenance: .documented),
      ParameterDeclaration(
        "setup-timeout", .duration, "how long connecting to an opponent who answered may take; 30s"),
      ParameterDeclaration(
        "waits-after-failure", .flag, "let a failed connection of a call wait for the disconnect interval; false",
        provenance: .inferred),
      ParameterDeclaration(
        "ice-restart", .flag, "restart ICE when the network changes; false", as: .restartsICE),
      ParameterDeclaration(
        "initialize-rtc", .flag, "initialize the SDK at launch; true", provenance: .documented),
      ParameterDeclaration(
        "several-sessions", .flag,
        "keep a session that begins while the app is in another one, instead of refusing it; false",
        provenance: .documented, barring: callKit),
      ParameterDeclaration(
        "audio-session", .choice(ConnectyCubeSettings.AudioInitialization.allCases.map(\.rawValue)),
        "the calls before which the app initializes the SDK's audio session; every-call", provenance: .documented),
      ParameterDeclaration(
        "audio-bandwidth", .rate, "a b=AS line in the audio section of descriptions; none", provenance: .documented),
      ParameterDeclaration(
        "video-bandwidth", .rate, "a b=AS line in the video section of descriptions; none", provenance: .documented,
        needing: ParameterDeclaration.video),
      ParameterDeclaration(
        "audio-mode", .choice([ConnectyCubeSettings.voiceChat, ConnectyCubeSettings.videoChat]),
        "the mode of the audio session; voice-chat", provenance: .documented),
      ParameterDeclaration(
        "airplay", .flag, "give the audio session the option allowAirPlay, of use in the mode video-chat; false",
        provenance: .documented, needing: "audio-mode: video-chat"),
      ParameterDeclaration(
        "dtls", .flag, "use DTLS-SRTP; false sends media in cleartext, to users who do the same; true",
        provenance: .documented),
      ParameterDeclaration(
        "call-log", .flag, "count missed calls by a second delegate of the client; false"),
      ParameterDeclaration(
        "stats-report-interval", .duration,
        "the time between reports of the statistics of each connection, at least 100ms, or 0s for none; 0s",
        provenance: .documented),
    ] + recorderSettings + callKitSettings,
    servers: [ServerDeclaration(chatServer, "passes XMPP messages between users that are connected")],
    connections: .peers, sendsPushes: true)

  // MARK: Machines

  private static let sessionStates = [
    StateMachine.State("none", "No call yet.", as: .idle), .init("new", "The session was created.", as: .alerting),
    .init("pending", "The opponents are dialled, or it rings here.", as: .alerting),
    .init("connecting", "Somebody has accepted.", as: .settingUp),
    .init("connected", "The first connection stands.", as: .connected),
    .init("closed", "Every connection is closed.", as: .over),
  ]

  private static let sessionTransitions = [
    StateMachine.Transition("none", "new", on: "createNewSession or didReceiveNewSession"),
    .init("closed", "new", on: "createNewSession or didReceiveNewSession"),
    .init("new", "pending", on: "startCall, or it rings"),
    .init("pending", "connecting", on: "acceptedByUser or acceptCall"),
    .init("connecting", "connected", on: "connectedToUser"),
    .init("pending", "closed", on: "rejectCall, hangUp or the last connection closed"),
    .init("connecting", "closed", on: "hangUp or the last connection closed"),
    .init("connected", "closed", on: "hangUp or the last connection closed"),
  ]

  /// The session that the app shows: the newest that is open. A further one begins beside it, and after it the app goes
  /// back to the one before.
  private static let session = StateMachine(
    "session.state", states: sessionStates,
    transitions: sessionTransitions
      + ["pending", "connecting", "connected"].flatMap { state in
        [
          StateMachine.Transition(state, "new", on: "a session beside"),
          .init("closed", state, on: "the session before"),
        ]
      })

  private static let opponentSession = StateMachine(
    "opponent.session.state", of: .remote, states: sessionStates, transitions: sessionTransitions)

  private static let chat = StateMachine(
    "chat.state",
    states: [
      .init("disconnected", "No connection; signals are lost."), .init("connecting", "The stream is being set up."),
      .init("connected", "The resource is bound."),
    ],
    transitions: [
      .init("disconnected", "connecting", on: "connect"), .init("connecting", "connected", on: "bind"),
      .init("connecting", "disconnected", on: "loss"), .init("connected", "disconnected", on: "loss"),
    ])

  private static let opponent = StateMachine(
    "opponent.state", of: .remote,
    states: [
      .init("unknown", "Not in a session yet."), .init("new", "In a new session."),
      .init("pending", "Dialled, and not answered yet."), .init("connecting", "The answer is there."),
      .init("checking", "ICE checks pairs."), .init("connected", "Media may flow."),
      .init("disconnected", "The connection was lost, and may come back."),
      .init("disconnectTimeout", "It did not come back within the disconnect interval."),
      .init("noAnswer", "The user did not answer."), .init("rejected", "The user refused."),
      .init("hangUp", "The user hung up."), .init("failed", "ICE or DTLS failed."), .init("closed", "It is over."),
    ],
    transitions: [
      .init("unknown", "new", on: "session"), .init("closed", "new", on: "session"),
      .init("new", "pending", on: "startCall"), .init("new", "connecting", on: "acceptCall"),
      .init("pending", "connecting", on: "accept"), .init("connecting", "checking", on: "ICE checks"),
      .init("connecting", "connected", on: "ICE and DTLS"), .init("checking", "connected", on: "ICE and DTLS"),
      .init("connected", "disconnected", on: "ICE disconnected"),
      .init("disconnected", "connected", on: "ICE and DTLS"),
      .init("disconnected", "disconnectTimeout", on: "disconnect interval"),
      .init("new", "noAnswer", on: "answer interval"), .init("pending", "noAnswer", on: "answer interval"),
      .init("new", "rejected", on: "reject"), .init("pending", "rejected", on: "reject"),
    ]
      + ["new", "pending", "connecting", "checking", "connected", "disconnected"].flatMap { state in
        [
          StateMachine.Transition(state, "hangUp", on: "hangUp"), .init(state, "failed", on: "failure"),
          .init(state, "closed", on: "local end"),
        ]
      }
      + ["disconnectTimeout", "noAnswer", "rejected", "hangUp", "failed"].map {
        StateMachine.Transition($0, "closed", on: "closed")
      })

  // MARK: Actions

  private static let userInfo = ParameterDeclaration(
    "user-info", .text, "what the app adds to the signal", provenance: .documented)

  static let opponentParameter = ParameterDeclaration(
    "user", .peer, required: true, "the opponent", provenance: .documented)

  private static let actions = [
    ActionDeclaration("initialize-rtc", [], "Initialize the SDK."),
    ActionDeclaration(
      "call",
      [
        ParameterDeclaration("to", .peers, required: true, "whom to call, up to three", provenance: .documented),
        ParameterDeclaration(
          "type", .choice(["audio", "video"]), "the conference type; video where the device has it",
          provenance: .documented),
        userInfo,
      ], "Create a session and start the call.", as: .begin(with: "to")),
    ActionDeclaration("accept", [userInfo], "Accept the ringing call.", as: .accept),
    ActionDeclaration("reject", [userInfo], "Refuse the ringing call.", as: .refuse),
    ActionDeclaration(
      "hangup",
      [
        userInfo,
        ParameterDeclaration("with", .peer, "a user of the session that is meant; the one that the app shows"),
      ], "Leave a session, or refuse it while it rings.", as: .end),
    ActionDeclaration("mute", [], "Disable the local audio track; packets of silence go on.", as: .mute),
    ActionDeclaration("unmute", [], "Enable the local audio track.", as: .unmute),
    ActionDeclaration(
      "mute-remote", [opponentParameter], "Disable the audio track of an opponent: it is silent on this device alone."),
    ActionDeclaration("unmute-remote", [opponentParameter], "Enable the audio track of an opponent."),
    ActionDeclaration("camera-off", [], "Disable the local video track; black pictures go on."),
    ActionDeclaration("camera-on", [], "Enable the local video track."),
    ActionDeclaration(
      "audio-device",
      [
        ParameterDeclaration(
          "to", .choice(["receiver", "speaker"]), required: true, "where to play", provenance: .documented)
      ], "Change the audio device (currentAudioDevice)."),
    ActionDeclaration(
      "share-screen",
      [
        ParameterDeclaration(
          "fps", .count, "pictures that the screen gives in a second, 1 to 60; 60", provenance: .documented),
        ParameterDeclaration(
          "adapts", .flag, "send 30 of them at most, as the guide asks of an app; true", provenance: .documented),
      ], "Send the app's screen in place of the camera's pictures, until the app leaves the foreground.",
      as: .shareScreen),
    ActionDeclaration("stop-screen-share", [], "Send the camera's pictures again."),
    ActionDeclaration(
      "switch-camera", [], "Use the other camera, where the device has one.", as: .switchCamera),
    ActionDeclaration(
      "ice-restart", [], "Restart ICE on every connection that this user offered.", as: .restartICE),
  ]

  // MARK: CallKit

  static let callKit = "callkit"

  private static let callKitSettings = [
    ParameterDeclaration(
      callKit, .flag, "use CallKit, and PushKit for calls while the app does not run; false", provenance: .documented,
      as: .usesCallKit),
    ParameterDeclaration(
      "manual-audio", .choice(CallKitSettings.ManualAudio.allCases.map(\.rawValue)),
      "with callkit, when useManualAudio is set; before-report", provenance: .documented,
      needing: callKit),
    ParameterDeclaration(
      "audio-enabling", .choice(CallKitSettings.AudioEnabling.allCases.map(\.rawValue)),
      "with callkit, when audioEnabled is set; did-activate", provenance: .documented,
      needing: callKit),
    ParameterDeclaration(
      "audio-deinitialization", .choice(CallKitSettings.AudioDeinitialization.allCases.map(\.rawValue)),
      "with callkit, when the SDK's audio session is deinitialized; did-deactivate",
      provenance: .documented, needing: callKit),
    ParameterDeclaration(
      "audio-reset", .flag, "with callkit, reset useManualAudio and audioEnabled in the end action; true",
      provenance: .documented, needing: callKit),
    ParameterDeclaration(
      "push-report", .choice(CallKitSettings.PushReport.allCases.map(\.rawValue)),
      "with callkit, how often a push is reported before it is completed; once", provenance: .documented,
      needing: callKit),
  ]

  // MARK: Messages

  private static let messages = [
    message(
      "call", "An offer, repeated until it is answered.", .documented,
      [MessageField("sdp", .sdp, as: .description)] + members),
    message("accept", "The answer.", .documented, [MessageField("sdp", .sdp, as: .description)] + members),
    message("reject", "A refusal.", .documented, members, as: .refusal),
    message("hangUp", "The sender leaves.", .documented, members, as: .end),
    message(
      "iceCandidates", "Candidates, held until the signalling state is stable.", .documented,
      [
        MessageField(
          "iceCandidates", .list,
          members: [
            MessageField("candidate", .candidate, as: .candidate), MessageField("sdpMid", .string, required: false),
            MessageField("sdpMLineIndex", .integer, required: false),
          ])
      ]),
    message(
      "restart", "An offer that restarts ICE.", .documented, [MessageField("sdp", .sdp, as: .description)]),
    message("restart-accept", "Its answer.", .documented, [MessageField("sdp", .sdp, as: .description)]),
  ]

  private static let members = [
    MessageField("callType", .integer, required: false, "1 for video, 2 for audio"),
    MessageField("callerID", .string, required: false, "the user who placed the call"),
    MessageField("opponentsIDs", .list, required: false, "the users whom the initiator called"),
    MessageField("userInfo", .object, as: .payload, required: false, "what the app adds"),
  ]

  private static func message(
    _ name: String, _ summary: String, _ provenance: Provenance, _ fields: [MessageField],
    as role: MessageDeclaration.Role? = nil
  ) -> MessageDeclaration {
    let common = [
      MessageField("to", .string, as: .addressee, "the user it is for"),
      MessageField("from", .string, as: .sender, going: .serverToClient, "who sent it, as the server knows"),
      MessageField("sessionID", .string, as: .callID, "the session's UUID"),
      MessageField("platform", .string, required: false, "the sender's platform"),
    ]
    return MessageDeclaration(name, .both, summary, provenance: provenance, fields: common + fields, as: role)
  }

  // MARK: Callbacks and codes

  private static let events = [
    EventDeclaration("didReceiveNewSession", "A call came in; once for each session."),
    EventDeclaration("sessionDidClose", "The session is over; the last callback of a session."),
    EventDeclaration("userDidNotRespond", of: .remote, "The user did not answer in time."),
    EventDeclaration("acceptedByUser", of: .remote, "The user accepted."),
    EventDeclaration("rejectedByUser", of: .remote, "The user refused."),
    EventDeclaration("hungUpByUser", of: .remote, "The user hung up."),
    EventDeclaration("startedConnectingToUser", of: .remote, "The connection to the user is being set up."),
    EventDeclaration("connectedToUser", of: .remote, "The connection stands, or stands again."),
    EventDeclaration("disconnectedFromUser", of: .remote, "The connection was lost, or is being closed."),
    EventDeclaration("connectionFailedForUser", of: .remote, "The connection failed."),
    EventDeclaration("connectionClosedForUser", of: .remote, "The connection is closed; the last callback of a user."),
    EventDeclaration("updatedStatsReport", of: .remote, "A report of the statistics of the connection to the user."),
    EventDeclaration("receivedRemoteAudioTrack", of: .remote, "The user's audio track is there."),
    EventDeclaration("receivedRemoteVideoTrack", of: .remote, "The user's video track is there."),
  ]

  private static let endCodes = [
    CodeDeclaration("hung-up", "This user left the call.", provenance: .documented, blames: .me),
    CodeDeclaration("rejected-by-me", "This user refused.", provenance: .documented, blames: .me),
    CodeDeclaration("hung-up-by-user", "The last opponent hung up.", provenance: .documented, blames: .other),
    CodeDeclaration("cancelled", "The initiator gave up while it rang.", provenance: .documented, blames: .other),
    CodeDeclaration(
      "rejected", "The last opponent refused.", provenance: .documented, blames: .other, isRefusal: true),
    CodeDeclaration("no-answer", "The last opponent did not answer.", provenance: .documented, blames: .time),
    CodeDeclaration(
      "missed", "It rang for the answer interval.", provenance: .inferred,
      blames: .time),
    CodeDeclaration("failed", "The last connection failed.", provenance: .documented, blames: .network),
    CodeDeclaration(
      "disconnect-timeout", "The last connection was lost for too long.", provenance: .documented, blames: .network),
    CodeDeclaration("codec-mismatch", "No codec in common.", provenance: .harnessDefault, blames: .nobody),
    CodeDeclaration(
      "protocol-violation", "A description was unusable.", provenance: .harnessDefault, blames: .nobody),
  ]

  private static func code(_ name: String, _ summary: String) -> CodeDeclaration {
    CodeDeclaration(name, summary, provenance: .harnessDefault)
  }
}
