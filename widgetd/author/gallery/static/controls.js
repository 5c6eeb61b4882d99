/** A form made from a JSON Schema. Every edit reports the whole new value. */

import { alternatives, fresh, isObject, kindOf, resembles, resolve } from "./schema.js";
import { make } from "./ui.js";

const LONG = 60;
const SLIDER = 1000;
const INPUT_TYPES = { date: "date", "date-time": "text", time: "text", email: "email", uri: "url", color: "color" };
let serial = 0;

export class Controls {
  #place;
  #changed;
  #root = {};
  #value = {};

  constructor(place, changed) {
    this.#place = place;
    this.#changed = changed;
  }

  /** Shows `value` in a form for `schema`; a focused field keeps the focus. */
  show(schema, value) {
    this.#root = schema;
    this.#value = value;
    const focus = document.activeElement?.dataset.path;
    this.#place.replaceChildren(this.#node(schema, value, []));
    if (focus !== undefined) this.#place.querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus();
  }

  #set(path, value, reshape = false) {
    this.#value = replaceAt(this.#value, path, value);
    if (reshape) this.show(this.#root, this.#value);
    this.#changed(this.#value);
  }

  #node(schema, value, path) {
    const node = resolve(schema, this.#root);
    const choices = alternatives(node, this.#root);
    if (choices.length === 1) return this.#control(choices[0], value, path);
    const found = choices.findIndex((choice) => resembles(value, choice));
    const chosen = Math.max(found, 0);
    const kinds = choices.map((choice, number) => choice.title ?? nameKind(choice, number));
    const select = picker(kinds, chosen, (to) => this.#set(path, fresh(choices[to], this.#root), true));
    select.setAttribute("aria-label", `Kind of ${path.at(-1) ?? "value"}`);
    const inner = this.#control(choices[chosen], value, path);
    return kindOf(choices[chosen]) === "null" ? select : make("div", { className: "stack" }, select, inner);
  }

  #control(node, value, path) {
    switch (kindOf(node)) {
      case "object":
        return node.properties ? this.#object(node, value, path) : this.#json(value, path);
      case "array":
        return this.#array(node, value, path);
      case "enum":
        return this.#enum(node, value, path);
      case "const":
        return make("code", { textContent: JSON.stringify(node.const) });
      case "boolean":
        return this.#switch(value, path);
      case "number":
        return this.#number(node, value, path);
      case "string":
        return this.#text(node, value, path);
      case "null":
        return make("code", { textContent: "null" });
      default:
        return this.#json(value, path);
    }
  }

  #object(node, given, path) {
    const value = isObject(given) ? given : {};
    const required = new Set(node.required);
    const names = Object.keys(node.properties);
    const rows = names
      .filter((name) => name in value)
      .map((name) => this.#row(node.properties[name], name, value[name], [...path, name], required.has(name)));
    const absent = names
      .filter((name) => !(name in value))
      .map((name) => this.#adder(name, () => this.#set([...path, name], fresh(node.properties[name], this.#root), true)));
    const group = make("div", { className: "group" }, ...rows);
    if (absent.length) group.append(make("p", { className: "adders" }, ...absent));
    return group;
  }

  #row(schema, name, value, path, required) {
    const node = resolve(schema, this.#root);
    const control = this.#node(schema, value, path);
    const plain = control.matches("input, select, textarea, label");
    const target = control.matches("label") ? control.querySelector("input") : control;
    const tag = make(plain ? "label" : "span", { className: "name", textContent: name });
    const row = make("div", { className: "control" }, make("div", { className: "line" }, tag));
    if (plain) {
      target.id ||= `control-${++serial}`;
      tag.htmlFor = target.id;
    } else if (!control.matches("code")) {
      control.setAttribute("role", "group");
      control.setAttribute("aria-label", name);
    }
    if (!required) row.firstChild.append(this.#remover(`Remove ${name}`, () => this.#set(path, undefined, true)));
    if (node.description) row.append(make("p", { className: "help", textContent: node.description }));
    row.append(control);
    return row;
  }

  #array(node, given, path) {
    const value = Array.isArray(given) ? given : [];
    const list = make("ol", { className: "list" });
    const replace = (next) => this.#set(path, next, true);
    for (const [at, element] of value.entries()) {
      const tools = make("div", { className: "line" }, make("span", { className: "ordinal", textContent: at + 1 }));
      if (at > 0) tools.append(tool("↑", `Move element ${at + 1} up`, () => replace(swap(value, at - 1))));
      if (at < value.length - 1) tools.append(tool("↓", `Move element ${at + 1} down`, () => replace(swap(value, at))));
      if (value.length > (node.minItems ?? 0)) {
        tools.append(this.#remover(`Remove element ${at + 1}`, () => replace(value.toSpliced(at, 1))));
      }
      const inner = this.#node(node.items ?? {}, element, [...path, at]);
      if (inner.matches("input, select, textarea")) inner.setAttribute("aria-label", `Element ${at + 1}`);
      list.append(make("li", {}, tools, inner));
    }
    const box = make("div", { className: "stack" }, list);
    if (value.length < (node.maxItems ?? Infinity)) {
      const copyLast = () => (value.length ? structuredClone(value.at(-1)) : fresh(node.items ?? {}, this.#root));
      box.append(make("p", { className: "adders" }, this.#adder("Add one", () => replace([...value, copyLast()]))));
    }
    return box;
  }

  #enum(node, value, path) {
    const select = picker(node.enum.map(String), node.enum.indexOf(value), (to) => this.#set(path, node.enum[to]));
    select.dataset.path = path.join("/");
    return select;
  }

  #switch(value, path) {
    const input = make("input", { type: "checkbox", checked: value === true, role: "switch" });
    input.onchange = () => this.#set(path, input.checked);
    input.dataset.path = path.join("/");
    return make("label", { className: "switch" }, input, make("span", { "aria-hidden": "true" }));
  }

  #number(node, value, path) {
    const bounds = { min: node.minimum ?? "", max: node.maximum ?? "", step: node.multipleOf ?? (node.type === "integer" ? 1 : "any") };
    const input = make("input", { type: "number", value: value ?? "", ...bounds });
    input.dataset.path = path.join("/");
    const bounded = node.minimum !== undefined && node.maximum - node.minimum <= SLIDER;
    const slider = bounded && make("input", { type: "range", ...bounds, value: value ?? node.minimum });
    const tell = ({ target }) => {
      if (target.value === "") return;
      for (const other of [input, slider]) if (other) other.value = target.value;
      this.#set(path, target.valueAsNumber);
    };
    input.oninput = tell;
    if (!slider) return input;
    slider.oninput = tell;
    slider.setAttribute("aria-label", `${path.at(-1)}, slider`);
    input.setAttribute("aria-label", String(path.at(-1)));
    return make("div", { className: "ranged" }, slider, input);
  }

  #text(node, value, path) {
    const text = String(value ?? "");
    const long = text.length > LONG || text.includes("\n");
    const input = long
      ? make("textarea", { value: text, rows: 3 })
      : make("input", { type: INPUT_TYPES[node.format] ?? "text", value: text, spellcheck: false });
    input.dir = "auto";
    if (input.type === "date" && input.value !== text) input.type = "text";
    if (input.value !== text) input.value = text;
    input.dataset.path = path.join("/");
    input.oninput = () => this.#set(path, input.value);
    return input;
  }

  #json(value, path) {
    const input = make("textarea", { value: JSON.stringify(value, null, 2) ?? "", rows: 3, spellcheck: false, className: "mono" });
    input.dataset.path = path.join("/");
    input.oninput = () => {
      try {
        this.#set(path, JSON.parse(input.value));
        input.removeAttribute("aria-invalid");
      } catch {
        input.setAttribute("aria-invalid", "true");
      }
    };
    return input;
  }

  #adder(label, add) {
    return make("button", { type: "button", className: "adder", textContent: label, onclick: add });
  }

  #remover(label, remove) {
    return tool("×", label, remove);
  }
}

function tool(sign, label, act) {
  return make("button", { type: "button", className: "tool", textContent: sign, onclick: act, "aria-label": label, title: label });
}

function picker(labels, chosen, picked) {
  const options = labels.map((label, at) => make("option", { value: at, textContent: label, selected: at === chosen }));
  const select = make("select", {}, ...options);
  if (chosen < 0) select.selectedIndex = -1;
  select.onchange = () => picked(select.selectedIndex);
  return select;
}

function nameKind(node, number) {
  const kind = kindOf(node);
  if (kind === "const") return String(node.const);
  if (kind !== "object") return kind;
  const constant = Object.values(node.properties ?? {}).find((inner) => "const" in inner);
  return constant ? String(constant.const) : `object ${number + 1}`;
}

function swap(list, at) {
  return list.toSpliced(at, 2, list[at + 1], list[at]);
}

/** Returns `value` with `inner` at `path`; `undefined` removes the member. */
function replaceAt(value, [step, ...rest], inner) {
  if (step === undefined) return inner;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const next = rest.length ? replaceAt(copy[step], rest, inner) : inner;
  if (next === undefined) delete copy[step];
  else copy[step] = next;
  return copy;
}
