/** Compares pictures as a person does: by the colour of cells, not of pixels. */

const CELL_PX = 8;
/** Another build of a browser may place a line of text a pixel away. */
const SHIFTS = [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => [x, y]));
const QUARTERS = [0, 0.25, -0.25, 0.5, -0.5, 0.75, -0.75, 1, -1];
const PARTS = QUARTERS.flatMap((y) => QUARTERS.map((x) => [x, y]));
/** Levels between ink and ground, below which nothing is read. */
const FAINT = 24;
/** The part of the contrast by which a pixel may differ, as it does at the edges of a redrawn letter. */
const EDGE = 0.16;
/** Other antialiasing leaves at most 0.02 unexplained, another letter of 12 pixels at least 0.12. */
const LETTER = 0.1;

async function pixelsOf(base64) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  // Transparent pixels are seen on white.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, width, height);
}

/** Returns a function that computes a channel's mean in a cell, from sums made once. */
function means({ width, height, data }, channel) {
  const row = width + 1;
  const sums = new Float64Array(row * (height + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0, line = 0; x < width; x++) {
      line += data[(y * width + x) * 4 + channel];
      sums[(y + 1) * row + x + 1] = sums[y * row + x + 1] + line;
    }
  }
  return (x, y) => {
    const [left, top] = [Math.max(x, 0), Math.max(y, 0)];
    const [right, bottom] = [Math.min(x + CELL_PX, width), Math.min(y + CELL_PX, height)];
    const sum = sums[bottom * row + right] - sums[top * row + right] - sums[bottom * row + left] + sums[top * row + left];
    return sum / ((right - left) * (bottom - top));
  };
}

/** Returns the luminance of a picture, its pixels blurred just enough that no antialiasing counts. */
function luminance({ width, height, data }) {
  const plane = Float32Array.from({ length: width * height }, (_, pixel) =>
    0.299 * data[pixel * 4] + 0.587 * data[pixel * 4 + 1] + 0.114 * data[pixel * 4 + 2]);
  const clamp = (value, size) => Math.min(Math.max(value, 0), size - 1);
  const blurred = (from, step, at, size) =>
    from.map((value, pixel) => {
      const here = at(pixel);
      const beside = [-1, 1].map((way) => from[pixel + (clamp(here + way, size) - here) * step]);
      return (beside[0] + 2 * value + beside[1]) / 4;
    });
  const across = blurred(plane, 1, (pixel) => pixel % width, width);
  const soft = blurred(across, width, (pixel) => Math.floor(pixel / width), height);
  const at = (x, y) => soft[clamp(y, height) * width + clamp(x, width)];
  /** Interpolates, since another antialiasing is a letter that lies a part of a pixel away. */
  const between = (x, y) => {
    const [left, top] = [Math.floor(x), Math.floor(y)];
    const [right, down] = [x - left, y - top];
    const line = (row) => at(left, row) * (1 - right) + (right && at(left + 1, row) * right);
    return line(top) * (1 - down) + (down && line(top + 1) * down);
  };
  return { width, height, at, between, sharp: plane };
}

/** Returns how far the darkest and the lightest pixel in and around a cell are apart, of 255. */
function contrast({ width, height, sharp }, x, y) {
  let [least, most] = [255, 0];
  for (let row = Math.max(y - CELL_PX / 2, 0); row < Math.min(y + CELL_PX * 1.5, height); row++) {
    for (let column = Math.max(x - CELL_PX / 2, 0); column < Math.min(x + CELL_PX * 1.5, width); column++) {
      const value = sharp[row * width + column];
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return most - least;
}

/** Returns how much of a cell no shift explains: the sum over its pixels, in parts of the contrast. */
function unexplained(old, now, x, y) {
  const range = Math.max(contrast(old, x, y), contrast(now, x, y));
  if (range < FAINT) return 0;
  let least = Infinity;
  for (const [right, down] of PARTS) {
    let sum = 0;
    for (let pixel = 0; pixel < CELL_PX * CELL_PX && sum < least; pixel++) {
      const [column, row] = [x + (pixel % CELL_PX), y + Math.floor(pixel / CELL_PX)];
      const away = Math.abs(old.at(column, row) - now.between(column + right, row + down)) / range;
      sum += Math.max(away - EDGE, 0);
    }
    least = Math.min(least, sum);
    if (least <= LETTER) return 0;
  }
  return least;
}

/** Returns the box around the cells that hold another letter: [left, top, right, bottom], or null. */
function letters(was, is) {
  const [old, now] = [was, is].map(luminance);
  let box = null;
  for (let y = 0; y + CELL_PX <= Math.min(old.height, now.height); y += CELL_PX / 2) {
    for (let x = 0; x + CELL_PX <= Math.min(old.width, now.width); x += CELL_PX / 2) {
      if (unexplained(old, now, x, y) === 0) continue;
      const [left, top, right, bottom] = box ?? [x, y, 0, 0];
      box = [Math.min(left, x), Math.min(top, y), Math.max(right, x + CELL_PX), Math.max(bottom, y + CELL_PX)];
    }
  }
  return box;
}

/** Returns both sizes, of each cell how far its colour is from what it was, of 255, and where letters differ. */
async function compared(before, after) {
  const [was, is] = await Promise.all([pixelsOf(before), pixelsOf(after)]);
  const [old, now] = [was, is].map((picture) => [0, 1, 2].map((channel) => means(picture, channel)));
  const distances = [];
  for (let y = 0; y + CELL_PX <= Math.min(was.height, is.height); y += CELL_PX) {
    for (let x = 0; x + CELL_PX <= Math.min(was.width, is.width); x += CELL_PX) {
      const away = ([right, down]) =>
        Math.max(...old.map((mean, channel) => Math.abs(mean(x, y) - now[channel](x + right, y + down))));
      distances.push(Math.min(...SHIFTS.map(away)));
    }
  }
  return { was: [was.width, was.height], is: [is.width, is.height], distances, letters: letters(was, is) };
}

/** Returns a PNG of both pictures side by side, and the second again with frames around differences. */
async function sideBySide(before, after) {
  const [was, is] = await Promise.all([pixelsOf(before), pixelsOf(after)]);
  const [width, height] = [Math.max(was.width, is.width), Math.max(was.height, is.height)];
  const canvas = new OffscreenCanvas(3 * width + 2 * CELL_PX, height);
  const context = canvas.getContext("2d");
  [was, is, is].forEach((picture, place) => context.putImageData(picture, place * (width + CELL_PX), 0));
  const [left, top, right, bottom] = letters(was, is) ?? [0, 0, width, height];
  context.strokeStyle = "#e02e2a";
  context.lineWidth = 2;
  context.strokeRect(2 * (width + CELL_PX) + left - 1, top - 1, right - left + 2, bottom - top + 2);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));
}
