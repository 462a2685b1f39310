#pragma once
#include <dav1d/dav1d.h>
#include <errno.h>
#include <string.h>

// Opens a decoder with one thread, which gives each picture in the call that completes it, and writes no log.
static inline int callsim_dav1d_open(Dav1dContext **context, unsigned maximum_pixels) {
  Dav1dSettings settings;
  dav1d_default_settings(&settings);
  settings.n_threads = 1;
  settings.max_frame_delay = 1;
  settings.all_layers = 0;
  settings.frame_size_limit = maximum_pixels;
  settings.logger.callback = NULL;
  return dav1d_open(context, &settings);
}

// Reads the size in the last sequence header of a payload. Returns 1 if there is one, 0 if not, and -1 if it is
// malformed.
static inline int callsim_dav1d_size(const uint8_t *bytes, size_t count, int *width, int *height) {
  Dav1dSequenceHeader header;
  int code = dav1d_parse_sequence_header(&header, bytes, count);
  if (code == DAV1D_ERR(ENOENT)) return 0;
  if (code != 0) return -1;
  *width = header.max_width;
  *height = header.max_height;
  return 1;
}

// Decodes a payload. Returns 0 or the first error; `picture` is the last picture, or has no planes.
static inline int callsim_dav1d_decode(
    Dav1dContext *context, const uint8_t *bytes, size_t count, Dav1dPicture *picture) {
  memset(picture, 0, sizeof *picture);
  Dav1dData data = {0};
  uint8_t *copy = dav1d_data_create(&data, count);
  if (copy == NULL) return DAV1D_ERR(ENOMEM);
  memcpy(copy, bytes, count);
  int failure = 0;
  while (1) {
    if (data.sz > 0) {
      int code = dav1d_send_data(context, &data);
      if (code < 0 && code != DAV1D_ERR(EAGAIN)) {
        failure = code;
        break;
      }
    }
    Dav1dPicture next;
    memset(&next, 0, sizeof next);
    int code = dav1d_get_picture(context, &next);
    if (code == 0) {
      dav1d_picture_unref(picture);
      *picture = next;
      continue;
    }
    if (code != DAV1D_ERR(EAGAIN)) {
      failure = code;
      break;
    }
    if (data.sz == 0) break;
  }
  if (data.sz > 0) dav1d_data_unref(&data);
  return failure;
}

static inline int callsim_dav1d_is_key(const Dav1dPicture *picture) {
  return picture->frame_hdr != NULL && picture->frame_hdr->frame_type == DAV1D_FRAME_TYPE_KEY;
}

static inline int callsim_dav1d_quantizer(const Dav1dPicture *picture) {
  return picture->frame_hdr != NULL ? picture->frame_hdr->quant.yac : 0;
}
