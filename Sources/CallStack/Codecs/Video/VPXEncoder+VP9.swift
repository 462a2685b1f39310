import CVPX
import Pictures

/// The settings of VP9 (libwebrtc's `libvpx_vp9_encoder.cc`). Temporal layers use the pattern of VP8, in libvpx's mode
/// for patterns of the application.
extension VPXEncoder {
  func configureVP9(_ configuration: inout vpx_codec_enc_cfg_t) {
    configuration.g_profile = 0
    configuration.rc_min_quantizer = settings.content == .screen ? 8 : 2
    configuration.rc_max_quantizer = 52
    configuration.rc_undershoot_pct = 50
    configuration.rc_overshoot_pct = 50
    let mode = settings.temporalLayers > 1 ? VP9E_TEMPORAL_LAYERING_MODE_BYPASS : VP9E_TEMPORAL_LAYERING_MODE_NOLAYERING
    configuration.temporal_layering_mode = Int32(mode.rawValue)
  }

  func setVP9Controls() throws(VideoCodecError) {
    if settings.temporalLayers > 1 {
      let quantizers: (Int32, Int32) = (settings.content == .screen ? 8 : 2, 52)
      try check(callsim_vpx_enable_vp9_layers(context, UInt32(settings.temporalLayers), quantizers.0, quantizers.1))
    }
    // Speed 5 below CIF, 9 from 1080p.
    let pixels = settings.size.pixelCount
    try set(VP8E_SET_CPUUSED, settings.speed ?? (pixels < 352 * 288 ? 5 : pixels < 1_920 * 1_080 ? 7 : 9))
    // 3 is cyclic refresh.
    try set(VP9E_SET_AQ_MODE, 3)
    try set(VP9E_SET_FRAME_PARALLEL_DECODING, 0)
    try set(VP9E_SET_TILE_COLUMNS, 0)
    try set(VP9E_SET_NOISE_SENSITIVITY, settings.reducesNoise && settings.content == .camera ? 1 : 0)
    try set(VP8E_SET_STATIC_THRESHOLD, 1)
    let content = settings.content == .screen ? VP9E_CONTENT_SCREEN : VP9E_CONTENT_DEFAULT
    try set(VP9E_SET_TUNE_CONTENT, Int(content.rawValue))
  }
}
