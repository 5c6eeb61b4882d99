/**
 * Draws a widget on a page that may have drawn others, and answers where on the page it is.
 *
 * `behind` says what is painted where the widget itself paints nothing: what a chat has there,
 * behind all of it ("everything") or where something stands that could not be read without
 * ("words"), or "nothing".
 */
async function draw({ json, behind }) {
  const { documentElement: html } = document;
  const { promise: drawn, resolve } = Promise.withResolvers();
  const observer = new MutationObserver(() => html.dataset.ready && resolve());
  document.getElementById("widgetd-tree").textContent = json;
  document.dispatchEvent(new Event("widgetd:redraw"));
  observer.observe(html, { attributes: true, attributeFilter: ["data-ready"] });
  await drawn;
  observer.disconnect();
  settle();
  const root = document.querySelector("#stage > [data-component]") ?? document.getElementById("stage");
  const onCard = [...root.children].every((child) => child.classList.contains("card"));
  html.style.background = behind === "everything" ? "var(--color-surface)" : "";
  if (behind === "words" && !(root.matches(".framed-root") && onCard)) root.style.background = "var(--color-surface)";
  return { box: around(root), overflow: wider(root) };
}

/** A picture is a frame of its own: what is to be on it waits for no other. */
window.requestAnimationFrame = (then) => then(performance.now());

/** Brings to its end what still moves; what would move for ever stands as it would without. */
function settle() {
  // What ends lets what inherits from it begin, as deep as the tree is.
  for (let depth = 0; depth < 100; depth++) {
    const moving = document.getAnimations();
    if (!moving.length) return;
    for (const one of moving) one.effect?.getComputedTiming().endTime === Infinity ? one.cancel() : one.finish();
  }
}

/** Returns the whole pixels that an element is on. */
function around(element) {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const [x, y] = [Math.floor(left + scrollX), Math.floor(top + scrollY)];
  return { x, y, width: Math.ceil(right + scrollX) - x, height: Math.ceil(bottom + scrollY) - y };
}

/** Names the components that reach beyond the widget's edges, and how far. */
function wider(root) {
  const room = root.getBoundingClientRect();
  const found = [];
  for (const one of root.querySelectorAll("[data-component]")) {
    const { left, right } = one.getBoundingClientRect();
    const by = Math.round(Math.max(right - room.right, room.left - left));
    if (by < 1 || found.some(([other]) => other.contains(one)) || scrolls(one.parentElement, root)) continue;
    found.push([one, by]);
  }
  return found.slice(0, 8).map(([one, by]) => {
    const words = one.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
    return `${one.dataset.component}${words && ` "${words}"`} by ${by} px`;
  });
}

function scrolls(element, root) {
  for (let at = element; at && at !== root; at = at.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return true;
  }
  return false;
}
