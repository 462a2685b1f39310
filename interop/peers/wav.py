"""WAV files as the peer protocol has them: 16-bit PCM, 48 kHz, mono."""

import struct
import wave

SAMPLE_RATE = 48_000


def read(path):
    """The samples of a file, as bytes."""
    with wave.open(path, "rb") as file:
        shape = (file.getsampwidth(), file.getframerate(), file.getnchannels())
        if shape != (2, SAMPLE_RATE, 1):
            raise ValueError(f"{path} is not 16-bit PCM at 48 kHz with one channel")
        return file.readframes(file.getnframes())


class Recording:
    """A file that can be read while it grows: the header says at every moment how much there is."""

    def __init__(self, path):
        self._file = open(path, "wb")
        self._bytes = 0
        self._write_header()

    def append(self, samples):
        if self._file is None:
            return
        self._file.write(samples)
        self._bytes += len(samples)
        self._write_header()

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write_header(self):
        self._file.seek(0)
        self._file.write(
            struct.pack(
                "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + self._bytes, b"WAVE", b"fmt ", 16,
                1, 1, SAMPLE_RATE, SAMPLE_RATE * 2, 2, 16, b"data", self._bytes,
            )
        )  # fmt: skip
        self._file.seek(0, 2)
        self._file.flush()
