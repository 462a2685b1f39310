internal import CallCore
internal import Vocabulary

/// What stands for the REST API, the account and the capacity of the service.
extension TwilioApp {
  static let operatorActions = [
    ActionDeclaration(
      "create-room",
      [
        room,
        ParameterDeclaration("max-participants", .count, "how many it takes; 50", provenance: .documented),
        ParameterDeclaration(
          "max-participant-duration", .duration, "how long a participant may stay, 600s to 24h; 4h",
          provenance: .documented),
        ParameterDeclaration(
          "max-published-tracks", .count, "how many tracks a participant may publish; no limit",
          provenance: .documented),
        ParameterDeclaration("audio-only", .flag, "whether video is refused; false", provenance: .documented),
        ParameterDeclaration(
          "video-codec", .choice(TwilioRoomRules.videoCodecs.map(\.word)), "the one video codec of the room; any",
          provenance: .documented),
        ParameterDeclaration(
          "empty-room-timeout", .duration, "when a room ends that everybody has left, 1min to 60min; 5min",
          provenance: .documented),
        ParameterDeclaration(
          "unused-room-timeout", .duration, "when a room ends into which nobody came, 1min to 60min; 5min",
          provenance: .documented),
      ], "Create a room by the REST API."),
    ActionDeclaration("complete-room", [room], "End a room by the REST API."),
    ActionDeclaration(
      "set-ad-hoc",
      [ParameterDeclaration("allowed", .flag, required: true, "whether clients may create rooms")],
      "Set the account's rule for rooms that do not exist when a client connects."),
    ActionDeclaration(
      "set-busy",
      [
        ParameterDeclaration("busy", .flag, required: true, "whether the server answers that it is busy"),
        ParameterDeclaration("retry-after", .duration, "when clients may ask again; never without it", needing: "busy"),
        ParameterDeclaration(
          "keep-alive", .flag, "whether they ask again on the same WebSocket; false", needing: "retry-after"),
      ], "Make the server refuse new links for lack of capacity, or take them again."),
    ActionDeclaration(
      "set-quota",
      [
        ParameterDeclaration(
          "what", .choice(TwilioServerPolicy.quotas), required: true, "rooms at once, or participants in all of them"),
        ParameterDeclaration("count", .count, required: true, "how many the account may have"),
      ], "Set a quota of the account."),
    ActionDeclaration(
      "set-refusal",
      [
        ParameterDeclaration(
          "code", .choice(["none"] + TwilioRefusal.allCases.map(\.rawValue)), required: true,
          "the code with which it refuses: connects (53103 those that create the room, 53104, 53124, 53500, 53501), "
            + "descriptions (53401), resumptions (53204), restarts of ICE (53408), or publications (53305)")
      ], "Make the service refuse what one code stands for, in place of what it refused before."),
  ]

  private static let room = ParameterDeclaration(
    "room", .text, required: true, "the room's name", provenance: .documented)

  static let restMessages = [
    MessageDeclaration(
      "rest", .clientToServer, "Stands for a request of the REST API.", provenance: .harnessDefault,
      fields: [
        MessageField("request", .string, as: .payload), MessageField("number", .integer),
        MessageField("room", .string, required: false),
        MessageField("max_participants", .integer, required: false),
        MessageField("max_participant_duration", .integer, required: false, "in seconds"),
        MessageField("max_published_tracks", .integer, required: false),
        MessageField("audio_only", .boolean, required: false), MessageField("video_codec", .string, required: false),
        MessageField("empty_room_timeout", .integer, required: false, "in seconds"),
        MessageField("unused_room_timeout", .integer, required: false, "in seconds"),
        MessageField("flag", .boolean, required: false), MessageField("retry_after", .integer, required: false),
        MessageField("keep_alive", .boolean, required: false), MessageField("quota", .string, required: false),
        MessageField("count", .integer, required: false), MessageField("code", .string, required: false),
      ]),
    MessageDeclaration(
      "restAnswer", .serverToClient, "Answers it.", provenance: .harnessDefault,
      fields: [
        MessageField("number", .integer), MessageField("problem", .string, required: false, "why it is refused"),
      ]),
  ]
}
