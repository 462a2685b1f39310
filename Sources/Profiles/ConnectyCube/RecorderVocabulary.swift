internal import VirtualPeer
internal import Vocabulary

/// The recorder and the audio sink: what an app gets of the media themselves.
extension ConnectyCubeApp {
  static let recorder = StateMachine(
    "recorder.state", of: .remote,
    states: [
      .init(CallRecorder.absent, "The session has no recorder."),
      .init("notActive", "It records nothing, and its parameters may be set."), .init("active", "It records."),
      .init("finalizing", "It writes the file."),
    ],
    transitions: [
      .init(CallRecorder.absent, "notActive", on: "session"), .init("notActive", "active", on: "startRecord"),
      .init("active", "finalizing", on: "stopRecord, or the session is closed"),
      .init("active", "notActive", on: "failure"), .init("finalizing", "notActive", on: "the file is written"),
      .init("notActive", CallRecorder.absent, on: "the session is closed"),
      .init("finalizing", CallRecorder.absent, on: "the file is written, and the session is closed"),
    ])

  static let recorderActions = [
    ActionDeclaration(
      "recorder-format",
      [
        ParameterDeclaration("width", .count, "pixels, an even number; 640", provenance: .documented),
        ParameterDeclaration("height", .count, "pixels, an even number; 480", provenance: .documented),
        ParameterDeclaration("bitrate", .rate, "of the pictures; 636528bps", provenance: .documented),
        ParameterDeclaration("fps", .count, "pictures in a second, 1 to 60; 30", provenance: .documented),
        ParameterDeclaration(
          "rotation", .choice(RecordingFormat.Rotation.allCases.map { "\($0.rawValue)" }),
          "degrees by which a player turns the pictures clockwise; 0", provenance: .documented),
      ], "Set parameters of the session's recorder, while it is not active."),
    ActionDeclaration(
      "start-recording", [], "Record the opponent's pictures and the voices of both; it takes media: real.",
      needsRealMedia: true),
    ActionDeclaration("stop-recording", [], "Stop the recorder; the file comes later."),
    ActionDeclaration(
      "add-audio-sink", [opponentParameter], "Get the buffers of an opponent's audio track; it takes media: real.",
      needsRealMedia: true),
    ActionDeclaration("remove-audio-sink", [opponentParameter], "Get no more of them."),
  ]

  static let recorderSettings = [
    ParameterDeclaration(
      "low-performance", .flag, "the device is one of those on which the SDK has no recorder; false",
      provenance: .documented),
    ParameterDeclaration(
      "recorder-space", .byteSize, "the space that the device has for a recording, which fails beyond; unlimited",
      needing: "start-recording"),
  ]

  static let recorderEvents = [
    EventDeclaration("recorderDidStop", of: .remote, "The recorder has stopped: with a file, or without."),
    EventDeclaration("recorderDidFailWithError", of: .remote, "The recorder failed, and has no file."),
  ]

  static let recorderValues = [
    recorderValue("width", .count, unit: "px", "the width of its pictures"),
    recorderValue("height", .count, unit: "px", "the height of its pictures"),
    recorderValue("bitrate", .rate, "the bit rate of its pictures"),
    recorderValue("fps", .count, "the most pictures in a second"),
    recorderValue("rotation", .count, "the degrees by which a player turns them"),
    recorderValue("file", .text, "the file of the last stop, in the run's folder; none without"),
    recorderValue("duration", .count, unit: "ms", "how long that file is"),
    recorderValue("frames", .count, "the pictures in it"),
    recorderValue("bytes", .count, unit: "bytes", "its size"),
    sinkValue("sample-rate", .count, unit: "Hz", "samples of a channel in a second"),
    sinkValue("channels", .count, "channels"),
    sinkValue("frames", .count, "samples of a channel in a buffer"),
    sinkValue("buffers", .count, counting: .upward, "buffers so far"),
    sinkValue("time", .count, unit: "ms", "the time of the last buffer since the sink was added"),
    sinkValue("peak", .count, "the largest sample of the last second, 0 to 32767"),
  ]

  private static func recorderValue(
    _ name: String, _ type: ValueType, unit: String? = nil, _ summary: String
  ) -> ValueDeclaration {
    ValueDeclaration("recorder.\(name)", type, of: .remote, unit: unit, "Of the recorder: \(summary).")
  }

  private static func sinkValue(
    _ name: String, _ type: ValueType, unit: String? = nil, counting: ValueDeclaration.Counting? = nil,
    _ summary: String
  ) -> ValueDeclaration {
    ValueDeclaration(
      "audio-sink.\(name)", type, of: .remote, unit: unit, counting: counting,
      "Of the sink for that user's audio: \(summary).")
  }
}
