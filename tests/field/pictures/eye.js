/** Looks at pictures as a person does: a cell is another where its colour is, not where a pixel is. */

const CELL_PX = 8;
const MOST_COLORS = 256;
/** Of 255: nobody sees it in the edge of a letter. */
const CLOSE = 4;
/** A share of the picture that is more than the edges of letters. */
const SURFACE = 0.002;
/** Another build of a browser may place a line of text a pixel away. */
const SHIFTS = [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => [x, y]));

async function pixelsOf(base64) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, width, height);
}

/** Returns a function that tells a channel's mean in a cell, from sums made once. */
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

/** Returns both sizes, and of each cell how far its colour is from what it was, of 255. */
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
  return { was: [was.width, was.height], is: [is.width, is.height], distances };
}

/** Returns the picture in few colours: those of its surfaces exactly, all others as one close to them. */
async function reduced(base64) {
  const { width, height, data } = await pixelsOf(base64);
  const counts = new Map();
  const colors = new Uint32Array(width * height);
  for (let pixel = 0; pixel < colors.length; pixel++) {
    colors[pixel] = (data[pixel * 4] << 16) | (data[pixel * 4 + 1] << 8) | data[pixel * 4 + 2];
    counts.set(colors[pixel], (counts.get(colors[pixel]) ?? 0) + 1);
  }
  const palette = [];
  const places = new Map();
  for (const [color, count] of [...counts].sort((a, b) => b[1] - a[1])) {
    const parts = [color >> 16, (color >> 8) & 255, color & 255];
    const distances = palette.map((other) => Math.max(...other.map((part, channel) => Math.abs(part - parts[channel]))));
    const nearest = distances.indexOf(Math.min(...distances));
    const isNew = palette.length < MOST_COLORS && (count > SURFACE * colors.length || !(distances[nearest] <= CLOSE));
    places.set(color, isNew ? palette.push(parts) - 1 : nearest);
  }
  return { width, height, palette, indices: Array.from(colors, (color) => places.get(color)) };
}

/** Tells whether letters are drawn in a font of that name, by their width. */
function hasFont(name) {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  const width = (font) => {
    context.font = `72px ${font}`;
    return context.measureText("Hamburgefonstiv 0123456789").width;
  };
  return width(`"${name}", monospace`) !== width("monospace");
}
