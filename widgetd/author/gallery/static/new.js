/** Begins a widget: asks for its name, saves an empty one, and opens its editor. */

import { make, readAnswer, reasonOf, request } from "./ui.js";

const EMPTY = `const schema = {
  "type": "object",
  "properties": {},
  "additionalProperties": false
};

const sample = {};

<Card>
</Card>
`;

/** Asks for a name when a button for a new widget inside `place` is pressed. */
export function offerNew(place) {
  place.addEventListener("click", ({ target }) => target.closest("[data-new]") && ask());
}

function ask() {
  const name = make("input", { id: "new-name", required: true, autocomplete: "off", placeholder: "Parcel Tracker" });
  const message = make("p", { className: "problem", role: "alert" });
  const form = make(
    "form",
    { className: "stack" },
    make("label", { htmlFor: "new-name", className: "name", textContent: "Name, as people see it" }),
    name,
    message,
    make(
      "p",
      { className: "row" },
      make("button", { className: "primary", textContent: "Create" }),
      make("button", { type: "button", textContent: "Cancel", onclick: () => dialog.close() }),
    ),
  );
  const dialog = make(
    "dialog",
    { className: "question", "aria-labelledby": "new", onclose: () => dialog.remove() },
    make("h2", { id: "new", textContent: "New widget" }),
    form,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = { file: `${name.value.trim()}.widget.jsx`, parts: { jsx: EMPTY }, digest: "" };
    const response = await request("/gallery/draft", { method: "POST", body: JSON.stringify(body) });
    const answer = await readAnswer(response);
    if (response.ok) location.assign(`${answer.page}?tab=edit`);
    else message.textContent = answer.problem ? `${reasonOf(answer)}.` : "Take letters, digits and spaces.";
  });
  document.body.append(dialog);
  dialog.showModal();
}
