"""Which pictures a peer has shown: the file that its `video.record` names, a line for each.

Each side numbers its pictures from a number of its own, so that a picture tells who sent it and when.
"""

from dataclasses import dataclass

WIDTH, HEIGHT, RATE = 320, 240, 15
# Far enough apart that no call is long enough to confuse them.
FIRST = {"left": 0, "right": 40_000}
_LONGEST = 20_000


@dataclass(frozen=True)
class Picture:
    time: float  # milliseconds on the monotonic clock
    width: int
    height: int
    number: int | None


def read(path):
    """All pictures so far, also of a file that is still written."""
    try:
        with open(path) as file:
            lines = file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []
    rows = (line.split() for line in lines)
    return [
        Picture(float(time), int(width), int(height), None if number == "-" else int(number))
        for time, width, height, number in rows
    ]


def is_from(number, side):
    return 0 <= number - FIRST[side] < _LONGEST


def describe(pictures):
    numbers = [picture.number for picture in pictures if picture.number is not None]
    sizes = sorted({f"{picture.width}x{picture.height}" for picture in pictures})
    span = f"numbers {numbers[0]} to {numbers[-1]}" if numbers else "no number"
    return f"{len(pictures)} pictures of {', '.join(sizes) or 'no size'}, {len(numbers)} readable, {span}"
