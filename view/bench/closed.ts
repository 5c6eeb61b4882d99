/** Closes a JSON text that stops anywhere, as hosts do before they send it to a view. */

/** Returns the value so far, undefined where there is none yet; a text may lack its end. */
export function closeJson(text: string): unknown {
  let json = text;
  // An unfinished end is dropped, character by character.
  for (let least = Math.max(0, text.length - 64); json.length >= least; json = json.slice(0, -1)) {
    for (const inside of ["", '"']) {
      try {
        return JSON.parse(json.replace(/[,:]\s*$/, "") + inside + listEnds(json + inside));
      } catch {}
    }
  }
  return undefined;
}

/** Returns the brackets that are open. */
function listEnds(json: string): string {
  const open: string[] = [];
  for (const [piece] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (piece === "[") open.push("]");
    else if (piece === "{") open.push("}");
    else if (piece === "]" || piece === "}") open.pop();
  }
  return open.reverse().join("");
}
