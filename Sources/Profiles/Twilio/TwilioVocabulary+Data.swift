internal import Vocabulary

/// The words for data tracks.
extension TwilioApp {
  /// The callbacks about data tracks and their messages.
  static let dataCallbacks = [
    "localParticipantDidPublishDataTrack", "localParticipantDidFailToPublishDataTrack",
    "remoteParticipantDidPublishDataTrack", "remoteParticipantDidUnpublishDataTrack", "didSubscribeToDataTrack",
    "didUnsubscribeFromDataTrack", "remoteDataTrackDidReceiveString", "remoteDataTrackDidReceiveData",
  ]

  private static let trackName = ParameterDeclaration(
    "track-name", .text, required: true, "the track's name", provenance: .documented)

  static let dataActions = [
    ActionDeclaration(
      "publish-data",
      [
        trackName,
        ParameterDeclaration(
          "ordered", .flag, "whether messages come in their order; true", provenance: .documented),
        ParameterDeclaration(
          "max-packet-life-time", .duration, "how long a lost message is sent again; without end without it",
          provenance: .documented),
        ParameterDeclaration(
          "max-retransmits", .count, "how often a lost message is sent again; without end without it",
          provenance: .documented, barring: "max-packet-life-time"),
      ], "Publish a data track."),
    ActionDeclaration("unpublish-data", [trackName], "Give a data track up."),
    ActionDeclaration(
      "send-message",
      [
        trackName,
        ParameterDeclaration("text", .text, "the text to send; of several messages each ends with its number"),
        ParameterDeclaration("bytes", .byteSize, "the size of a message of bytes, which are made up", barring: "text"),
        ParameterDeclaration("messages", .count, "how many messages are sent at once; 1"),
      ], "Send messages on a data track."),
  ]

  static let dataValues = [
    ValueDeclaration("data-track.published", .count, "the own data tracks that have a sid, and whose channel is open"),
    ValueDeclaration(
      "data-track.sent", .count, counting: .upward, "the messages that were sent on data tracks in this room"),
    ValueDeclaration(
      "data-track.received", .count, counting: .upward, "the messages that were received on data tracks in this room"),
    ValueDeclaration("data-track.text", .text, "the last text that was received on a data track"),
    ValueDeclaration("data-track.bytes", .count, unit: "bytes", "the size of the last message that was received"),
    ValueDeclaration("data-track.sender", .peer, "the identity that sent it; none"),
    ValueDeclaration(
      "remote.data-track", .peers, "the identities whose data tracks are subscribed to, sorted; none"),
    ValueDeclaration(
      "remote.data-track.published", .peers, "the identities that have published data tracks, sorted; none"),
  ]
}
