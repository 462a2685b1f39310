#pragma once
#include <aom/aom_encoder.h>
#include <aom/aomcx.h>
#include <string.h>

// The init function is a macro, which passes the version of these headers. The control function is variadic, which Swift
// cannot call: one function per type suffices. Swift sees C arrays as tuples: layers and references are set here.

static inline aom_codec_err_t callsim_aom_encoder_init(
    aom_codec_ctx_t *context, const aom_codec_enc_cfg_t *configuration) {
  return aom_codec_enc_init(context, aom_codec_av1_cx(), configuration, 0);
}

static inline aom_codec_err_t callsim_aom_set(aom_codec_ctx_t *context, int control, int value) {
  return aom_codec_control(context, control, value);
}

static inline aom_codec_err_t callsim_aom_get(aom_codec_ctx_t *context, int control, int *value) {
  return aom_codec_control(context, control, value);
}

// Sets temporal layers of a single size, with this quantizer range in each. `rates` are in kbit/s, each the sum with all
// lower layers; each layer doubles the frame rate.
static inline aom_codec_err_t callsim_aom_set_layers(
    aom_codec_ctx_t *context, int layers, const unsigned *rates, int minimum_quantizer, int maximum_quantizer) {
  aom_svc_params_t parameters;
  memset(&parameters, 0, sizeof parameters);
  parameters.number_spatial_layers = 1;
  parameters.number_temporal_layers = layers;
  parameters.scaling_factor_num[0] = 1;
  parameters.scaling_factor_den[0] = 1;
  for (int layer = 0; layer < layers && layer < AOM_MAX_TS_LAYERS; layer++) {
    parameters.min_quantizers[layer] = minimum_quantizer;
    parameters.max_quantizers[layer] = maximum_quantizer;
    parameters.layer_target_bitrate[layer] = (int)rates[layer];
    parameters.framerate_factor[layer] = 1 << (layers - 1 - layer);
  }
  return aom_codec_control(context, AV1E_SET_SVC_PARAMS, &parameters);
}

// Sets the temporal layer of the next frame, the buffer to which it refers as LAST (or -1), and the one that it
// replaces (or -1).
static inline aom_codec_err_t callsim_aom_set_layer(
    aom_codec_ctx_t *context, int temporal, int referenced, int updated) {
  aom_svc_layer_id_t layer = {.spatial_layer_id = 0, .temporal_layer_id = temporal};
  aom_codec_err_t code = aom_codec_control(context, AV1E_SET_SVC_LAYER_ID, &layer);
  if (code != AOM_CODEC_OK) return code;
  aom_svc_ref_frame_config_t references;
  memset(&references, 0, sizeof references);
  if (referenced >= 0) {
    references.ref_idx[0] = referenced;
    references.reference[0] = 1;
  }
  if (updated >= 0) references.refresh[updated] = 1;
  return aom_codec_control(context, AV1E_SET_SVC_REF_FRAME_CONFIG, &references);
}
