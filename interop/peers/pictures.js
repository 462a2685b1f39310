// Pictures with a number in them, as Sources/CallStack/Pictures/FrameNumberCode.swift defines it: 32 cells along the upper
// edge, of which 24 are the number in Gray code and 8 its CRC.
"use strict";

const numberedPictures = {
  cells: 32,

  word(number) {
    const gray = (number ^ (number >>> 1)) & 0xffffff;
    return ((gray << 8) | numberedPictures.check(gray)) >>> 0;
  },

  check(gray) {
    let register = gray;
    // Long division by x^8 + x^2 + x + 1, a bit at a time: `<<` would lose the upper bits of the whole word.
    let rest = 0;
    for (let bit = 23; bit >= -8; bit--) {
      const next = bit >= 0 ? (register >>> bit) & 1 : 0;
      const carry = rest & 0x80;
      rest = ((rest << 1) | next) & 0xff;
      if (carry) rest ^= 0x07;
    }
    return rest ^ 0x0f;
  },

  // The dots keep encoders from leaving out blocks without any texture.
  paint(context, number) {
    const { width, height } = context.canvas;
    const cell = Math.floor(width / numberedPictures.cells);
    const word = numberedPictures.word(number);
    context.fillStyle = `hsl(${(number * 7) % 360} 60% 50%)`;
    context.fillRect(0, 0, width, height);
    context.fillStyle = "white";
    context.fillRect((number * 4) % width, height / 2, height / 6, height / 6);
    const code = context.createImageData(width, 2 * cell);
    for (let row = 0; row < 2 * cell; row++) {
      for (let column = 0; column < width; column++) {
        const index = Math.floor(column / cell);
        const isWhite = index < numberedPictures.cells && ((word >>> (31 - index)) & 1) === 1;
        const dots = ((column ^ row) & 2) * 7;
        const at = 4 * (row * width + column);
        code.data.fill(isWhite ? 255 - dots : dots, at, at + 3);
        code.data[at + 3] = 255;
      }
    }
    context.putImageData(code, 0, 0);
  },

  // Returns the number, or null if a cell is grey or the CRC is wrong.
  read(context, width) {
    const cell = Math.floor(width / numberedPictures.cells);
    if (cell < 4) return null;
    const { data } = context.getImageData(0, 0, width, 2 * cell);
    const quarter = Math.floor(cell / 4);
    let word = 0;
    for (let index = 0; index < numberedPictures.cells; index++) {
      let sum = 0, count = 0;
      for (let row = Math.floor(cell / 2); row < 2 * cell - Math.floor(cell / 2); row++) {
        for (let column = index * cell + quarter; column < (index + 1) * cell - quarter; column++) {
          sum += data[4 * (row * width + column) + 1];
          count++;
        }
      }
      const mean = sum / count;
      if (Math.abs(mean - 127) < 19) return null;
      word = ((word << 1) | (mean > 127 ? 1 : 0)) >>> 0;
    }
    const gray = word >>> 8;
    if (numberedPictures.check(gray) !== (word & 0xff)) return null;
    let number = gray;
    for (const shift of [1, 2, 4, 8, 16]) number ^= number >>> shift;
    return number;
  },
};
