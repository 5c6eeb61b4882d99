/**
 * Draws a widget on a page that may have drawn others, and returns its place on the page.
 *
 * `behind` chooses the background where the widget paints nothing: a chat's own background,
 * behind all of it ("everything") or behind text that would be illegible without
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

/** Each picture has a frame of its own, so that none waits for another. */
window.requestAnimationFrame = (then) => then(performance.now());

/** Finishes animations; removes those that never end. */
function settle() {
  // The end of one animation may begin another, down to the depth of the tree.
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
