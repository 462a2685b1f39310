import CVPX
import CallCore
package import Pictures

/// A VP8 or VP9 encoder (libvpx), set up for real-time video as in libwebrtc: constant bitrate, no look-ahead.
///
/// It is deterministic: the same settings and pictures give the same bytes. With a positive `cpu_used` VP8 would adapt
/// to measured time, so speeds are negative there; threads would be a matter of the machine, so there is one. The owner
/// measures the time spent inside.
package final class VPXEncoder: ReopenableEncoder {
  /// The interval without output after which a frame is not dropped.
  private static let longestDrop = Interval.seconds(2)
  static let ticksPerSecond = 90_000

  package let codec: VideoCodec
  package internal(set) var settings: VideoEncoderSettings
  let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var configuration = vpx_codec_enc_cfg_t()
  private(set) var isOpen = false
  private var pattern: TemporalPattern
  /// The time of the next frame in ticks: the sum of the durations, as libwebrtc hands it over.
  private var ticks: Int64 = 0
  private var lastOutput: Instant?
  private var owesKeyFrame = true

  /// Makes an encoder of VP8 or VP9.
  package init(_ codec: VideoCodec, settings: VideoEncoderSettings = VideoEncoderSettings()) throws(VideoCodecError) {
    guard [.vp8, .vp9].contains(codec) else { throw .unsupportedSetting("codec") }
    self.codec = codec
    self.settings = settings
    pattern = TemporalPattern(layerCount: settings.temporalLayers)
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    try validate(settings)
    try open()
  }

  deinit {
    if isOpen { _ = vpx_codec_destroy(context) }
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
    guard isOpen else { throw .library(code: VPX_CODEC_ERROR.rawValue, "the encoder could not be opened") }
    let step = pattern.next(forcingKeyFrame: forcingKeyFrame || owesKeyFrame)
    let mustNotDrop = lastOutput.map { frame.timestamp - $0 >= Self.longestDrop } ?? false
    if mustNotDrop { try setDropThreshold(0) }
    try select(step)
    try run(frame, step)
    ticks += Int64(Self.ticksPerSecond / settings.frameRate)
    if mustNotDrop { try setDropThreshold(dropThreshold) }
    let (bytes, isKeyFrame) = output()
    guard !bytes.isEmpty else { return nil }
    owesKeyFrame = false
    lastOutput = frame.timestamp
    var quantizer: Int32 = 0
    try check(callsim_vpx_get(context, Int32(VP8E_GET_LAST_QUANTIZER.rawValue), &quantizer))
    let (number, layer) = pattern.coded(step, isKeyFrame: isKeyFrame)
    return EncodedVideoFrame(
      bytes: bytes, isKeyFrame: isKeyFrame, size: frame.size, timestamp: frame.timestamp, contentID: frame.contentID,
      quantizer: Int(quantizer), number: number, layer: layer)
  }

  func set(_ control: vp8e_enc_control_id, _ value: Int) throws(VideoCodecError) {
    try check(callsim_vpx_set(context, Int32(control.rawValue), Int32(clamping: value)))
  }

  func check(_ code: vpx_codec_err_t) throws(VideoCodecError) {
    guard code != VPX_CODEC_OK else { return }
    throw VideoCodecError(code, vpx_codec_error_detail(context))
  }
}

extension VPXEncoder {
  private var dropThreshold: UInt32 { settings.dropsFrames ? 30 : 0 }

  func validate(_ settings: VideoEncoderSettings) throws(VideoCodecError) {
    try settings.validate()
    if let speed = settings.speed, !(codec == .vp8 ? 1...16 : 5...9).contains(speed) {
      throw .unsupportedSetting("speed")
    }
  }

  /// Opens the encoder anew. Buffers are in milliseconds of the bitrate.
  private func open() throws(VideoCodecError) {
    if isOpen { _ = vpx_codec_destroy(context) }
    isOpen = false
    let interface = codec == .vp8 ? vpx_codec_vp8_cx() : vpx_codec_vp9_cx()
    try check(vpx_codec_enc_config_default(interface, &configuration, 0))
    configuration.g_w = UInt32(settings.size.width)
    configuration.g_h = UInt32(settings.size.height)
    configuration.g_timebase = vpx_rational(num: 1, den: Int32(Self.ticksPerSecond))
    configuration.g_lag_in_frames = 0
    configuration.g_threads = 1
    configuration.g_pass = VPX_RC_ONE_PASS
    configuration.g_error_resilient = settings.temporalLayers > 1 ? UInt32(VPX_ERROR_RESILIENT_DEFAULT) : 0
    configuration.rc_end_usage = VPX_CBR
    configuration.rc_resize_allowed = 0
    configuration.rc_dropframe_thresh = dropThreshold
    configuration.rc_buf_initial_sz = 500
    configuration.rc_buf_optimal_sz = 600
    configuration.rc_buf_sz = 1_000
    configuration.kf_mode = VPX_KF_AUTO
    configuration.kf_max_dist = 3_000
    switch codec {
    case .vp9: configureVP9(&configuration)
    default: configureVP8(&configuration)
    }
    setRates()
    try check(callsim_vpx_encoder_init(context, interface, &configuration))
    isOpen = true
    switch codec {
    case .vp9: try setVP9Controls()
    default: try setVP8Controls()
    }
    try setIntraLimit()
  }

  private func setRates() {
    let (rates, layers) = (settings.layerRates, pattern.layerIDs)
    configuration.rc_target_bitrate = rates[rates.count - 1]
    callsim_vpx_set_layers(&configuration, UInt32(rates.count), rates, UInt32(layers.count), layers)
  }

  func applyRates() throws(VideoCodecError) {
    setRates()
    try check(vpx_codec_enc_config_set(context, &configuration))
    try setIntraLimit()
  }

  /// Limits a key frame to half of the optimal buffer, in percent of a mean frame, and at least to three mean frames.
  private func setIntraLimit() throws(VideoCodecError) {
    try set(VP8E_SET_MAX_INTRA_BITRATE_PCT, max(300, 300 * settings.frameRate / 10))
  }

  private func setDropThreshold(_ threshold: UInt32) throws(VideoCodecError) {
    configuration.rc_dropframe_thresh = threshold
    try check(vpx_codec_enc_config_set(context, &configuration))
  }

  /// Tells the encoder the layer of the next frame.
  private func select(_ step: TemporalPattern.Step) throws(VideoCodecError) {
    guard settings.temporalLayers > 1 else { return }
    switch codec {
    case .vp9: try check(callsim_vpx_set_vp9_layer(context, Int32(step.layer)))
    default: try set(VP8E_SET_TEMPORAL_LAYER_ID, step.layer)
    }
  }

  private func run(_ frame: VideoFrame, _ step: TemporalPattern.Step) throws(VideoCodecError) {
    let (size, u, v) = (frame.size, frame.layout(of: .u), frame.layout(of: .v))
    let duration = UInt(Self.ticksPerSecond / settings.frameRate)
    let code = frame.samples.withUnsafeBufferPointer { samples in
      // libvpx only reads the picture.
      let base = UnsafeMutablePointer(mutating: samples.baseAddress)
      var image = vpx_image_t()
      guard
        let base, vpx_img_wrap(&image, VPX_IMG_FMT_I420, UInt32(size.width), UInt32(size.height), 1, base) != nil
      else { return VPX_CODEC_MEM_ERROR }
      // It would round odd widths up.
      image.planes = (base, base + u.offset, base + v.offset, nil)
      image.stride = (Int32(size.width), Int32(u.width), Int32(v.width), 0)
      return vpx_codec_encode(context, &image, ticks, duration, flags(step), UInt(VPX_DL_REALTIME))
    }
    try check(code)
  }

  private func flags(_ step: TemporalPattern.Step) -> Int {
    guard step != .keyFrame else { return Int(VPX_EFLAG_FORCE_KF) }
    // One layer of VP9 uses all buffers, as libvpx sees fit.
    guard codec == .vp8 || settings.temporalLayers > 1 else { return 0 }
    var flags = 0
    if !step.references.contains(.last) { flags |= Int(VP8_EFLAG_NO_REF_LAST) }
    if !step.references.contains(.golden) { flags |= Int(VP8_EFLAG_NO_REF_GF) }
    if !step.references.contains(.alternate) { flags |= Int(VP8_EFLAG_NO_REF_ARF) }
    if !step.updates.contains(.last) { flags |= Int(VP8_EFLAG_NO_UPD_LAST) }
    if !step.updates.contains(.golden) { flags |= Int(VP8_EFLAG_NO_UPD_GF) }
    if !step.updates.contains(.alternate) { flags |= Int(VP8_EFLAG_NO_UPD_ARF) }
    if step.freezesEntropy { flags |= Int(VP8_EFLAG_NO_UPD_ENTROPY) }
    return flags
  }

  private func output() -> (bytes: [UInt8], isKeyFrame: Bool) {
    var bytes: [UInt8] = []
    var isKeyFrame = false
    var iterator: vpx_codec_iter_t?
    while let packet = vpx_codec_get_cx_data(context, &iterator) {
      guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT else { continue }
      let frame = packet.pointee.data.frame
      bytes += UnsafeRawBufferPointer(start: frame.buf, count: frame.sz)
      if frame.flags & UInt32(VPX_FRAME_IS_KEY) != 0 { isKeyFrame = true }
    }
    return (bytes, isKeyFrame)
  }
}
