#pragma once
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <wels/codec_api.h>

// The C interface is a table of functions behind two pointers, and a frame is an array of 128 layers: both are tedious
// in Swift. Failures are codes other than zero.

static inline int callsim_h264_encoder_defaults(ISVCEncoder *encoder, SEncParamExt *parameters) {
  return (*encoder)->GetDefaultParams(encoder, parameters);
}

// Opens an encoder. It writes nothing to the standard streams.
static inline int callsim_h264_encoder_open(ISVCEncoder *encoder, const SEncParamExt *parameters) {
  int level = WELS_LOG_QUIET;
  (*encoder)->SetOption(encoder, ENCODER_OPTION_TRACE_LEVEL, &level);
  return (*encoder)->InitializeExt(encoder, parameters);
}

static inline int callsim_h264_encoder_set_rates(ISVCEncoder *encoder, int bits_per_second, float frame_rate) {
  SBitrateInfo bitrate = {.iLayer = SPATIAL_LAYER_ALL, .iBitrate = bits_per_second};
  int code = (*encoder)->SetOption(encoder, ENCODER_OPTION_BITRATE, &bitrate);
  return code != 0 ? code : (*encoder)->SetOption(encoder, ENCODER_OPTION_FRAME_RATE, &frame_rate);
}

static inline int callsim_h264_encoder_force_key_frame(ISVCEncoder *encoder) {
  return (*encoder)->ForceIntraFrame(encoder, true);
}

static inline int callsim_h264_encoder_encode(
    ISVCEncoder *encoder, const SSourcePicture *picture, SFrameBSInfo *frame) {
  memset(frame, 0, sizeof *frame);
  return (*encoder)->EncodeFrame(encoder, picture, frame);
}

static inline void callsim_h264_encoder_close(ISVCEncoder *encoder) {
  (*encoder)->Uninitialize(encoder);
  WelsDestroySVCEncoder(encoder);
}

// Returns the bytes of a layer of a frame, whose NAL units follow each other, and their number.
static inline const unsigned char *callsim_h264_layer(const SFrameBSInfo *frame, int index, size_t *size) {
  const SLayerBSInfo *layer = &frame->sLayerInfo[index];
  *size = 0;
  for (int unit = 0; unit < layer->iNalCount; unit++) *size += (size_t)layer->pNalLengthInByte[unit];
  return layer->pBsBuf;
}

// Returns the temporal layer of a frame.
static inline int callsim_h264_temporal_id(const SFrameBSInfo *frame) {
  return frame->iLayerNum > 0 ? frame->sLayerInfo[frame->iLayerNum - 1].uiTemporalId : 0;
}

// Opens a decoder that conceals nothing and writes nothing to the standard streams.
static inline long callsim_h264_decoder_open(ISVCDecoder *decoder) {
  int level = WELS_LOG_QUIET;
  (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_LEVEL, &level);
  SDecodingParam parameters;
  memset(&parameters, 0, sizeof parameters);
  parameters.uiTargetDqLayer = UCHAR_MAX;
  parameters.eEcActiveIdc = ERROR_CON_DISABLE;
  parameters.sVideoProperty.size = sizeof parameters.sVideoProperty;
  parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
  return (*decoder)->Initialize(decoder, &parameters);
}

static inline int callsim_h264_decoder_decode(
    ISVCDecoder *decoder, const unsigned char *bytes, int count, unsigned char *planes[3], SBufferInfo *info) {
  memset(info, 0, sizeof *info);
  return (int)(*decoder)->DecodeFrameNoDelay(decoder, bytes, count, planes, info);
}

static inline void callsim_h264_decoder_close(ISVCDecoder *decoder) {
  (*decoder)->Uninitialize(decoder);
  WelsDestroyDecoder(decoder);
}
