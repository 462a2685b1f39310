internal import CallCore
internal import Formats
internal import Pictures

extension VirtualPeer {
  /// Returns a hash over what the device has to encode, whichever settings encode it and whenever: the first five seconds
  /// of the microphone or all of a recording, and the first picture of the camera with one of a second later, or all
  /// pictures of a recording.
  ///
  /// - Parameter hasPictures: whether pictures have a content. Modelled ones have none; modelled sound follows the microphone:
  ///   in silence next to nothing is sent.
  package func materialHash(hasPictures: Bool) -> UInt64 {
    var hash = FNV1a()
    let random = connections.random
    hash.mix(word: (device.settings.mayRecord ? device.settings.microphone : .silence).hash(random))
    if hasPictures, device.settings.hasVideo, let camera = device.settings.camera {
      hash.mix(word: camera.hash(random))
    }
    return hash.value
  }
}

extension MicrophoneSource {
  fileprivate func hash(_ random: RandomSource) -> UInt64 {
    var samples: [Int16]
    if case .recording(let recording) = self {
      samples = recording.samples
    } else {
      var generator = SampleGenerator(self, random: random.stream(Self.stream))
      let count = 5 * SampleGenerator.sampleRate
      samples = [Int16](unsafeUninitializedCapacity: count) { buffer, initialized in
        generator.fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
        initialized = count
      }
    }
    return FNV1a.hash(words: samples.span.bytes)
  }
}

extension CameraSource {
  fileprivate func hash(_ random: RandomSource) -> UInt64 {
    var hash = FNV1a()
    if case .recording(let video) = self {
      for samples in video.samples { hash.mix(word: FNV1a.hash(words: samples.span.bytes)) }
      return hash.value
    }
    let painter = painter(.vga, frameRate: 30, random: random)
    for number in [0, 30] as [UInt32] { hash.mix(word: FNV1a.hash(words: painter.frame(number).samples.span.bytes)) }
    return hash.value
  }
}
