// SPDX-License-Identifier: Apache-2.0
// Makes a picture small: a PNG of 24 or 32 bits as one with a palette of at most 256 colours. Pure.
import {deflateSync, inflateSync} from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLOURS = 256;
const CRC = Uint32Array.from({length: 256}, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function* chunks(png) {
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) yield [png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at))];
}

function chunk(type, data) {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  let crc = 0xffffffff;
  for (let i = 4; i < data.length + 8; i++) crc = CRC[(crc ^ out[i]) & 255] ^ (crc >>> 8);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, data.length + 8);
  return out;
}

const nearest = (left, up, corner) => {
  const [a, b, c] = [left, up, corner].map((n) => Math.abs(left + up - corner - n));
  return a <= b && a <= c ? left : b <= c ? up : corner;
};

// Width, height, and a whole number 0xRRGGBB for each pixel.
function decode(png) {
  const parts = [...chunks(png)];
  const [, head] = parts.find(([type]) => type === 'IHDR');
  const width = head.readUInt32BE(0), height = head.readUInt32BE(4), step = {2: 3, 6: 4}[head[9]];
  if (head[8] !== 8 || step === undefined || head[12] !== 0) throw new Error('not a plain PNG of 24 or 32 bits');
  const raw = inflateSync(Buffer.concat(parts.filter(([type]) => type === 'IDAT').map(([, data]) => data)));
  const row = width * step, pixels = new Uint32Array(width * height);
  let above = new Uint8Array(row);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)], line = raw.subarray(y * (row + 1) + 1, (y + 1) * (row + 1));
    for (let x = 0; x < row; x++) {
      const left = x < step ? 0 : line[x - step], up = above[x], corner = x < step ? 0 : above[x - step];
      line[x] += [0, left, up, (left + up) >> 1, filter === 4 ? nearest(left, up, corner) : 0][filter];
    }
    for (let x = 0; x < width; x++) pixels[y * width + x] = (line[x * step] << 16) | (line[x * step + 1] << 8) | line[x * step + 2];
    above = line;
  }
  return {width, height, pixels};
}

const distance = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;

// The colours that are there most often; what is near one that was taken already waits for those that are not.
function paletteOf(counts) {
  const byCount = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
  for (let apart = 700; apart >= 0; apart = apart > 10 ? apart >> 1 : apart - 5) {
    const taken = [];
    for (const colour of byCount) {
      if (taken.length < COLOURS && taken.every((each) => distance(each, colour) > apart)) taken.push(colour);
    }
    if (taken.length === COLOURS || apart === 0) return taken;
  }
  return byCount.slice(0, COLOURS);
}

export function shrink(png) {
  const {width, height, pixels} = decode(png);
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = paletteOf(counts);
  const index = new Map([...counts.keys()].map((colour) => [colour, palette.reduce((best, each, i) => (distance(each, colour) < distance(palette[best], colour) ? i : best), 0)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = index.get(pixels[y * width + x]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', deflateSync(rows, {level: 9})), chunk('IEND', Buffer.alloc(0))]);
}
