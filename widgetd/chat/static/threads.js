/** The list of conversations: search, open, rename and delete them. */

import { $, askJson, make, sign } from "./page.js";

const PAGE = 100;
let threads = [];
let current = "";

/**
 * Starts the list.
 *
 * @param {{open: (id: string) => void, removed: (id: string) => void}} events
 */
export function startThreads({ open, removed }) {
  $("find").addEventListener("input", () => show({ open, removed }));
  $("new").addEventListener("click", () => open(""));
  $("menu").addEventListener("click", () => toggleMenu());
  document.addEventListener("keydown", ({ key }) => key === "Escape" && toggleMenu(false));
  $("page").addEventListener("click", ({ target }) => target.closest("#menu") || toggleMenu(false));
  return async (id) => {
    current = id;
    threads = await loadAll();
    show({ open, removed });
    return threads;
  };
}

/** Opens or closes the list on a small screen. */
export function toggleMenu(open = document.body.dataset.menu !== "open") {
  document.body.dataset.menu = open ? "open" : "";
  $("menu").ariaExpanded = String(open);
}

async function loadAll() {
  const found = [];
  for (let after = null; ; ) {
    const page = await askJson("threads.list", { limit: PAGE, order: "desc", after });
    found.push(...page.data);
    if (!page.has_more) return found;
    after = page.after;
  }
}

const titleOf = ({ title }) => title || "Untitled";

function show(events) {
  const words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (one) => words.every((word) => titleOf(one).toLowerCase().includes(word));
  const found = threads.filter(fits);
  $("threads").replaceChildren(...found.map((one) => row(one, events)));
  $("none").hidden = found.length > 0 || !threads.length;
  const open = threads.find(({ id }) => id === current);
  $("title").textContent = open ? titleOf(open) : "New thread";
}

function row(one, events) {
  const link = make("a", { href: `#${one.id}`, textContent: titleOf(one), title: titleOf(one) });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    events.open(one.id);
  });
  const place = make("li", {}, link);
  if (one.id === current) {
    place.setAttribute("aria-current", "true");
    place.append(
      sign("edit", `Rename “${titleOf(one)}”`, () => rename(one, link, events)),
      sign("remove", `Delete “${titleOf(one)}”`, (button) => remove(one, button, events)),
    );
  }
  return place;
}

function rename(one, link, events) {
  const field = make("input", { value: titleOf(one), ariaLabel: "New title", maxLength: 60 });
  let isOver = false;
  const end = async (title) => {
    // The field loses the focus when it is removed, which ends the renaming again.
    if (isOver) return;
    isOver = true;
    field.replaceWith(link);
    if (title && title !== titleOf(one)) {
      Object.assign(one, await askJson("threads.update", { thread_id: one.id, title }));
    }
    show(events);
  };
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") void end(field.value.trim());
    if (key === "Escape") void end("");
  });
  field.addEventListener("blur", () => void end(field.value.trim()));
  link.replaceWith(field);
  field.select();
}

/** Deletes a conversation at the second press, because nothing brings it back. */
async function remove(one, button, events) {
  if (button.textContent) {
    await askJson("threads.delete", { thread_id: one.id });
    events.removed(one.id);
    return;
  }
  button.textContent = "Delete?";
  button.className = "";
  button.addEventListener("blur", () => show(events));
}
