import CAOM
import CallCore
package import Pictures

/// An AV1 encoder (libaom), set up for real-time video as in libwebrtc: constant bitrate, no look-ahead.
///
/// It is deterministic: the same settings and pictures give the same bytes, because there is one thread and libaom reads
/// no clock. Frames are temporal units whose units have size fields (AV1 specification section 7.5).
package final class AV1Encoder: ReopenableEncoder {
  private static let ticksPerSecond = 90_000
  private static let quantizers: (minimum: Int32, maximum: Int32) = (10, 56)

  package internal(set) var settings: VideoEncoderSettings
  private let context: UnsafeMutablePointer<aom_codec_ctx_t>
  private var configuration = aom_codec_enc_cfg_t()
  private(set) var isOpen = false
  private var pattern: AV1Pattern
  /// The time of the next frame in ticks: the sum of the durations.
  private var ticks: Int64 = 0
  private var owesKeyFrame = true

  package init(settings: VideoEncoderSettings = VideoEncoderSettings()) throws(VideoCodecError) {
    self.settings = settings
    pattern = AV1Pattern(layerCount: settings.temporalLayers)
    context = .allocate(capacity: 1)
    context.initialize(to: aom_codec_ctx_t())
    try validate(settings)
    try open()
  }

  deinit {
    if isOpen { _ = aom_codec_destroy(context) }
    context.deallocate()
  }

  func reopen(after layerCount: Int) throws(VideoCodecError) {
    if settings.temporalLayers != layerCount { pattern.restart(layerCount: settings.temporalLayers) }
    owesKeyFrame = true
    try open()
  }

  /// Encodes a picture, which must have the size of the settings.
  ///
  /// - Returns: the frame, or nil if the rate control drops it.
  package func encode(
    _ frame: VideoFrame, forcingKeyFrame: Bool = false
  ) throws(VideoCodecError) -> EncodedVideoFrame? {
    guard frame.size == settings.size else { throw .wrongSize(frame.size, expected: settings.size) }
    guard isOpen else { throw .libaom(code: AOM_CODEC_ERROR.rawValue, "the encoder could not be opened") }
    let step = pattern.next(forcingKeyFrame: forcingKeyFrame || owesKeyFrame)
    if settings.temporalLayers > 1 {
      try check(
        callsim_aom_set_layer(
          context, Int32(step.layer), Int32(step.reference ?? -1), Int32(step.update ?? -1)))
      try set(AV1E_SET_ERROR_RESILIENT_MODE, step.layer > 0 ? 1 : 0)
    }
    try run(frame, step)
    ticks += Int64(Self.ticksPerSecond / settings.frameRate)
    let (bytes, isKeyFrame) = output()
    guard !bytes.isEmpty else { return nil }
    owesKeyFrame = false
    var quantizer: Int32 = 0
    try check(callsim_aom_get(context, Int32(AOME_GET_LAST_QUANTIZER.rawValue), &quantizer))
    let (number, layer) = pattern.coded(step, isKeyFrame: isKeyFrame)
    return EncodedVideoFrame(
      bytes: bytes, isKeyFrame: isKeyFrame, size: frame.size, timestamp: frame.timestamp, contentID: frame.contentID,
      quantizer: Int(quantizer), number: number, layer: layer)
  }

  func set(_ control: aome_enc_control_id, _ value: Int) throws(VideoCodecError) {
    try check(callsim_aom_set(context, Int32(control.rawValue), Int32(clamping: value)))
  }

  private func check(_ code: aom_codec_err_t) throws(VideoCodecError) {
    guard code != AOM_CODEC_OK else { return }
    let text = String(cString: aom_codec_err_to_string(code))
    let detail = aom_codec_error_detail(context).map { String(cString: $0) }
    throw .libaom(code: code.rawValue, detail.map { text + ": " + $0 } ?? text)
  }
}

extension AV1Encoder {
  func validate(_ settings: VideoEncoderSettings) throws(VideoCodecError) {
    try settings.validate()
    if let speed = settings.speed, !(5...10).contains(speed) { throw .unsupportedSetting("speed") }
    // libaom's real-time mode wants at least a block.
    guard min(settings.size.width, settings.size.height) >= 16 else { throw .unsupportedSetting("size") }
  }

  /// Opens the encoder anew. Buffers are in milliseconds of the bitrate.
  private func open() throws(VideoCodecError) {
    if isOpen { _ = aom_codec_destroy(context) }
    isOpen = false
    try check(aom_codec_enc_config_default(aom_codec_av1_cx(), &configuration, UInt32(AOM_USAGE_REALTIME)))
    configuration.g_w = UInt32(settings.size.width)
    configuration.g_h = UInt32(settings.size.height)
    configuration.g_timebase = aom_rational(num: 1, den: Int32(Self.ticksPerSecond))
    configuration.g_input_bit_depth = 8
    configuration.g_lag_in_frames = 0
    configuration.g_threads = 1
    configuration.g_pass = AOM_RC_ONE_PASS
    configuration.g_error_resilient = 0
    configuration.rc_end_usage = AOM_CBR
    configuration.rc_dropframe_thresh = settings.dropsFrames ? 30 : 0
    configuration.rc_min_quantizer = UInt32(Self.quantizers.minimum)
    configuration.rc_max_quantizer = UInt32(Self.quantizers.maximum)
    configuration.rc_undershoot_pct = 50
    configuration.rc_overshoot_pct = 50
    configuration.rc_buf_initial_sz = 600
    configuration.rc_buf_optimal_sz = 600
    configuration.rc_buf_sz = 1_000
    configuration.kf_mode = AOM_KF_DISABLED
    let rates = settings.layerRates
    configuration.rc_target_bitrate = rates[rates.count - 1]
    try check(callsim_aom_encoder_init(context, &configuration))
    isOpen = true
    try setControls()
    try setLayers()
  }

  func applyRates() throws(VideoCodecError) {
    let rates = settings.layerRates
    configuration.rc_target_bitrate = rates[rates.count - 1]
    try check(aom_codec_enc_config_set(context, &configuration))
    try setLayers()
  }

  private func setLayers() throws(VideoCodecError) {
    guard settings.temporalLayers > 1 else { return }
    try check(
      callsim_aom_set_layers(
        context, Int32(settings.temporalLayers), settings.layerRates, Self.quantizers.minimum,
        Self.quantizers.maximum))
  }

  private func run(_ frame: VideoFrame, _ step: AV1Pattern.Step) throws(VideoCodecError) {
    let (size, u, v) = (frame.size, frame.layout(of: .u), frame.layout(of: .v))
    let duration = UInt(Self.ticksPerSecond / settings.frameRate)
    let flags = step == .keyFrame ? aom_enc_frame_flags_t(AOM_EFLAG_FORCE_KF) : 0
    let code = frame.samples.withUnsafeBufferPointer { samples in
      // libaom only reads the picture.
      let base = UnsafeMutablePointer(mutating: samples.baseAddress)
      var image = aom_image_t()
      guard
        let base, aom_img_wrap(&image, AOM_IMG_FMT_I420, UInt32(size.width), UInt32(size.height), 1, base) != nil
      else { return AOM_CODEC_MEM_ERROR }
      // It would round odd widths up.
      image.planes = (base, base + u.offset, base + v.offset)
      image.stride = (Int32(size.width), Int32(u.width), Int32(v.width))
      return aom_codec_encode(context, &image, ticks, duration, flags)
    }
    try check(code)
  }

  private func output() -> (bytes: [UInt8], isKeyFrame: Bool) {
    var bytes: [UInt8] = []
    var isKeyFrame = false
    var iterator: aom_codec_iter_t?
    while let packet = aom_codec_get_cx_data(context, &iterator) {
      guard packet.pointee.kind == AOM_CODEC_CX_FRAME_PKT else { continue }
      let frame = packet.pointee.data.frame
      bytes += UnsafeRawBufferPointer(start: frame.buf, count: frame.sz)
      if frame.flags & UInt32(AOM_FRAME_IS_KEY) != 0 { isKeyFrame = true }
    }
    return (bytes, isKeyFrame)
  }
}
