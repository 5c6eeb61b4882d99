/** The element of JSX at a place of the text: its attributes, and where each value stands. */

import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";

export interface Attribute {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** The value as written, quotes and braces included; empty for an attribute without one. */
  readonly source: string;
}

export interface Element {
  readonly type: string;
  readonly from: number;
  readonly to: number;
  readonly attributes: readonly Attribute[];
  /** The offset at which another attribute would be written. */
  readonly end: number;
}

export interface Change {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

const TAGS = new Set(["JSXOpenTag", "JSXSelfClosingTag"]);
const NAMES = new Set(["JSXIdentifier", "JSXMemberExpression", "JSXBuiltin"]);

/** Returns the tag that begins the innermost element around `at`. */
export function tagAt(state: EditorState, at: number): SyntaxNode | undefined {
  for (let node: SyntaxNode | null = inner(state, at); node; node = node.parent) {
    if (TAGS.has(node.name)) return node;
    if (node.name === "JSXElement") {
      const tag = node.getChild("JSXOpenTag") ?? node.getChild("JSXSelfClosingTag");
      if (tag) return tag;
    }
  }
  return undefined;
}

function inner(state: EditorState, at: number): SyntaxNode {
  const tree = syntaxTree(state);
  const after = tree.resolveInner(at, 1);
  return after.name === "JSXStartTag" ? after : tree.resolveInner(at, -1);
}

export function readTagName(state: EditorState, tag: SyntaxNode): string {
  for (let node = tag.firstChild; node; node = node.nextSibling) {
    if (NAMES.has(node.name)) return state.sliceDoc(node.from, node.to);
  }
  return "";
}

/** Returns the innermost element around `at`; `undefined` outside of all. */
export function elementAt(state: EditorState, at: number): Element | undefined {
  const tag = tagAt(state, at);
  const type = tag && readTagName(state, tag);
  if (!tag || !type) return undefined;
  const around = tag.parent?.name === "JSXElement" ? tag.parent : tag;
  let end = tag.from + 1 + type.length;
  const attributes: Attribute[] = [];
  for (const node of tag.getChildren("JSXAttribute")) {
    end = node.to;
    const name = node.firstChild;
    const value = node.lastChild;
    if (!name || !value) continue;
    const source = value.from > name.from ? state.sliceDoc(value.from, value.to) : "";
    const written = state.sliceDoc(name.from, name.to);
    attributes.push({ name: written, from: node.from, to: node.to, source });
  }
  return { type, from: around.from, to: around.to, attributes, end };
}

/** Returns the one change that gives a property this source; `undefined` takes it away. */
export function makeChange(
  state: EditorState,
  element: Element,
  name: string,
  source: string | undefined,
): Change | undefined {
  const written = element.attributes.find((each) => each.name === name);
  if (!written) {
    if (source === undefined) return undefined;
    return { from: element.end, to: element.end, insert: ` ${attribute(name, source)}` };
  }
  if (source === undefined) {
    const before = state.sliceDoc(0, written.from);
    return { from: before.trimEnd().length, to: written.to, insert: "" };
  }
  if (written.source && source) {
    return { from: written.to - written.source.length, to: written.to, insert: source };
  }
  return { from: written.from, to: written.to, insert: attribute(name, source) };
}

const attribute = (name: string, source: string) => (source ? `${name}=${source}` : name);
