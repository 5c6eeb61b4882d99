/** Looks at pictures as a person does: a cell is another where its colour is, not where a pixel is. */

const CELL_PX = 8;
/** Another build of a browser may place a line of text a pixel away. */
const SHIFTS = [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => [x, y]));

async function pixelsOf(base64) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  // What is transparent is seen on white.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
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

