"""Pictures with a number in them, as Sources/CallStack/Pictures/FrameNumberCode.swift defines it: 32 cells along the
upper edge, of which 24 are the number in Gray code and 8 its CRC."""

from .protocol import PeerError, now

CELLS = 32
BLACK, WHITE, THRESHOLD, MARGIN = 16, 235, 125, 16


class Log:
    """The file of the pictures that were shown: milliseconds, width, height and number, or - without one."""

    def __init__(self, path):
        try:
            self._file = open(path, "w", buffering=1)
        except OSError as problem:
            raise PeerError("NotReadableError", f"cannot record pictures: {problem}") from None

    def append(self, width, height, number, timestamp=None):
        if not self._file.closed:
            time = now() if timestamp is None else timestamp
            self._file.write(f"{time:.1f} {width} {height} {'-' if number is None else number}\n")

    def close(self):
        self._file.close()


def _check(gray):
    register = gray << 8
    for bit in range(31, 7, -1):
        if register >> bit & 1:
            register ^= 0x107 << (bit - 8)
    return register & 0xFF ^ 0x0F


def luma(number, width, height):
    """The rows of a picture with a number, and bars that move below it."""
    cell = width // CELLS
    gray = (number ^ number >> 1) & 0xFFFFFF
    word = gray << 8 | _check(gray)
    white = [index < CELLS and word >> (31 - index) & 1 for index in (column // cell for column in range(width))]
    # The dots keep encoders from leaving out blocks without any texture.
    code = [
        bytes((WHITE - dots if white[column] else BLACK + dots)
              for column in range(width) for dots in (((column ^ row) & 2) * 6,))
        for row in range(4)
    ]  # fmt: skip
    bars = bytes(64 + 16 * ((column // 16 + number) % 8) for column in range(width))
    return b"".join(code[row % 4] for row in range(2 * cell)) + bars * (height - 2 * cell)


def read(luma, stride, width):
    """The number of a picture from its luma plane, or nil if a cell is grey or the CRC is wrong."""
    cell = width // CELLS
    if cell < 4:
        return None
    word = 0
    for index in range(CELLS):
        first, last = index * cell + cell // 4, (index + 1) * cell - cell // 4
        rows = [luma[row * stride + first : row * stride + last] for row in range(cell // 2, 2 * cell - cell // 2)]
        mean = sum(map(sum, rows)) / (len(rows) * (last - first))
        if abs(mean - THRESHOLD) < MARGIN:
            return None
        word = word << 1 | (mean > THRESHOLD)
    gray = word >> 8
    if _check(gray) != word & 0xFF:
        return None
    number = gray
    for shift in (1, 2, 4, 8, 16):
        number ^= number >> shift
    return number
