"""libopus for drivers whose stack hands over packets: one channel at 48 kHz, 20 ms in each."""

import ctypes
import ctypes.util

from . import wav
from .protocol import not_supported

_FRAME = wav.SAMPLE_RATE // 50
_APPLICATION_AUDIO = 2049


def _library():
    name = ctypes.util.find_library("opus")
    if name is None:
        raise not_supported("there is no libopus on this machine")
    library = ctypes.CDLL(name)
    for make in ("opus_encoder_create", "opus_decoder_create"):
        getattr(library, make).restype = ctypes.c_void_p
    return library


class Encoder:
    def __init__(self):
        self._library = _library()
        status = ctypes.c_int()
        made = self._library.opus_encoder_create(wav.SAMPLE_RATE, 1, _APPLICATION_AUDIO, ctypes.byref(status))
        self._state = ctypes.c_void_p(made)

    def encode(self, samples):
        packet = ctypes.create_string_buffer(1500)
        size = self._library.opus_encode(self._state, samples, _FRAME, packet, len(packet))
        return packet.raw[: max(0, size)]


class Decoder:
    def __init__(self):
        self._library = _library()
        status = ctypes.c_int()
        self._state = ctypes.c_void_p(self._library.opus_decoder_create(wav.SAMPLE_RATE, 1, ctypes.byref(status)))

    def decode(self, packet):
        samples = ctypes.create_string_buffer(6 * _FRAME * 2)
        count = self._library.opus_decode(self._state, packet, len(packet), samples, 6 * _FRAME, 0)
        return samples.raw[: max(0, count) * 2]
