internal import VirtualPeer
public import Vocabulary

extension KnotosApp {
  /// Knotos: one-to-one calls over Socket.IO.
  ///
  /// The product documents states, end reasons and three events; entries marked as harness default were added so that
  /// every documented end reason can be reached.
  public static let vocabulary: ProfileVocabulary = ProfileVocabulary(
    profile: "knotos",
    summary: "One-to-one calls signalled over Socket.IO, one call service owning every transition.",
    machines: [callState],
    actions: [
      ActionDeclaration(
        "call", [ParameterDeclaration("to", .peer, required: true, "whom to call", provenance: .documented)],
        "Start a call.", as: .begin(with: "to")),
      ActionDeclaration("accept", [], "Answer the ringing call.", as: .accept),
      ActionDeclaration("decline", [], "Refuse the ringing call.", as: .refuse),
      ActionDeclaration("hangup", [], "End the call, or cancel it while it rings.", as: .end),
      ActionDeclaration("mute", [], "Stop sending the microphone; packets of silence go on.", as: .mute),
      ActionDeclaration("unmute", [], "Send the microphone again.", as: .unmute),
      ActionDeclaration(
        "dtmf",
        [
          ParameterDeclaration(
            "digits", .text, required: true, "0 to 9, A to D, * and #; a comma is a pause of two seconds")
        ],
        "Send DTMF digits in the connected call."),
      ActionDeclaration("camera-off", [], "Stop sending the camera; black pictures go on."),
      ActionDeclaration("camera-on", [], "Send the camera again."),
      ActionDeclaration(
        "ice-restart", [], "Gather again and renegotiate the transport of the connected call.",
        as: .restartICE),
    ],
    messages: messages,
    endCodes: [
      CodeDeclaration("local-hangup", "This user hung up.", provenance: .documented, blames: .me),
      CodeDeclaration("remote-hangup", "The other user hung up.", provenance: .documented, blames: .other),
      CodeDeclaration(
        "declined", "The callee refused (reason `declined`).", provenance: .documented, blames: .other, isRefusal: true),
      CodeDeclaration(
        "busy", "The callee was in another call (reason `declined`).", provenance: .harnessDefault,
        blames: .other, isRefusal: true),
      CodeDeclaration(
        "ring-timeout", "Nobody answered in time (reason `missed`).", provenance: .documented, blames: .time),
      CodeDeclaration(
        "cancelled", "The caller gave up while it rang (reason `missed`).", provenance: .documented,
        blames: .other),
      CodeDeclaration(
        "setup-timeout", "No connection within the setup timer (reason `failed`).", provenance: .inferred, blames: .time
      ),
      CodeDeclaration(
        "ice-failed", "No candidate pair works (reason `failed`).", provenance: .documented, blames: .network),
      CodeDeclaration(
        "turn-auth", "ICE failed after TURN refused us (reason `failed`).", provenance: .harnessDefault, blames: .server
      ),
      CodeDeclaration(
        "dtls-failed", "The DTLS handshake failed (reason `failed`).", provenance: .harnessDefault, blames: .network),
      CodeDeclaration(
        "fingerprint-mismatch", "The peer's certificate is not the one signalled (reason `failed`).",
        provenance: .harnessDefault, blames: .nobody),
      CodeDeclaration(
        "codec-mismatch", "No codec in common (reason `failed`).", provenance: .harnessDefault, blames: .nobody),
      CodeDeclaration(
        "protocol-violation", "The peer's description is unusable (reason `failed`).", provenance: .harnessDefault,
        blames: .nobody),
      CodeDeclaration(
        "signalling-failure", "Signalling was lost during setup (reason `failed`).", provenance: .documented,
        blames: .server),
    ],
    errorCodes: [
      CodeDeclaration("kn.offer_timeout", "An offer was never answered.", provenance: .harnessDefault),
      CodeDeclaration("kn.declined", "The callee refused.", provenance: .harnessDefault),
      CodeDeclaration("kn.busy", "The callee was busy.", provenance: .harnessDefault),
      CodeDeclaration("kn.ice_failed", "ICE failed.", provenance: .harnessDefault),
      CodeDeclaration("kn.ice_timeout", "The setup timer ran out.", provenance: .harnessDefault),
      CodeDeclaration("kn.sdp_rejected", "A description could not be used.", provenance: .harnessDefault),
      CodeDeclaration("kn.turn_401", "The TURN server refused the credentials.", provenance: .harnessDefault),
      CodeDeclaration("kn.socket_lost_in_setup", "The socket was lost while connecting.", provenance: .harnessDefault),
      CodeDeclaration(
        "kn.unknown_session", "The server does not know the Engine.IO session (400, code 1).",
        provenance: .harnessDefault),
      CodeDeclaration("kn.http_error", "A request of Engine.IO failed.", provenance: .harnessDefault),
      CodeDeclaration(
        "kn.probe_failed", "The upgrade to WebSocket failed, and polling goes on.", provenance: .harnessDefault),
      CodeDeclaration(
        "kn.tls_failed", "TLS with the server failed: its certificate is not valid, for example.",
        provenance: .harnessDefault),
      CodeDeclaration("kn.bad_event", "An event was malformed or unknown, and ignored.", provenance: .harnessDefault),
      CodeDeclaration(
        "kn.illegal_transition", "A message or action asked for a transition that is not allowed.",
        provenance: .harnessDefault),
    ],
    values: [
      ValueDeclaration(
        "call.reason", .choice(EndReason.allCases.map(\.rawValue)), "The documented end reason of the last call."),
      ValueDeclaration(
        "socket.state", .choice(["disconnected", "connecting", "connected"]), "The Socket.IO connection."),
      ValueDeclaration(
        "socket.transport", .choice(["none"] + EngineIOChannel.Transport.allCases.map(\.rawValue)),
        "The Engine.IO transport of the connection."),
      ValueDeclaration("mic.muted", .flag, "The user muted the microphone."),
      ValueDeclaration("camera.off", .flag, "The user turned the camera off in a call with video."),
    ],
    settings: [
      ParameterDeclaration("ring-timeout", .duration, "how long a call rings; 45s"),
      ParameterDeclaration("setup-timeout", .duration, "how long connecting may take; 30s"),
      ParameterDeclaration(
        "audio-session", .choice(AudioSessionOrder.allCases.map(\.rawValue)),
        "when the app configures the audio session, relative to the peer connection; before", provenance: .documented),
      ParameterDeclaration(
        "ice-restart", .flag, "restart ICE once when the network changes or ICE fails; false",
        as: .restartsICE),
      ParameterDeclaration(
        "socket-transports", .choice(EngineIOChannel.Transports.allCases.map(\.rawValue)),
        "how the app reaches the server: by WebSocket at once, by HTTP long-polling, or by the latter first and then WebSocket (both); websocket"
      ),
      ParameterDeclaration("reset-after", .duration, "how long `ended` is shown before `idle`; 1s"),
      ParameterDeclaration(
        "audio-resume", .choice(["foreground", "ended-event"]),
        "when the app takes the audio again after an interruption: at its ended event or in the foreground, or at that event alone, which iOS does not guarantee; foreground"
      ),
      ParameterDeclaration("callkit", .flag, "show calls by CallKit, without pushes; false", as: .usesCallKit),
    ])

  private static let messages = [
    message(
      "call_offer", "An offer, with the user it is for.", .documented,
      [
        MessageField("toUserId", .string, as: .addressee, going: .clientToServer, "whom the call is for"),
        MessageField("offer", .sdp, as: .description),
        MessageField("callType", .string, as: .payload, required: false, "`audio` or `video`"),
      ]),
    message(
      "call_answer", "The answer, under the key `offer`.", .documented, [MessageField("offer", .sdp, as: .description)]),
    message(
      "ice_candidate", "One trickled candidate.", .documented,
      [
        MessageField("candidate", .candidate, as: .candidate), MessageField("sdpMid", .string, required: false),
        MessageField("sdpMLineIndex", .integer, required: false),
      ]),
    message("call_decline", "The callee refuses.", .harnessDefault, as: .refusal),
    message("call_busy", "The callee is in another call.", .harnessDefault, as: .refusal),
    message(
      "call_hangup", "Either side ends the call.", .harnessDefault,
      [MessageField("reason", .string, as: .payload, required: false, "an end code, when the call failed")], as: .end),
  ]

  /// Declares a message with the fields of every message: its call, and from the server its sender.
  private static func message(
    _ name: String, _ summary: String, _ provenance: Provenance, _ fields: [MessageField] = [],
    as role: MessageDeclaration.Role? = nil
  ) -> MessageDeclaration {
    let sender = MessageField(
      "fromUserId", .string, as: .sender, going: .serverToClient, "who sent it, as the server knows")
    let call = MessageField("callId", .string, as: .callID, "which call; the harness gives every one an id")
    return MessageDeclaration(
      name, .both, summary, provenance: provenance, fields: [sender] + fields + [call], as: role)
  }

  private static let callState = StateMachine(
    "call.state",
    states: [
      .init("idle", "No call.", as: .idle), .init("calling", "The offer is out.", as: .alerting),
      .init("ringing", "An offer came in.", as: .alerting),
      .init("connecting", "Answered; ICE and DTLS are at work.", as: .settingUp),
      .init("connected", "Media may flow.", as: .connected),
      .init("ended", "The call is over, for the reason shown.", as: .over),
    ],
    transitions: [
      .init("idle", "calling", on: "startCall"), .init("idle", "ringing", on: "call_offer"),
      .init("calling", "connecting", on: "call_answer, or call_offer of both"),
      .init("ringing", "connecting", on: "accept"),
      .init("calling", "ended", on: "decline, timeout or cancel"),
      .init("ringing", "ended", on: "decline, timeout or cancel"), .init("connecting", "connected", on: "ICE and DTLS"),
      .init("connecting", "ended", on: "failure or hangup"), .init("connected", "ended", on: "failure or hangup"),
      .init("ended", "idle", on: "reset"),
    ])
}

/// The product's public result of a call.
enum EndReason: String, CaseIterable, Sendable { case localHangup, remoteHangup, declined, missed, failed }

/// The time at which the app configures the audio session: on a device only `before` the peer connection works.
enum AudioSessionOrder: String, CaseIterable, Sendable { case before, after, never }
