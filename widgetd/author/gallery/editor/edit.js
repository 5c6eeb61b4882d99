/** The tab Edit: editors of a widget's files; drafts are drawn beside them. */

import { Frame } from "../static/host.js";
import { count } from "../static/tabs.js";
import { make, readAnswer, reasonOf, request, systemTheme, toast } from "../static/ui.js";
import { compareLines } from "./differences.js";
import { Editor } from "./editor.js";
import { Form } from "./form.js";

const PAUSE_MS = 150;
/** Where drafts are kept; undefined if the browser allows no storage. */
const storage = (() => {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
})();
const PARTS = {
  jsx: ["JSX", "jsx"],
  template: ["Template", "jinja"],
  schema: ["Schema", "json"],
  file: ["File", "json"],
  sidecar: ["Sidecar", "toml"],
};

/**
 * Opens the editor of a widget's page.
 *
 * @param {{tool: string, asked: () => {state: string, edited: unknown}, take: (trial: object) => void,
 *          end: () => void}} page The shown state, and functions that show a draft or the file again.
 */
export async function startEditing(page) {
  const editing = new Editing(page);
  await editing.open();
  return editing;
}

class Editing {
  #page;
  #editor;
  #form;
  #vocabulary;
  /** The content by part of the file that the draft began with. */
  #file = {};
  #digest = "";
  /** The file as it is now, if it changed where the draft changed, too. */
  #theirs;
  #part = "";
  #trial = { findings: [], places: {} };
  #pause = 0;
  #turn = 0;
  #isSaving = false;
  #message = document.getElementById("edit-said");
  #findings = document.getElementById("edit-findings");
  #choice = document.getElementById("edit-parts");
  #previous = document.getElementById("edit-previous");
  #conflict = document.getElementById("edit-conflict");

  constructor(page) {
    this.#page = page;
    this.#editor = new Editor({
      parent: document.getElementById("edit-code"),
      help: document.getElementById("edit-help").textContent,
      changed: () => this.#changed(),
      moved: (element) => this.#form?.show(this.#part === "jsx" ? element : undefined),
      known: () => this.#vocabulary && { vocabulary: this.#vocabulary, schema: this.#trial.schema ?? {} },
      save: () => void this.save(),
    });
    this.#form = new Form(document.getElementById("edit-form"), {
      vocabulary: () => this.#vocabulary,
      set: (element, name, source) => this.#editor.set(element, name, source),
      leave: () => this.#editor.focus(),
    });
    this.#choice.addEventListener("change", ({ target }) => this.#show(target.value));
    document.getElementById("edit-save").addEventListener("click", () => this.save());
    document.getElementById("edit-reset").addEventListener("click", () => this.#reset());
    this.#previous.addEventListener("click", () => this.#compare());
    const answers = { show: () => this.#showConflict(), mine: () => this.#keepMine(), theirs: () => this.#takeTheirs() };
    this.#conflict.addEventListener("click", ({ target }) => answers[target.value]?.());
    addEventListener("pagehide", () => this.#store());
    addEventListener("message", ({ data }) => typeof data?.picked === "string" && this.#pick(data.picked));
  }

  async open() {
    const [read, vocabulary] = await Promise.all([this.#read(), request("/gallery/vocabulary.json")]);
    this.#vocabulary = await vocabulary.json();
    if (read) {
      this.#take(read);
      this.#restore(read);
    }
    await this.draw();
  }

  /** Tells whether there are unsaved changes. */
  isDraft() {
    return this.#parts().some((part) => this.#editor.text(part) !== this.#file[part]);
  }

  /** Follows a change of the file; if the draft changed the same, the user decides. */
  async follow() {
    if (this.#isSaving) return;
    const read = await this.#read();
    if (!read || read.digest === this.#digest || read.digest === this.#theirs?.digest) return;
    if (this.#collides(read)) {
      this.#ask(read);
      return;
    }
    this.#take(read, this.isDraft() ? "The file changed; your changes stay." : "");
    await this.draw();
  }

  /** Draws the draft with the page's state and arguments. */
  async draw() {
    clearTimeout(this.#pause);
    const turn = ++this.#turn;
    const { state, edited } = this.#page.asked();
    const body = { tool: this.#page.tool, parts: this.#draft(this.#texts()), state, arguments: edited };
    const response = await this.#post("/gallery/draft/trial", body);
    const trial = await response.json();
    // A newer draft is on its way.
    if (turn !== this.#turn) return;
    if (!response.ok) {
      this.#say(`Not drawn: ${trial.error}.`);
      return;
    }
    this.#trial = { ...trial, schema: trial.schema ?? this.#trial.schema };
    this.#mark();
    this.#page.take(trial);
  }

  async save() {
    if (this.#isSaving) return;
    if (this.#theirs) {
      this.#conflict.querySelector("button").focus();
      return;
    }
    this.#isSaving = true;
    const texts = this.#texts();
    try {
      const body = { tool: this.#page.tool, parts: this.#draft(texts), digest: this.#digest };
      const response = await this.#post("/gallery/draft", body);
      const answer = await readAnswer(response);
      if (answer.code === "W3005") {
        const read = await this.#read();
        if (read) this.#ask(read);
        return;
      }
      if (!response.ok) {
        this.#say(`Not saved: ${reasonOf(answer)}.`);
        return;
      }
      if (answer.tool !== this.#page.tool) location.assign(`${answer.page}?tab=edit`);
      this.#file = texts;
      this.#take({ ...answer, previous: true }, "Saved.");
      this.#store();
    } finally {
      this.#isSaving = false;
    }
    this.#page.end();
    await this.draw();
    // Another change of the file may have come during the save.
    await this.follow();
  }

  #parts() {
    return Object.keys(PARTS).filter((part) => part in this.#file);
  }

  #texts() {
    return Object.fromEntries(this.#parts().map((part) => [part, this.#editor.text(part)]));
  }

  /** Returns the parts to send. A changed JSX replaces the template: during a save, the file may have the new one already. */
  #draft(texts) {
    const { jsx, template } = this.#file;
    const isReplaced = texts.jsx !== jsx && texts.template === template;
    return Object.fromEntries(Object.entries(texts).filter(([part]) => part !== "template" || !isReplaced));
  }

  #changed() {
    this.#say("");
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      void this.draw();
      this.#store();
    }, PAUSE_MS);
  }

  /** Keeps the draft in this browser until it is saved or given up, so that a reload loses nothing. */
  #store() {
    const key = `draft:${this.#page.tool}`;
    if (this.isDraft()) storage?.setItem(key, JSON.stringify({ digest: this.#digest, parts: this.#texts() }));
    else storage?.removeItem(key);
  }

  /** Puts a draft that this browser kept into the editor. */
  #restore(read) {
    const kept = JSON.parse(storage?.getItem(`draft:${this.#page.tool}`) ?? "null");
    if (!kept) return;
    this.#put(kept.parts);
    if (!this.isDraft()) this.#store();
    else if (kept.digest === read.digest) this.#say("Your unsaved changes are back.");
    else this.#ask(read);
  }

  #put(texts) {
    for (const [part, text] of Object.entries(texts)) {
      if (part in this.#file && this.#editor.text(part) !== text) this.#editor.replace(part, text);
    }
    this.#editor.open(this.#part);
  }

  /** Tells whether both the draft and `read` changed the widget's file, or both its sidecar. */
  #collides({ parts }) {
    const mine = this.#parts().filter((part) => this.#editor.text(part) !== this.#file[part]);
    const theirs = Object.keys({ ...parts, ...this.#file }).filter((part) => parts[part] !== this.#file[part]);
    const isSidecar = (part) => part === "sidecar";
    return [true, false].some((beside) => [mine, theirs].every((changed) => changed.some((part) => isSidecar(part) === beside)));
  }

  #ask(read) {
    this.#theirs = read;
    this.#conflict.hidden = false;
    this.#say("");
  }

  #settle() {
    this.#theirs = undefined;
    this.#conflict.hidden = true;
  }

  async #keepMine() {
    this.#digest = this.#theirs.digest;
    this.#settle();
    await this.save();
  }

  async #takeTheirs() {
    const theirs = this.#theirs;
    this.#settle();
    // As an edit, which the editor can undo.
    this.#put(theirs.parts);
    this.#take(theirs, "The file is in the editor; undo brings your text back.");
    this.#store();
    await this.draw();
  }

  #showConflict() {
    const texts = this.#texts();
    const blocks = Object.entries(this.#theirs.parts)
      .filter(([part, text]) => text !== (texts[part] ?? ""))
      .flatMap(([part, text]) => [make("h3", { textContent: PARTS[part][0] }), listDifferences(text, texts[part] ?? "")]);
    const answer = (label, act, properties = {}) =>
      make("button", {
        type: "button",
        textContent: label,
        onclick: () => {
          dialog.close();
          void act();
        },
        ...properties,
      });
    const dialog = showDialog(
      "What differs",
      make("p", { className: "quiet", textContent: "− only the file has this line; + only the editor has it." }),
      make("div", { className: "differences" }, ...blocks),
      make(
        "p",
        { className: "row" },
        answer("Keep mine", () => this.#keepMine()),
        answer("Take theirs", () => this.#takeTheirs()),
        answer("Close", () => {}, { autofocus: true }),
      ),
    );
  }

  async #read() {
    const response = await request(`/gallery/edit/${this.#page.tool}`);
    const read = await response.json();
    if (response.ok) return read;
    this.#say(`${read.error}.`);
    return undefined;
  }

  /** Takes the parts of the file; texts that were typed meanwhile stay. */
  #take({ parts, digest, drawn, previous }, message = "") {
    const same = JSON.stringify(parts) === JSON.stringify(this.#file);
    this.#digest = digest;
    this.#previous.hidden = !previous;
    this.#say(message);
    if (same) return;
    for (const [part, text] of Object.entries(parts)) {
      const [label, language] = PARTS[part];
      const isTyped = part in this.#file && this.#editor.text(part) !== this.#file[part];
      if (text !== this.#file[part] && !isTyped) this.#editor.load(part, text, language, label);
    }
    this.#file = parts;
    const shown = this.#part in parts ? this.#part : this.#parts().find((part) => part === "jsx" || part === drawn) ?? this.#parts()[0];
    this.#choice.replaceChildren(...this.#parts().map((part) => radio(part, PARTS[part][0], part === shown)));
    this.#show(shown);
  }

  #show(part) {
    this.#part = part;
    this.#editor.open(part);
    this.#mark();
  }

  #mark() {
    const { findings } = this.#trial;
    this.#editor.mark(findings.filter(({ part }) => part === this.#part));
    const differs = this.#trial.result && !("" in this.#trial.places);
    document.getElementById("edit-differs").hidden = !(this.#part === "jsx" && differs);
    count("edit", findings.length);
    this.#findings.replaceChildren(...findings.map((one) => this.#row(one)));
  }

  #row(finding) {
    const { part, line, level, code, problem, advice } = finding;
    const place = `${PARTS[part][0]}${line ? `, line ${line}` : ""}`;
    const go = () => {
      this.#choice.querySelector(`[value="${part}"]`).checked = true;
      this.#show(part);
      this.#editor.go(finding);
    };
    return make(
      "li",
      { "data-level": level },
      make("button", { type: "button", onclick: go }, place),
      make("span", { className: "code", textContent: code }),
      ` ${problem}; ${advice}.`,
    );
  }

  #pick(path) {
    const steps = path.split("/");
    // A property of a component leads to the component.
    while (steps.length > 1 && !(steps.join("/") in this.#trial.places)) steps.pop();
    const offset = this.#trial.places[steps.join("/")];
    if (offset === undefined) {
      toast("The template draws this; a click selects only what the JSX draws.");
      return;
    }
    this.#choice.querySelector("[value=jsx]").checked = true;
    this.#show("jsx");
    this.#editor.select(offset);
  }

  #reset() {
    if (this.#theirs) {
      void this.#takeTheirs();
      return;
    }
    this.#put(this.#file);
    this.#store();
    void this.follow();
  }

  async #compare() {
    const response = await request(`/gallery/edit/${this.#page.tool}/previous`);
    const answer = await response.json();
    if (!response.ok) {
      this.#say(`${answer.error}.`);
      return;
    }
    const use = () => {
      dialog.close();
      this.#put(answer.parts);
      this.#say("The previous version is in the editor, not yet saved.");
    };
    const frames = [];
    const picture = (label, result) => {
      const theme = document.documentElement.dataset.theme || systemTheme();
      const src = `/gallery/frame/${encodeURIComponent(this.#page.tool)}`;
      const frame = new Frame({ tool: this.#page.tool, title: label, theme, src, sized: (height) => (frame.element.style.height = `${height}px`) });
      frames.push(frame);
      frame.show(result ?? { isError: true, content: [{ type: "text", text: "It cannot be drawn." }] });
      return make("figure", {}, make("figcaption", { textContent: label }), frame.element);
    };
    const close = make("button", { type: "button", textContent: "Close", autofocus: true, onclick: () => dialog.close() });
    const dialog = showDialog(
      "Previous version",
      make("div", { className: "pair" }, picture("Before", answer.before), picture("Now", answer.now)),
      make("p", { className: "row" }, make("button", { type: "button", className: "primary", textContent: "Put it into the editor", onclick: use }), close),
    );
    dialog.addEventListener("close", () => {
      for (const frame of frames) frame.remove();
    });
  }

  #post(address, body) {
    return request(address, { method: "POST", body: JSON.stringify(body) });
  }

  #say(text) {
    this.#message.textContent = text.charAt(0).toUpperCase() + text.slice(1);
  }
}

function showDialog(title, ...content) {
  const heading = make("h2", { id: "versions", textContent: title });
  const dialog = make("dialog", { className: "question versions", "aria-labelledby": "versions" }, heading, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Returns the lines that differ, each with the lines around it. */
function listDifferences(before, after) {
  const rows = compareLines(before, after);
  const near = (index) => rows.slice(Math.max(0, index - 2), index + 3).some(([mark]) => mark !== " ");
  const lines = rows.filter((_, index) => near(index)).map(([mark, line]) => make(mark === " " ? "span" : mark === "+" ? "ins" : "del", { textContent: `${mark} ${line}\n` }));
  return make("pre", { className: "block", tabIndex: 0 }, ...lines);
}

function radio(value, label, checked) {
  const input = make("input", { type: "radio", name: "part", value, checked });
  return make("label", {}, input, make("span", { textContent: label }));
}
