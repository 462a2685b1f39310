import CVPX
import Pictures

/// The settings of VP8 (libwebrtc's `libvpx_vp8_encoder.cc`).
extension VPXEncoder {
  func configureVP8(_ configuration: inout vpx_codec_enc_cfg_t) {
    configuration.rc_min_quantizer = settings.content == .screen ? 12 : 2
    configuration.rc_max_quantizer = 56
    configuration.rc_undershoot_pct = 100
    configuration.rc_overshoot_pct = 15
  }

  func setVP8Controls() throws(VideoCodecError) {
    let isScreen = settings.content == .screen
    // Below CIF the picture gets more time.
    let speed = settings.speed ?? (settings.size.pixelCount < 352 * 288 ? 4 : 6)
    try set(VP8E_SET_CPUUSED, -speed)
    // 4 is adaptive.
    try set(VP8E_SET_NOISE_SENSITIVITY, settings.reducesNoise && !isScreen ? 4 : 0)
    try set(VP8E_SET_STATIC_THRESHOLD, isScreen ? 100 : 1)
    try set(VP8E_SET_TOKEN_PARTITIONS, Int(VP8_ONE_TOKENPARTITION.rawValue))
    // 2 drops frames that overshoot by far.
    try set(VP8E_SET_SCREEN_CONTENT_MODE, isScreen ? 2 : 0)
  }
}
