/** The tab in which a sidecar is edited; it shows the words for models while they are typed. */

import { readAnswer, reasonOf, request } from "./ui.js";

const PAUSE_MS = 250;
const LISTS = new Set(["tags", "keywords", "image_origins"]);

export class Sidecar {
  #form = document.getElementById("sidecar");
  #message = document.getElementById("sidecar-said");
  #problem = document.getElementById("sidecar-problem");
  #tool;
  #shown;
  /** The file's last known content and digest. */
  #file = {};
  #digest = "";
  #pause = 0;
  #asked = 0;

  /** @param {string} tool @param {() => object} shown Returns the shown state. */
  constructor(tool, shown) {
    this.#tool = tool;
    this.#shown = shown;
    if (!this.#form) return;
    this.#take();
    this.#form.addEventListener("input", () => this.#later());
    this.#form.addEventListener("reset", (event) => {
      event.preventDefault();
      this.#take();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#save();
    });
  }

  /** Follows a change of the page; typed values stay. */
  follow() {
    if (!this.#form) return;
    if (this.#shown().digest === this.#digest) this.#later();
    else if (this.#isEdited()) this.#say("The file changed meanwhile, and is not saved over.");
    else this.#take();
  }

  #take() {
    const { sidecar, digest } = this.#shown();
    this.#file = joinLists(sidecar);
    this.#digest = digest;
    for (const [name, text] of Object.entries(this.#file)) this.#form.elements[name].value = text;
    this.#say("");
    void this.#try();
  }

  /** Allows the images of these origins and saves at once; returns whether it was saved. */
  async allow(origins) {
    const field = this.#form.elements.image_origins;
    field.value = [...new Set([...parts(field.value), ...origins])].join(", ");
    await this.#save();
    return this.#message.textContent.startsWith("Saved");
  }

  #isEdited() {
    return Object.entries(this.#file).some(([name, text]) => this.#form.elements[name].value !== text);
  }

  #values() {
    const texts = Object.keys(this.#file).map((name) => [name, this.#form.elements[name].value]);
    return Object.fromEntries(texts.map(([name, text]) => [name, LISTS.has(name) ? parts(text) : text.trim()]));
  }

  #later() {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#try(), PAUSE_MS);
  }

  async #try() {
    const turn = ++this.#asked;
    const answer = await this.#send("/trial", { arguments: this.#shown().arguments });
    // Newer values are on their way.
    if (turn !== this.#asked) return;
    for (const field of document.querySelectorAll("[data-reads]")) field.textContent = answer[field.dataset.reads] ?? "";
    this.#problem.hidden = !answer.problem;
    this.#problem.textContent = answer.problem ?? "";
  }

  async #save() {
    const values = this.#values();
    const answer = await this.#send("", { digest: this.#digest });
    if (answer.digest) {
      this.#digest = answer.digest;
      this.#file = joinLists(values);
    }
    const isSound = this.#problem.hidden;
    this.#say(answer.digest ? (isSound ? "Saved." : "Saved, with this problem.") : `Not saved: ${reasonOf(answer)}.`);
  }

  async #send(path, more) {
    const body = JSON.stringify({ ...this.#values(), ...more });
    const response = await request(`/w/${this.#tool}/sidecar${path}`, { method: "POST", body });
    return readAnswer(response);
  }

  #say(text) {
    this.#message.textContent = text;
  }
}

const parts = (text) => text.split(",").map((part) => part.trim()).filter(Boolean);

/** Returns values as the form shows them: lists as texts with commas. */
function joinLists(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]));
}
