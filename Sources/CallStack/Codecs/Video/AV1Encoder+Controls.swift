import CAOM
import Pictures

/// The tools of AV1 for real-time video (libwebrtc's `libaom_av1_encoder.cc`).
extension AV1Encoder {
  func setControls() throws(VideoCodecError) {
    try set(AOME_SET_CPUUSED, settings.speed ?? speed)
    try set(AOME_SET_MAX_INTRA_BITRATE_PCT, 300)
    try set(AV1E_SET_TUNE_CONTENT, settings.content == .screen ? Int(AOM_CONTENT_SCREEN.rawValue) : 0)
    try set(AV1E_SET_ENABLE_PALETTE, settings.content == .screen ? 1 : 0)
    // 3 is cyclic refresh.
    try set(AV1E_SET_AQ_MODE, 3)
    // The costs of symbols are not updated: 3 is never.
    for control in [AV1E_SET_COEFF_COST_UPD_FREQ, AV1E_SET_MODE_COST_UPD_FREQ, AV1E_SET_MV_COST_UPD_FREQ] {
      try set(control, 3)
    }
    for control in [AV1E_SET_ENABLE_CDEF, AV1E_SET_INTRA_DEFAULT_TX_ONLY, AV1E_SET_DISABLE_TRELLIS_QUANT] {
      try set(control, 1)
    }
    for control in Self.disabled { try set(control, 0) }
    try set(AV1E_SET_MAX_REFERENCE_FRAMES, 3)
  }

  /// libwebrtc's choice by size for a machine of some power.
  private var speed: Int {
    switch settings.size.pixelCount {
    case ...(320 * 180): 7
    case ...(640 * 360): 8
    case ...(1_280 * 720): 9
    default: 10
    }
  }

  /// The tools that real-time video does without. One thread needs neither tiles nor threads for rows.
  private static let disabled = [
    AV1E_SET_ENABLE_TPL_MODEL, AV1E_SET_DELTAQ_MODE, AV1E_SET_ENABLE_ORDER_HINT, AV1E_SET_TILE_COLUMNS,
    AV1E_SET_TILE_ROWS, AV1E_SET_ROW_MT, AV1E_SET_ENABLE_OBMC, AV1E_SET_NOISE_SENSITIVITY,
    AV1E_SET_ENABLE_WARPED_MOTION, AV1E_SET_ENABLE_GLOBAL_MOTION, AV1E_SET_ENABLE_REF_FRAME_MVS,
    AV1E_SET_ENABLE_CFL_INTRA, AV1E_SET_ENABLE_SMOOTH_INTRA, AV1E_SET_ENABLE_ANGLE_DELTA,
    AV1E_SET_ENABLE_FILTER_INTRA, AV1E_SET_ENABLE_DIST_WTD_COMP, AV1E_SET_ENABLE_DIFF_WTD_COMP,
    AV1E_SET_ENABLE_DUAL_FILTER, AV1E_SET_ENABLE_INTERINTRA_COMP, AV1E_SET_ENABLE_INTERINTRA_WEDGE,
    AV1E_SET_ENABLE_INTRA_EDGE_FILTER, AV1E_SET_ENABLE_INTRABC, AV1E_SET_ENABLE_MASKED_COMP,
    AV1E_SET_ENABLE_PAETH_INTRA, AV1E_SET_ENABLE_QM, AV1E_SET_ENABLE_RECT_PARTITIONS, AV1E_SET_ENABLE_RESTORATION,
    AV1E_SET_ENABLE_SMOOTH_INTERINTRA, AV1E_SET_ENABLE_TX64,
  ]
}
