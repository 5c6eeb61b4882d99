/** Looks at pictures as a person does; what compares them is the browser's, and stands before this. */

const MOST_COLORS = 256;
/** Of 255: nobody sees it in the edge of a letter. */
const CLOSE = 4;
/** A share of the picture that is more than the edges of letters. */
const SURFACE = 0.002;

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
