"""What is played, and whether it is what was heard.

Each side plays a melody of its own: four notes in a fixed order, 240 ms each. A recording is read in
frames of 20 ms; the note of a frame is the one that holds most of its energy. So a frame says who is heard, how loud,
and where in the melody: silence, a wrong sender, a gap, a repeated second and a changed pitch all show.
"""

import array
import math
import wave
from dataclasses import dataclass

SAMPLE_RATE = 48_000
FRAME = SAMPLE_RATE // 50
NOTE = 12 * FRAME
AMPLITUDE = 12_000
MELODIES = {"left": (500, 900, 650, 1150), "right": (575, 1025, 775, 1300)}
NOTES = sorted(note for melody in MELODIES.values() for note in melody)

# A note is there when it has this share of a frame's energy: a frame may lie across two notes, and a codec adds some.
_SHARE = 0.45
_AUDIBLE = -45.0
# Frames are thinned out before they are measured: the notes lie far below the 6 kHz that remain.
_THIN = 4


def write_melody(path, melody):
    samples = array.array("h")
    phase = 0.0
    for note in melody:
        for _ in range(NOTE):
            samples.append(round(AMPLITUDE * math.sin(phase)))
            phase += 2 * math.pi * note / SAMPLE_RATE
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(samples.tobytes())


def length(path):
    """Seconds recorded so far, also of a file that is still written."""
    try:
        with open(path, "rb") as file:
            return max(0, file.seek(0, 2) - 44) / 2 / SAMPLE_RATE
    except FileNotFoundError:
        return 0.0


@dataclass(frozen=True)
class Frame:
    note: int | None  # the frequency in Hz; nil for silence, and for a sound that is no note
    level: float  # dBFS of all that is heard


def _measure(samples):
    energy = sum(sample * sample for sample in samples) / len(samples)
    level = 10 * math.log10(energy / 2**29) if energy > 0 else -120.0
    if level < _AUDIBLE:
        return Frame(None, level)
    best, note = 0.0, None
    for candidate in NOTES:
        # Goertzel
        factor = 2 * math.cos(2 * math.pi * candidate * _THIN / SAMPLE_RATE)
        one = two = 0.0
        for sample in samples:
            one, two = sample + factor * one - two, one
        power = (one * one + two * two - factor * one * two) * 2 / len(samples) ** 2
        if power > best:
            best, note = power, candidate
    return Frame(note if best >= _SHARE * energy else None, level)


def _steps(melody):
    """Which note follows which."""
    return dict(zip(melody, (*melody[1:], melody[0])))


class Heard:
    """A recording, frame by frame, from a second on."""

    def __init__(self, path, start=0.0, end=None):
        with open(path, "rb") as file:
            file.seek(44 + int(start * SAMPLE_RATE) * 2)
            raw = file.read() if end is None else file.read(int((end - start) * SAMPLE_RATE) * 2)
        samples = array.array("h", raw[: len(raw) // (FRAME * 2) * FRAME * 2])
        self.start = start
        self.frames = []
        for index in range(0, len(samples), FRAME):
            part = samples[index : index + FRAME]
            self.frames.append(_measure([sum(part[at : at + _THIN]) / _THIN for at in range(0, FRAME, _THIN)]))

    @property
    def seconds(self):
        return len(self.frames) * 0.02

    def first(self, melody):
        """When the first note of a melody is heard, in seconds of the recording; nil if it is not."""
        for index in range(len(self.frames) - 2):
            if all(frame.note in melody for frame in self.frames[index : index + 3]):
                return self.start + index * 0.02
        return None

    def _hears(self, melody):
        """Whether the melody is heard, frame by frame. A frame that lies across two notes has neither's energy: it
        counts when the notes on both its sides follow each other."""
        follows = _steps(melody)
        notes = [frame.note for frame in self.frames]
        around = zip([None, *notes], notes, [*notes[1:], None])
        return [
            note in follows or (note is None and before is not None and follows.get(before) == after)
            for before, note, after in around
        ]

    def share(self, melody):
        """The share of frames in which the melody is heard."""
        return sum(self._hears(melody)) / max(1, len(self.frames))

    def silence(self):
        """The share of silent frames."""
        return sum(frame.level < _AUDIBLE for frame in self.frames) / max(1, len(self.frames))

    def level(self):
        """The median level of the frames that can be heard."""
        levels = sorted(frame.level for frame in self.frames if frame.level >= _AUDIBLE)
        return levels[len(levels) // 2] if levels else -120.0

    def longest_gap(self, melody):
        """The longest time within which the melody is not heard, in seconds."""
        longest = current = 0
        for hears in self._hears(melody):
            current = 0 if hears else current + 1
            longest = max(longest, current)
        return longest * 0.02

    def notes(self):
        """The notes in the order in which they are heard, with how many frames each lasts; specks are left out."""
        runs = []
        for frame in self.frames:
            if frame.note is None:
                continue
            if runs and runs[-1][0] == frame.note:
                runs[-1][1] += 1
            else:
                runs.append([frame.note, 1])
        return [(note, count) for note, count in runs if count >= 3]

    def wrong_steps(self, melody):
        """The steps from note to note that the melody does not have."""
        follows = _steps(melody)
        notes = [note for note, _ in self.notes()]
        return [(a, b) for a, b in zip(notes, notes[1:]) if a != b and follows.get(a) != b]

    def describe(self):
        notes = " ".join(f"{note}×{count * 20}ms" for note, count in self.notes()[:16])
        return f"{self.seconds:.1f} s, {self.silence():.0%} silent, {self.level():.0f} dBFS: {notes or 'no note'}"


SENT_LEVEL = 20 * math.log10(AMPLITUDE / 2**15)
