/// An encoder of a library, which takes other rates as it is and for anything else is opened anew.
protocol ReopenableEncoder: AnyObject {
  var settings: VideoEncoderSettings { get set }
  var isOpen: Bool { get }

  /// Throws if the codec does not allow a setting.
  func validate(_ settings: VideoEncoderSettings) throws(VideoCodecError)
  /// Applies the bitrate and the frame rate of the settings.
  func applyRates() throws(VideoCodecError)
  /// Begins a new stream with a key frame.
  ///
  /// - Parameter layerCount: the number of temporal layers of the stream before.
  func reopen(after layerCount: Int) throws(VideoCodecError)
}

extension ReopenableEncoder {
  /// Changes the settings for the following frames. Another bitrate or frame rate takes effect without a key frame;
  /// anything else begins a new stream with one.
  package func update(_ settings: VideoEncoderSettings) throws(VideoCodecError) {
    guard settings != self.settings else { return }
    try validate(settings)
    let old = self.settings
    self.settings = settings
    if settings.needsNewStream(after: old) || !isOpen {
      try reopen(after: old.temporalLayers)
    } else {
      try applyRates()
    }
  }
}
