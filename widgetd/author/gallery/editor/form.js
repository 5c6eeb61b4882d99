/** The properties of the element around the cursor, as a form: each field changes its span of the JSX alone. */

import { make } from "../static/ui.js";

const MOST_OPTIONS = 12;
let serial = 0;

export class Form {
  #place;
  #page;
  #element;

  /**
   * @param {HTMLElement} place
   * @param {{vocabulary: () => object, set: (element: object, name: string, source?: string) => void,
   *          leave: () => void}} page
   */
  constructor(place, page) {
    this.#place = place;
    this.#page = page;
    place.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      page.leave();
    });
  }

  /** Shows the properties of an element; a focused field keeps the focus. */
  show(element) {
    const before = this.#element;
    this.#element = element;
    const isTyping = this.#place.contains(document.activeElement);
    if (isTyping && before?.type === element?.type && before?.from === element?.from) return;
    const component = element && this.#page.vocabulary()?.components[element.type];
    this.#place.hidden = !component;
    if (!component) return;
    const known = new Set(component.properties.map(({ name }) => name));
    const given = new Map(element.attributes.map((one) => [one.name, one]));
    const others = element.attributes.filter(({ name }) => !known.has(name)).map(({ name }) => ({ name, expected: "any value" }));
    const set = component.properties.filter(({ name, required }) => given.has(name) || required);
    const unset = component.properties.filter((one) => !set.includes(one));
    this.#place.replaceChildren(
      make("h3", { textContent: `Properties of ${element.type}` }),
      make("p", { className: "help", textContent: component.use }),
      ...[...set, ...others].map((one) => this.#row(one, given.get(one.name)?.source)),
      unset.length
        ? make(
            "details",
            { open: this.#isOpen },
            make("summary", { textContent: `${unset.length} more properties`, onclick: () => (this.#isOpen = !this.#isOpen) }),
            make("div", { className: "controls" }, ...unset.map((one) => this.#row(one, undefined))),
          )
        : null,
    );
  }

  #isOpen = false;

  #row(property, source) {
    const { name, expected, text, required } = property;
    const id = `property-${++serial}`;
    const change = (value) => this.#page.set(this.#element, name, value);
    const control = this.#control(property, source, change);
    control.id = id;
    control.dataset.property = name;
    const detail = [
      `Takes ${expected.replace(/ \(ask for.*\)/, "")}`,
      "default" in property ? `by default ${JSON.stringify(property.default)}` : "",
      required ? "required" : "",
    ];
    const help = [text, `${detail.filter(Boolean).join("; ")}.`].filter(Boolean).join(" ");
    control.setAttribute("aria-describedby", `${id}-help`);
    const line = make("div", { className: "line" }, make("label", { className: "name", htmlFor: id, textContent: name }));
    return make("div", { className: "control" }, line, control, make("p", { className: "help", id: `${id}-help`, textContent: help }));
  }

  #control(property, source, change) {
    const { values, expected } = property;
    const choices = values ?? (expected === "true or false" ? [true, false] : undefined);
    if (choices && choices.length <= MOST_OPTIONS * 2) return chooser(choices, source, change);
    const { icons, colors } = this.#page.vocabulary();
    const input = make("input", { value: shown(source), spellcheck: false, autocomplete: "off", className: "mono" });
    const known = expected.includes("icon") ? icons : /colou?r|background/i.test(property.name) ? colors : [];
    if (known.length) input.setAttribute("list", listOf(expected.includes("icon") ? "icons" : "colors", known));
    input.oninput = () => change(toSource(input.value, expected));
    return input;
  }
}

/** Returns a list of suggestions, which inputs share. */
function listOf(name, values) {
  const id = `values-${name}`;
  if (!document.getElementById(id)) {
    const options = values.map((value) => make("option", { value }));
    document.body.append(make("datalist", { id }, ...options));
  }
  return id;
}

function chooser(choices, source, change) {
  const sources = choices.map((value) => (typeof value === "string" ? JSON.stringify(value) : `{${JSON.stringify(value)}}`));
  const now = source === "" ? "{true}" : sources.find((one) => one === source || `{${one}}` === source);
  const other = source !== undefined && now === undefined;
  const options = [
    make("option", { value: "", textContent: "not set", selected: source === undefined }),
    ...sources.map((one, at) => make("option", { value: one, textContent: String(choices[at]), selected: one === now })),
    other ? make("option", { value: source, textContent: source, selected: true }) : null,
  ];
  const select = make("select", {}, ...options.filter(Boolean));
  select.onchange = () => change(select.value || undefined);
  return select;
}

/** Returns a value as a field shows it: a text without its quotes, everything else as written. */
function shown(source) {
  if (source === undefined) return "";
  if (source === "") return "{true}";
  const literal = /^\{?("(?:[^"\\]|\\.)*"|-?[\d.]+)\}?$/s.exec(source)?.[1];
  if (literal === undefined) return source;
  if (!literal.startsWith('"')) return literal;
  try {
    return source.startsWith("{") ? JSON.parse(literal) : literal.slice(1, -1);
  } catch {
    return source;
  }
}

/** Returns the source for a field's text; `undefined` for none. Braces hold an expression. */
function toSource(text, expected) {
  if (text === "") return undefined;
  if (text.startsWith("{") && text.endsWith("}")) return text;
  if (/number/.test(expected) && /^-?\d+(?:\.\d+)?$/.test(text)) return `{${text}}`;
  return /["{}<>&\n]/.test(text) ? `{${JSON.stringify(text)}}` : `"${text}"`;
}
