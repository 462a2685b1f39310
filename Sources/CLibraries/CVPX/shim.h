#pragma once
#include <string.h>
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

// The init functions are macros, which pass the version of these headers. The control function is variadic, which Swift
// cannot call: one function per direction and type suffices. Swift sees C arrays as tuples: layers are set here.

static inline vpx_codec_err_t callsim_vpx_encoder_init(
    vpx_codec_ctx_t *context, vpx_codec_iface_t *codec, const vpx_codec_enc_cfg_t *configuration) {
  return vpx_codec_enc_init(context, codec, configuration, 0);
}

static inline vpx_codec_err_t callsim_vpx_decoder_init(vpx_codec_ctx_t *context, vpx_codec_iface_t *codec) {
  vpx_codec_dec_cfg_t configuration = {.threads = 1};
  return vpx_codec_dec_init(context, codec, &configuration, 0);
}

static inline vpx_codec_err_t callsim_vpx_set(vpx_codec_ctx_t *context, int control, int value) {
  return vpx_codec_control_(context, control, value);
}

static inline vpx_codec_err_t callsim_vpx_get(vpx_codec_ctx_t *context, int control, int *value) {
  return vpx_codec_control_(context, control, value);
}

// Sets the temporal layers. `rates` are in kbit/s, each the sum with all lower layers; `ids` are the layers of the
// frames of one period. A period has up to VPX_TS_MAX_PERIODICITY frames, and there are up to VPX_TS_MAX_LAYERS layers.
static inline void callsim_vpx_set_layers(
    vpx_codec_enc_cfg_t *configuration, unsigned layers, const unsigned *rates, unsigned period, const unsigned *ids) {
  if (layers == 0 || layers > VPX_TS_MAX_LAYERS || period > VPX_TS_MAX_PERIODICITY) return;
  configuration->ts_number_layers = layers;
  configuration->ts_periodicity = period;
  for (unsigned layer = 0; layer < layers; layer++) {
    configuration->ts_target_bitrate[layer] = rates[layer];
    // VP9 reads this one.
    configuration->layer_target_bitrate[layer] = rates[layer];
    configuration->ts_rate_decimator[layer] = 1u << (layers - 1 - layer);
  }
  for (unsigned index = 0; index < period; index++) configuration->ts_layer_id[index] = ids[index];
}

// Enables layers of VP9 in a single size, with this quantizer range in each.
static inline vpx_codec_err_t callsim_vpx_enable_vp9_layers(
    vpx_codec_ctx_t *context, unsigned layers, int minimum_quantizer, int maximum_quantizer) {
  vpx_svc_extra_cfg_t parameters;
  memset(&parameters, 0, sizeof parameters);
  for (unsigned layer = 0; layer < layers && layer < VPX_MAX_LAYERS; layer++) {
    parameters.min_quantizers[layer] = minimum_quantizer;
    parameters.max_quantizers[layer] = maximum_quantizer;
  }
  parameters.scaling_factor_num[0] = 1;
  parameters.scaling_factor_den[0] = 1;
  vpx_codec_err_t code = vpx_codec_control_(context, VP9E_SET_SVC, 1);
  if (code != VPX_CODEC_OK) return code;
  return vpx_codec_control_(context, VP9E_SET_SVC_PARAMETERS, &parameters);
}

// Sets the temporal layer of the next VP9 frame.
static inline vpx_codec_err_t callsim_vpx_set_vp9_layer(vpx_codec_ctx_t *context, int temporal) {
  vpx_svc_layer_id_t layer;
  memset(&layer, 0, sizeof layer);
  layer.temporal_layer_id = temporal;
  layer.temporal_layer_id_per_spatial[0] = temporal;
  return vpx_codec_control_(context, VP9E_SET_SVC_LAYER_ID, &layer);
}
