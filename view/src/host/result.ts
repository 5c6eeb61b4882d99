/** Finds the widget in a tool result, wherever its profile puts it. */

import { readIcons } from "../style/icons";
import { asObject, isObject, isRoot, type JsonObject } from "../tree/node";
import { at } from "./context";

export type Rendered = Readonly<ReturnType<typeof readResult>>;
export type LocalMark = NonNullable<Rendered["local"]>;

/** The beginning of each of the server's errors. */
const OWN_ERROR = /^\[W\d{4}\]/;

/** The last line of a result's text, for the model and for pages that get nothing else. */
const NAMED = /(?:^|\n)Render: (r_[\w-]+)\s*$/;

export function readResult(given: JsonObject) {
  const result = unwrap(given);
  const meta = result._meta;
  const mark = at(meta, "widgetd/render");
  const text = joinText(result.content);
  const data = result.structuredContent ?? parseJson(text.replace(NAMED, ""));
  return {
    /** `undefined` where the result holds no widget. */
    tree: [at(meta, "widgetd/widget"), data, at(data, "widget"), at(data, "result")].find(isRoot),
    icons: readIcons(at(meta, "widgetd/icons")),
    /** Style variables of the widgets folder, by theme; `undefined` leaves those of the page. */
    palette: at(meta, "widgetd/palette"),
    /** The render to which actions belong. */
    renderId: [at(mark, "id"), at(data, "renderId"), NAMED.exec(text)?.[1]]
      .map(readName)
      .find(Boolean),
    /** Counts what took the render's place; 1 is the first. */
    version: readCount(at(mark, "version")),
    /** Actions that are taken again at each press. */
    repeat: readNames(at(mark, "repeat")),
    /** The last action that the server accepted in the version that is shown. */
    acted: readName(at(data, "acted")),
    /** The server had accepted the action before. */
    repeated: at(data, "repeated") === true,
    /** A question to the user before the action is taken, with the token of their consent. */
    question: readName(at(data, "text")) ?? "",
    token: readName(at(data, "token")),
    /** The line for the model about an action that the server itself took. */
    line: readName(at(data, "line")),
    /** The secret of the render's page, without which the server does nothing by itself. */
    press: readName(at(mark, "press")),
    /** The line for the model about a change without an action. */
    tell: readName(at(mark, "tell")),
    /** Newer versions may come, and `follow_render` waits for them. */
    follow: at(mark, "follow") === true,
    /** The outcome of the user's action, in a sentence for them. */
    note: readName(at(mark, "note")) ?? "",
    /** The action failed; the note says why. */
    failed: at(mark, "state") === "failed",
    /** The end of a wait without a newer version. */
    status: readName(at(data, "status")),
    /** The server's own name for the tool whose widget it is. */
    widget: readName(at(mark, "widget")),
    isError: result.isError === true,
    /** The error is the host's or a gateway's, so the server took nothing. */
    isForeign: result.isError === true && !at(meta, "widgetd/error") && !OWN_ERROR.test(text),
    text: text.replace(NAMED, ""),
    /** The reason of a failure in words for people; empty if only a model can correct it. */
    reason: readReason(at(meta, "widgetd/error")),
    local: readLocal(at(mark, "local")),
    /** Problems that the server found, by field. */
    problems: readProblems(at(data, "validationErrors")),
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
      "widgetd/palette": at(render, "palette"),
    },
  });
}

/** Hosts that strip structured content leave its copy in the text. */
function parseJson(text: string): unknown {
  try {
    return text.startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Some hosts deliver `{"result": …}`. */
function unwrap(result: JsonObject): JsonObject {
  const isWrapped = isObject(result.result) && !("content" in result);
  return isWrapped ? (result.result as JsonObject) : result;
}

const readName = (value: unknown) => (typeof value === "string" ? value : undefined);

const readNames = (value: unknown) => (Array.isArray(value) ? value.filter(isText) : []);

const isText = (value: unknown): value is string => typeof value === "string";

const readCount = (value: unknown) => (typeof value === "number" ? value : 1);

const REASONS: Readonly<Record<string, string>> = {
  W2007: "it is no longer available, so ask for it again",
  W2010: "this app is too old for it",
  W2301: "you may not do this here",
  W2403: "it is too long",
};

function readReason(error: unknown): string {
  if (!isObject(error)) return "";
  // It says what has changed in the widget since it was shown.
  if (error.code === "W2406") return readName(error.message) ?? "";
  const known = REASONS[String(error.code)];
  return known ?? (error.recoverable === true ? "try again in a moment" : "");
}

function joinText(content: unknown): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  return blocks
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? text : []))
    .join("\n");
}

/** Reads the state in which the tree was drawn, the actions that change it, and what a page needs. */
function readLocal(mark: unknown) {
  if (!isObject(mark)) return undefined;
  return {
    state: asObject(mark.state),
    actions: readNames(mark.actions),
    /** The digest of the program by which a page draws the next tree from `args`. */
    program: readName(mark.program),
    args: isObject(mark.arguments) ? mark.arguments : undefined,
  };
}

function readProblems(errors: unknown): Readonly<Record<string, string>> {
  if (!isObject(errors)) return {};
  return Object.fromEntries(
    Object.entries(errors).map(([name, problem]) => [
      name,
      Array.isArray(problem) ? problem.join(" ") : String(problem),
    ]),
  );
}
