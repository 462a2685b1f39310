import Formats
import Pictures

extension Scenario.Devices {
  static let type = MappingType(
    "devices", "the microphone and the camera of a peer", Scenario.Devices(),
    [
      .key(
        "mic", .microphone, \.microphone, default: "speech", "what the microphone hears: a sound made, or a file"),
      .key("permission", .choice, \.permission, default: "granted", "whether the app may open the microphone"),
      .key(
        "camera", ValueFormat<Scenario.Devices.Camera>.camera.located, \.camera, default: "talking-head",
        "what the camera of a peer with video films: pictures made, or a file; none for a device without one"),
      .key(
        "background_audio", .flag, \.backgroundAudio, default: "true",
        "whether the app declares that it plays or records in the background, and so runs on there"),
      .key(
        "background_voip", .flag, \.backgroundVoIP, default: "true where the app uses CallKit, else false",
        "whether the app declares the background mode voip, without which it gets no VoIP push and may report no call"),
      .key("front_camera", .flag, \.frontCamera, default: "true", "whether the device has a camera at the front"),
      .key(
        "front_camera_formats", cameraFormats, \.frontCameraFormats, default: "any",
        "the formats of the camera at the front, as 640x480@30; the app takes the nearest to the size of its video"),
      .key(
        "back_camera_formats", cameraFormats, \.backCameraFormats, default: "any",
        "the formats of the camera at the back"),
      .key(
        "simulator", .flag, \.simulator, default: "false",
        "whether the device is a simulator, whose audio unit runs on any audio session"),
      .key(
        "incoming_calls", .choice, \.incomingCalls, default: "shown", "what the system does with calls of CallKit"),
      .key(
        "push_delay", .duration(), \.pushDelay, default: "1s", "how long a VoIP push takes to the device"),
    ])

  private static let cameraFormats = ValueFormat<Scenario.Devices.CameraFormat>.cameraFormat.list(atLeast: 1).distinct(
    \.text)
}

extension ValueFormat where Value == Scenario.Devices.CameraFormat {
  fileprivate static var cameraFormat: ValueFormat<Scenario.Devices.CameraFormat> {
    ValueFormat<String>.text(shape: .pattern("^[0-9]+x[0-9]+@[0-9]+$")).map { text, span, reading in
      let parts = text.split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, let rate = Int(parts[1]) else {
        reading.report(.wrongType, "'\(text)' is no format", at: span, hint: "write size and frame rate, as 640x480@30")
        return nil
      }
      guard (1...120).contains(rate) else {
        reading.report(.outOfRange, "a camera gives 1 to 120 pictures in a second, not \(rate)", at: span)
        return nil
      }
      return Scenario.Video.Size.read(String(parts[0]), at: span, &reading).map { .init(size: $0, frameRate: rate) }
    } back: {
      $0.text
    }
  }
}

/// A file as the sound or the pictures of a device, and what follows its end.
private struct NamedFile<End: Sendable>: Sendable {
  var file = Located("")
  var atEnd: End
}

extension ValueFormat where Value == Scenario.Devices.Microphone {
  /// Reads `speech`, or `{ file: voice.wav }`.
  fileprivate static var microphone: ValueFormat<Scenario.Devices.Microphone> {
    let words: [(String, Scenario.Devices.Microphone)] = [
      ("speech", .speech), ("tone", .tone), ("noise", .noise), ("silence", .silence),
    ]
    return .either(
      scalar: .word(of: words, example: "mic: { file: voice.wav }"), mapping: recording,
      isScalar: { if case .file = $0 { false } else { true } })
  }

  private static var recording: ValueFormat<Scenario.Devices.Microphone> {
    MappingType(
      "recording", "a WAV file that a microphone hears", NamedFile(atEnd: Recording.End.repeat),
      [
        .key(
          "file", ValueFormat<String>.text.located, \.file, required: true,
          "a WAV of 16-bit PCM, 48000 Hz, mono; relative to the file that names it"),
        .key("at_end", .choice, \.atEnd, default: "repeat", "what comes after it: the same again, or silence"),
      ]
    ).format.map { draft, _, reading in
      let path = NotCompared(wrappedValue: reading.sources.path(of: draft.file.value, from: draft.file.span))
      return reading.samples(of: draft.file).map { .file(Recording($0, atEnd: draft.atEnd), path: path) }
    } back: { microphone in
      guard case .file(let recording, let path) = microphone else { return NamedFile(atEnd: .repeat) }
      return NamedFile(file: Located(path.wrappedValue), atEnd: recording.atEnd)
    }
  }
}

extension ValueFormat where Value == Scenario.Devices.Camera {
  /// Reads `talking-head`, or `{ file: clip.ivf }`.
  fileprivate static var camera: ValueFormat<Scenario.Devices.Camera> {
    let words: [(String, Scenario.Devices.Camera)] = [
      ("talking-head", .talkingHead), ("moving-bars", .movingBars), ("screen", .screen), ("black", .black),
      ("none", .none),
    ]
    return .either(
      scalar: .word(of: words, example: "camera: { file: clip.ivf }"), mapping: recording,
      isScalar: { if case .file = $0 { false } else { true } })
  }

  private static var recording: ValueFormat<Scenario.Devices.Camera> {
    MappingType(
      "film", "a Y4M or IVF file that a camera films", NamedFile(atEnd: RecordedVideo.End.repeat),
      [
        .key(
          "file", ValueFormat<String>.text.located, \.file, required: true,
          "a Y4M of 4:2:0, or an IVF of VP8, VP9, AV1 or H.264; relative to the file that names it"),
        .key("at_end", .choice, \.atEnd, default: "repeat", "what comes after it: the same again, or its last picture"),
      ]
    ).format.map { draft, _, reading in
      let path = NotCompared(wrappedValue: reading.sources.path(of: draft.file.value, from: draft.file.span))
      return reading.video(of: draft.file).map { .file($0, atEnd: draft.atEnd, path: path) }
    } back: { camera in
      guard case .file(_, let atEnd, let path) = camera else { return NamedFile(atEnd: .repeat) }
      return NamedFile(file: Located(path.wrappedValue), atEnd: atEnd)
    }
  }
}

extension ValueFormat where Value: Equatable {
  /// Reads a word for what a device makes, where a mapping names a file instead.
  fileprivate static func word(of words: [(String, Value)], example: String) -> ValueFormat<Value> {
    let names = ValueFormat<String>.choice(of: words.map(\.0))
    return ValueFormat(names.shape) { node, reading in
      if node.scalar?.text == "file" {
        reading.report(.notAChoice, "'file' does not say which", at: node.span, hint: "write \(example)")
        return nil
      }
      return names.decode(node, &reading).flatMap { name in words.first { $0.0 == name }?.1 }
    } encode: { value in
      names.encode(words.first { $0.1 == value }?.0 ?? "")
    }
  }
}
