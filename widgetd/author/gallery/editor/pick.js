/**
 * Tells the page around a frame which component was clicked, by its JSON pointer in the tree.
 *
 * Runs beside the view, which Preact draws: an element leads to its virtual node, and that to the
 * innermost component around it, which has the tree's node as a property.
 */
addEventListener(
  "click",
  (event) => {
    const nodes = nodesAround(event.target);
    if (!nodes.length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const path = pathTo(nodes[0], nodes.at(-1), "");
    if (path !== undefined) parent.postMessage({ picked: path }, "*");
  },
  true,
);

/** Returns the nodes of the tree around an element, the innermost first. */
function nodesAround(element) {
  const drawn = new Map();
  const root = [...document.querySelectorAll("*")].find((each) => each.__k);
  for (const pending = [root?.__k]; pending.length; ) {
    const each = pending.pop();
    if (!each || typeof each !== "object") continue;
    if (typeof each.type === "string") drawn.set(each.__e, each);
    pending.push(...(each.__k ?? []));
  }
  let at = element;
  while (at && !drawn.has(at)) at = at.parentElement;
  const nodes = new Set();
  for (let each = drawn.get(at); each; each = each.__) if (each.props?.node?.type) nodes.add(each.props.node);
  return [...nodes];
}

function pathTo(node, within, path) {
  if (node === within) return path;
  if (!within || typeof within !== "object") return undefined;
  for (const [key, value] of Object.entries(within)) {
    const found = pathTo(node, value, `${path}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
