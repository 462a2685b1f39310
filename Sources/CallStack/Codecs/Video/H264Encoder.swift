import COpenH264
import CallCore
package import Pictures

/// An H.264 encoder (OpenH264) for the constrained baseline profile, set up as in libwebrtc: bitrate mode, one slice a
/// frame, one thread, a key frame every 3000 frames.
///
/// Frames are access units in the byte stream format (ITU-T H.264 annex B); parameter sets precede each key frame.
package final class H264Encoder: ReopenableEncoder {
  private static let keyFrameInterval: UInt32 = 3_000

  package internal(set) var settings: VideoEncoderSettings
  private var encoder: UnsafeMutablePointer<ISVCEncoder?>?
  private let output: UnsafeMutablePointer<SFrameBSInfo>
  private var layers = HierarchicalLayers()

  package init(settings: VideoEncoderSettings = VideoEncoderSettings()) throws(VideoCodecError) {
    self.settings = settings
    output = .allocate(capacity: 1)
    output.initialize(to: SFrameBSInfo())
    try validate(settings)
    try open()
  }

  deinit {
    if let encoder { callsim_h264_encoder_close(encoder) }
    output.deallocate()
  }

  var isOpen: Bool { encoder != nil }

  func reopen(after layerCount: Int) throws(VideoCodecError) { try open() }

  func applyRates() throws(VideoCodecError) {
    try check(
      callsim_h264_encoder_set_rates(
        encoder, Int32(clamping: settings.bitrate.bitsPerSecond), Float(settings.frameRate)))
  }

  /// Encodes a picture, which must have the size of the settings.
  ///
  /// - Returns: the frame, or nil if the rate control drops it.
  package func encode(
    _ frame: VideoFrame, forcingKeyFrame: Bool = false
  ) throws(VideoCodecError) -> EncodedVideoFrame? {
    guard frame.size == settings.size else { throw .wrongSize(frame.size, expected: settings.size) }
    guard let encoder else { throw .openH264("the encoder could not be opened") }
    if forcingKeyFrame { try check(callsim_h264_encoder_force_key_frame(encoder)) }
    try check(run(frame, encoder))
    let bytes = collected()
    guard !bytes.isEmpty else { return nil }
    let isKeyFrame = output.pointee.eFrameType == videoFrameTypeIDR
    let (number, layer) = layers.coded(
      layer: Int(callsim_h264_temporal_id(output)), isKeyFrame: isKeyFrame, count: settings.temporalLayers)
    return EncodedVideoFrame(
      bytes: bytes, isKeyFrame: isKeyFrame, size: frame.size, timestamp: frame.timestamp, contentID: frame.contentID,
      quantizer: nil, number: number, layer: layer)
  }

  func validate(_ settings: VideoEncoderSettings) throws(VideoCodecError) {
    try settings.validate()
    guard settings.speed == nil else { throw .unsupportedSetting("speed") }
    // OpenH264 pads to whole macroblocks, and wants at least one.
    guard min(settings.size.width, settings.size.height) >= 16, settings.size.width % 2 == 0,
      settings.size.height % 2 == 0
    else { throw .unsupportedSetting("size") }
  }

  private func open() throws(VideoCodecError) {
    if let encoder { callsim_h264_encoder_close(encoder) }
    encoder = nil
    var created: UnsafeMutablePointer<ISVCEncoder?>?
    try check(WelsCreateSVCEncoder(&created))
    guard let created else { throw .openH264("no memory for an encoder") }
    var parameters = SEncParamExt()
    let code = callsim_h264_encoder_defaults(created, &parameters)
    configure(&parameters)
    guard code == 0, callsim_h264_encoder_open(created, &parameters) == 0 else {
      callsim_h264_encoder_close(created)
      throw .openH264("the encoder could not be opened")
    }
    encoder = created
  }

  private func configure(_ parameters: inout SEncParamExt) {
    let (width, height) = (Int32(settings.size.width), Int32(settings.size.height))
    let bitrate = Int32(clamping: settings.bitrate.bitsPerSecond)
    parameters.iUsageType = settings.content == .screen ? SCREEN_CONTENT_REAL_TIME : CAMERA_VIDEO_REAL_TIME
    parameters.iPicWidth = width
    parameters.iPicHeight = height
    parameters.iTargetBitrate = bitrate
    parameters.iMaxBitrate = UNSPECIFIED_BIT_RATE
    parameters.iRCMode = RC_BITRATE_MODE
    parameters.fMaxFrameRate = Float(settings.frameRate)
    parameters.bEnableFrameSkip = settings.dropsFrames
    parameters.uiIntraPeriod = Self.keyFrameInterval
    parameters.eSpsPpsIdStrategy = SPS_LISTING
    parameters.uiMaxNalSize = 0
    parameters.iMultipleThreadIdc = 1
    parameters.iTemporalLayerNum = Int32(settings.temporalLayers)
    if settings.temporalLayers > 1 { parameters.iNumRefFrame = Int32(settings.temporalLayers - 1) }
    parameters.sSpatialLayers.0.iVideoWidth = width
    parameters.sSpatialLayers.0.iVideoHeight = height
    parameters.sSpatialLayers.0.fFrameRate = parameters.fMaxFrameRate
    parameters.sSpatialLayers.0.iSpatialBitrate = bitrate
    parameters.sSpatialLayers.0.iMaxSpatialBitrate = parameters.iMaxBitrate
    parameters.sSpatialLayers.0.sSliceArgument.uiSliceNum = 1
    parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_FIXEDSLCNUM_SLICE
  }

  private func run(_ frame: VideoFrame, _ encoder: UnsafeMutablePointer<ISVCEncoder?>) -> Int32 {
    let (u, v) = (frame.layout(of: .u), frame.layout(of: .v))
    return frame.samples.withUnsafeBufferPointer { samples in
      // OpenH264 only reads the picture.
      guard let base = UnsafeMutablePointer(mutating: samples.baseAddress) else { return -1 }
      var picture = SSourcePicture()
      picture.iColorFormat = Int32(videoFormatI420.rawValue)
      picture.iPicWidth = Int32(frame.size.width)
      picture.iPicHeight = Int32(frame.size.height)
      picture.iStride = (Int32(frame.size.width), Int32(u.width), Int32(v.width), 0)
      picture.pData = (base, base + u.offset, base + v.offset, nil)
      picture.uiTimeStamp = frame.timestamp.nanoseconds / 1_000_000
      return callsim_h264_encoder_encode(encoder, &picture, output)
    }
  }

  private func collected() -> [UInt8] {
    guard output.pointee.eFrameType != videoFrameTypeSkip else { return [] }
    var bytes: [UInt8] = []
    for index in 0..<max(0, output.pointee.iLayerNum) {
      var size = 0
      if let start = callsim_h264_layer(output, index, &size) {
        bytes += UnsafeBufferPointer(start: start, count: size)
      }
    }
    return bytes
  }

  private func check(_ code: Int32) throws(VideoCodecError) {
    guard code == 0 else { throw .openH264("code \(code)") }
  }
}
