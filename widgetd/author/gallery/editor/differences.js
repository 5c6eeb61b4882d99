/** Which lines two texts share. */

/** Beyond so many pairs of lines, whatever stands between the first and last difference counts as changed. */
const MAX_PAIRS = 4_000_000;

/** Returns the lines of both texts in order, with "−" for those of `before` alone and "+" for those of `after` alone. */
export function compareLines(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines) => lines.map((line) => [" ", line]);
  const middle = pair(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))];
}

/** Pairs lines by their longest common subsequence. */
function pair(a, b) {
  const rows = [];
  const width = b.length + 1;
  const isKnown = a.length * b.length <= MAX_PAIRS;
  // lengths[i * width + j]: how many lines a[i:] and b[j:] share at most.
  const lengths = new Uint16Array(isKnown ? (a.length + 1) * width : 0);
  for (let i = a.length - 1; isKnown && i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [here, below, right] = [i * width + j, (i + 1) * width + j, i * width + j + 1];
      lengths[here] = a[i] === b[j] ? lengths[below + 1] + 1 : Math.max(lengths[below], lengths[right]);
    }
  }
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (isKnown && i < a.length && j < b.length && a[i] === b[j]) {
      rows.push([" ", a[i++]]);
      j++;
    } else if (i < a.length && (j === b.length || !isKnown || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      rows.push(["−", a[i++]]);
    } else rows.push(["+", b[j++]]);
  }
  return rows;
}
