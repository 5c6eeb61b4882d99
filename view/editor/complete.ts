/** Completion from the vocabulary of components, the widget's schema and the keys of sidecars. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { SyntaxNode } from "@lezer/common";
import { readTagName, tagAt } from "./element";

export interface Property {
  readonly name: string;
  readonly expected: string;
  readonly required: boolean;
  readonly text?: string;
  readonly values?: readonly unknown[];
  readonly default?: unknown;
}

export interface Vocabulary {
  readonly components: Readonly<
    Record<
      string,
      { use: string; holds: readonly string[] | null; properties: readonly Property[] }
    >
  >;
  readonly icons: readonly string[];
  readonly colors: readonly string[];
  readonly filters: readonly string[];
  readonly sidecar: Readonly<Record<string, string>>;
}

export type Language = "jsx" | "jinja" | "json" | "toml";
type Schema = { readonly [key: string]: unknown };

export interface Known {
  readonly vocabulary: Vocabulary;
  readonly schema: Schema;
}

type Place = { readonly from: number; readonly options: readonly Completion[] };

/** Returns the source of completions for a language; `known` is asked at each of them. */
export function completer(language: Language, known: () => Known | undefined) {
  return (context: CompletionContext): CompletionResult | null => {
    const now = known();
    const place = now && PLACES[language](context, now);
    return place?.options.length ? { ...place, validFor: /^[\w.$-]*$/ } : null;
  };
}

const PLACES: Record<Language, (context: CompletionContext, known: Known) => Place | undefined> = {
  jsx: inJsx,
  jinja: inTemplate,
  json: () => undefined,
  toml: (context, { vocabulary }) => {
    const word = context.matchBefore(/^\[{0,2}\w*/);
    if (!word || (word.from === word.to && !context.explicit)) return undefined;
    const from = word.from + (/^\[+/.exec(word.text)?.[0].length ?? 0);
    const keys = Object.entries(vocabulary.sidecar);
    return { from, options: keys.map(([label, info]) => ({ label, info, type: "property" })) };
  },
};

/** A tag's type, its last property and what is typed of that one's value, at the end of a text. */
const IN_VALUE = /<([A-Z][\w.]*)(?:\s+\w+(?:="[^"]*"|=\{[^<>]*?\})?)*?\s+(\w+)="([^"\n]*)$/;

function inJsx(context: CompletionContext, known: Known): Place | undefined {
  const { state, pos } = context;
  const { vocabulary } = known;
  // The tree of a text that ends within a value has no attribute there.
  const quoted = IN_VALUE.exec(state.sliceDoc(Math.max(0, pos - 2000), pos));
  if (quoted) {
    const [, type = "", name, typed = ""] = quoted;
    const found = vocabulary.components[type]?.properties.find((each) => each.name === name);
    return { from: pos - typed.length, options: found ? values(found, vocabulary) : [] };
  }
  const opened = context.matchBefore(/<[\w.]*/);
  const node = syntaxTree(state).resolveInner(pos, -1);
  if (opened && !within(node, "JSXAttributeValue", "String")) {
    const around = tagAt(state, opened.from);
    const holds = around && vocabulary.components[readTagName(state, around)]?.holds;
    const options = components(vocabulary).filter(({ label }) => !holds || holds.includes(label));
    return { from: opened.from + 1, options };
  }
  const braces = within(node, "JSXEscape");
  if (braces && pos > braces.from) return inExpression(context, known, /[\w$.]*/);
  const tag = within(node, "JSXOpenTag", "JSXSelfClosingTag");
  if (!tag) return undefined;
  const properties = vocabulary.components[readTagName(state, tag)]?.properties ?? [];
  const word = context.matchBefore(/[\w$]*/);
  if (!word || (word.from === word.to && !context.explicit && !/\s/.test(before(context)))) {
    return undefined;
  }
  const given = new Set(
    tag.getChildren("JSXAttribute").map((each) => {
      const name = each.firstChild;
      return name && name.from !== word.from ? state.sliceDoc(name.from, name.to) : "";
    }),
  );
  const options = properties.filter(({ name }) => !given.has(name)).map(attributeOption);
  return { from: word.from, options };
}

function inTemplate(context: CompletionContext, known: Known): Place | undefined {
  const { vocabulary } = known;
  const text = context.state.sliceDoc(Math.max(0, context.pos - 4000), context.pos);
  const inTag = text.lastIndexOf("{{") > text.lastIndexOf("}}");
  if (inTag || text.lastIndexOf("{%") > text.lastIndexOf("%}")) {
    const filter = /\|\s*(\w*)$/.exec(text);
    if (filter) {
      const options = vocabulary.filters.map((label) => ({ label, type: "function" }));
      return { from: context.pos - (filter[1] ?? "").length, options };
    }
    return inExpression(context, known, /[\w.]*/);
  }
  const type = [...text.matchAll(/"type"\s*:\s*"([\w.]+)"/g)].at(-1)?.[1] ?? "";
  const properties = vocabulary.components[type]?.properties ?? [];
  const value = /"([\w]+)"\s*:\s*"([^"{}]*)$/.exec(text);
  if (value?.[1] === "type")
    return { from: context.pos - (value[2] ?? "").length, options: components(vocabulary) };
  if (value) {
    const property = properties.find(({ name }) => name === value[1]);
    const from = context.pos - (value[2] ?? "").length;
    return { from, options: property ? values(property, vocabulary) : [] };
  }
  const key = /[{,]\s*"(\w*)$/.exec(text);
  if (!key) return undefined;
  const options = properties.map(({ name, text: info, expected }) =>
    describe(name, expected, info),
  );
  return { from: context.pos - (key[1] ?? "").length, options };
}

/** Completes the path of an argument: its names, or what is inside the one before the point. */
function inExpression(
  context: CompletionContext,
  { schema }: Known,
  path: RegExp,
): Place | undefined {
  const word = context.matchBefore(path);
  if (!word || (word.from === word.to && !context.explicit)) return undefined;
  const steps = word.text.split(".");
  const last = steps.pop() ?? "";
  const around = steps.reduce<Schema | undefined>((inner, step) => fields(inner)[step], schema);
  // The names that a loop binds are in no schema, so any property may follow them.
  const found = around ?? (steps.length ? { properties: nested(schema) } : schema);
  const options = Object.entries(fields(found)).map(([label, { description, type }]) =>
    describe(label, String(type ?? ""), typeof description === "string" ? description : undefined),
  );
  return { from: context.pos - last.length, options };
}

function fields(schema: Schema | undefined): Record<string, Schema> {
  return (schema?.properties ?? {}) as Record<string, Schema>;
}

function nested(schema: Schema): Record<string, Schema> {
  const inner = Object.values(fields(schema)).map((each) => (each.items ?? each) as Schema);
  return Object.assign({}, ...inner.map((each) => ({ ...nested(each), ...fields(each) })));
}

const components = ({ components }: Vocabulary): Completion[] =>
  Object.entries(components).map(([label, { use }]) => ({ label, info: use, type: "class" }));

function values({ name, expected, values = [] }: Property, vocabulary: Vocabulary): Completion[] {
  const icons = expected.includes("icon") ? vocabulary.icons : [];
  const colors = /colou?r|background/i.test(name) ? vocabulary.colors : [];
  const all = new Set([...values, ...icons, ...colors].map(String));
  return [...all].map((label) => ({ label, type: "constant" }));
}

function attributeOption({ name, expected, text }: Property): Completion {
  const quoted = /text|one of|"|icon|string/.test(expected);
  const written = expected === "true or false" ? name : quoted ? `${name}=""` : `${name}={}`;
  return {
    ...describe(name, expected, text),
    apply: (view, _completion, from, to) =>
      view.dispatch({
        changes: { from, to, insert: written },
        selection: { anchor: from + written.length - (written === name ? 0 : 1) },
      }),
  };
}

const describe = (label: string, detail: string, info?: string): Completion => ({
  label,
  detail: detail.length > 40 ? `${detail.slice(0, 39)}…` : detail,
  type: "property",
  ...(info ? { info } : {}),
});

const before = ({ state, pos }: CompletionContext) => state.sliceDoc(pos - 1, pos);

function within(node: SyntaxNode, ...names: readonly string[]): SyntaxNode | undefined {
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    if (names.includes(at.name)) return at;
    if (at.name === "JSXElement" || (at.name === "JSXEscape" && !names.includes("JSXEscape")))
      return undefined;
  }
  return undefined;
}
