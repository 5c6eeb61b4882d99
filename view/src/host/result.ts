/** Finds the widget in a tool result, wherever its profile puts it. */

import { type IconSet, readIcons } from "../style/icons";
import { isObject, isRoot, type JsonObject, type WidgetNode } from "../tree/node";
import { at } from "./context";

export interface Rendered {
  /** `undefined` where the result holds no widget. */
  readonly tree: WidgetNode | undefined;
  readonly icons: IconSet;
  /** By which an action names what it came from. */
  readonly renderId: string | undefined;
  /** Counts what took the render's place; 1 is the first. */
  readonly version: number;
  /** Actions that are taken again at each press. */
  readonly repeat: readonly string[];
  /** The last action that the server accepted in the version that is shown. */
  readonly acted: string | undefined;
  /** What the user must agree to before the action is done; with the token that says they do. */
  readonly question: string;
  readonly token: string | undefined;
  /** What the model is told of an action that the server itself did. */
  readonly line: string | undefined;
  /** The secret of the render's page, without which the server does nothing by itself. */
  readonly press: string | undefined;
  /** What the model is told of a change that came by itself. */
  readonly tell: string | undefined;
  /** The server had accepted the action before. */
  readonly repeated: boolean;
  /** Newer versions may come, and `follow_render` waits for them. */
  readonly follow: boolean;
  /** What came of what the user did, in a sentence for them. */
  readonly note: string;
  /** It was not done; the note says why. */
  readonly failed: boolean;
  readonly isError: boolean;
  /** The error is the host's or a gateway's, so the server took nothing. */
  readonly isForeign: boolean;
  /** How a wait ended that brought nothing. */
  readonly status: string | undefined;
  /** What the result says in words. */
  readonly text: string;
  /** The server's own name for the tool whose widget it is. */
  readonly widget: string | undefined;
  /** Why the call failed, in words for people; they are not told what only a model can mend. */
  readonly reason: string;
  /** Of a widget with a local state. */
  readonly local: LocalMark | undefined;
  /** What the server found wrong, by field. */
  readonly problems: Readonly<Record<string, string>>;
}

/** The state in which the tree was drawn, the actions that change it, and what a page needs. */
export interface LocalMark {
  readonly state: JsonObject;
  readonly actions: readonly string[];
  /** The digest of the program by which a page draws the next tree from `args`. */
  readonly program: string | undefined;
  readonly args: JsonObject | undefined;
}

/** How the text of each of the server's errors begins. */
const OWN_ERROR = /^\[W\d{4}\]/;

/** What a result's text ends with: for the model, and for a page that gets nothing else. */
const NAMED = /(?:^|\n)Render: (r_[\w-]+)\s*$/;

export function readResult(given: JsonObject): Rendered {
  const result = unwrapped(given);
  const meta = result._meta;
  const text = textOf(result.content);
  const data = result.structuredContent ?? jsonIn(text.replace(NAMED, ""));
  return {
    tree: [at(meta, "widgetd/widget"), data, at(data, "widget"), at(data, "result")].find(isRoot),
    icons: readIcons(at(meta, "widgetd/icons")),
    renderId: [at(meta, "widgetd/render", "id"), at(data, "renderId"), NAMED.exec(text)?.[1]]
      .map(name)
      .find(Boolean),
    version: count(at(meta, "widgetd/render", "version")),
    repeat: namesIn(at(meta, "widgetd/render", "repeat")),
    acted: name(at(data, "acted")),
    repeated: at(data, "repeated") === true,
    question: name(at(data, "text")) ?? "",
    token: name(at(data, "token")),
    line: name(at(data, "line")),
    press: name(at(meta, "widgetd/render", "press")),
    tell: name(at(meta, "widgetd/render", "tell")),
    follow: at(meta, "widgetd/render", "follow") === true,
    note: name(at(meta, "widgetd/render", "note")) ?? "",
    failed: at(meta, "widgetd/render", "state") === "failed",
    status: name(at(data, "status")),
    widget: name(at(meta, "widgetd/render", "widget")),
    isError: result.isError === true,
    isForeign: result.isError === true && !at(meta, "widgetd/error") && !OWN_ERROR.test(text),
    text: text.replace(NAMED, ""),
    reason: reasonOf(at(meta, "widgetd/error")),
    local: localOf(at(meta, "widgetd/render", "local")),
    problems: problemsOf(at(data, "validationErrors")),
  };
}

/** Reads the answer to `resources/read` of a render. */
export function readRender({ contents }: JsonObject): Rendered {
  const [content] = Array.isArray(contents) ? contents : [];
  const json = at(content, "text");
  const render: unknown = typeof json === "string" ? JSON.parse(json) : undefined;
  return readResult({
    structuredContent: at(render, "data"),
    _meta: {
      "widgetd/widget": at(render, "tree"),
      "widgetd/render": at(render, "render"),
      "widgetd/icons": at(render, "icons"),
    },
  });
}

/** Hosts that strip structured content leave its copy in the text. */
function jsonIn(text: string): unknown {
  try {
    return text.startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Some hosts deliver `{"result": …}`. */
function unwrapped(result: JsonObject): JsonObject {
  const isWrapped = isObject(result.result) && !("content" in result);
  return isWrapped ? (result.result as JsonObject) : result;
}

const name = (value: unknown) => (typeof value === "string" ? value : undefined);

const namesIn = (value: unknown) => (Array.isArray(value) ? value.filter(isText) : []);

const isText = (value: unknown): value is string => typeof value === "string";

const count = (value: unknown) => (typeof value === "number" ? value : 1);

const REASONS: Readonly<Record<string, string>> = {
  W2007: "it is no longer available, so ask for it again",
  W2010: "this app is too old for it",
  W2301: "you may not do this here",
  W2403: "it is too long",
};

function reasonOf(error: unknown): string {
  if (!isObject(error)) return "";
  const known = REASONS[String(error.code)];
  return known ?? (error.recoverable === true ? "try again in a moment" : "");
}

function textOf(content: unknown): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  return blocks
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? text : []))
    .join("\n");
}

function localOf(mark: unknown): LocalMark | undefined {
  if (!isObject(mark)) return undefined;
  const object = (value: unknown) => (isObject(value) ? value : undefined);
  return {
    state: object(mark.state) ?? {},
    actions: namesIn(mark.actions),
    program: name(mark.program),
    args: object(mark.arguments),
  };
}

/** A field's problem is a sentence or several. */
function problemsOf(errors: unknown): Readonly<Record<string, string>> {
  if (!isObject(errors)) return {};
  return Object.fromEntries(
    Object.entries(errors).map(([name, said]) => [
      name,
      Array.isArray(said) ? said.join(" ") : String(said),
    ]),
  );
}
