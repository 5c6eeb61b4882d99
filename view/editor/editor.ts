/**
 * The editor of a widget's page: CodeMirror in a shadow root, whose adopted stylesheets a strict
 * policy allows, with marks for findings and completion from the page's vocabulary.
 */

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyKeymap,
  indentWithTab,
  isolateHistory,
} from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { jinja2 } from "@codemirror/legacy-modes/mode/jinja2";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completer, type Known, type Language } from "./complete";
import { type Element, elementAt, makeChange } from "./element";

/** A finding with its line and column, from 1; without them it is about the whole text. */
export interface Finding {
  readonly line: number | null;
  readonly column: number | null;
  readonly level: "fault" | "warning";
  readonly code: string;
  readonly problem: string;
  readonly advice: string;
}

export interface Options {
  readonly parent: HTMLElement;
  /** Says which keys leave the editor; ids do not reach into a shadow root. */
  readonly help: string;
  readonly changed: (part: string, text: string) => void;
  /** Called with the element around the cursor whenever that may be another. */
  readonly moved: (element: Element | undefined) => void;
  readonly known: () => Known | undefined;
  readonly save: () => void;
}

const LANGUAGES: Record<Language, () => Extension> = {
  jsx: () => javascript({ jsx: true }),
  json: () => javascript(),
  jinja: () => StreamLanguage.define(jinja2),
  toml: () => StreamLanguage.define(toml),
};

/** Named by the variables of the page, which reach into a shadow root. */
const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--panel)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--ink-3)", backgroundColor: "var(--panel)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--hover) 40%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { background: "var(--accent-soft) !important" },
  ".cm-tooltip, .cm-panels": {
    color: "var(--ink)",
    backgroundColor: "var(--panel)",
    border: "1px solid var(--line)",
    maxWidth: "min(420px, 90vw)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    color: "var(--on-accent)",
    background: "var(--accent)",
  },
  ".cm-completionDetail": { color: "inherit", fontStyle: "normal", opacity: "0.85" },
  ".cm-button, .cm-textfield": { color: "var(--ink)", background: "var(--panel)" },
  ".cm-matchingBracket": { background: "var(--accent-soft) !important" },
});

const COLORS = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword, tags.typeName, tags.heading], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--fine)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--caution)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--ink-2)" },
  { tag: [tags.comment, tags.angleBracket, tags.punctuation], color: "var(--ink-3)" },
  { tag: tags.invalid, color: "var(--danger)" },
]);

export class Editor {
  readonly #options: Options;
  readonly #states = new Map<string, EditorState>();
  readonly #view: EditorView;
  #part = "";

  constructor(options: Options) {
    this.#options = options;
    const root = options.parent.attachShadow({ mode: "open" });
    const holder = document.createElement("div");
    holder.style.height = "100%";
    root.append(holder);
    this.#view = new EditorView({ parent: holder, root });
  }

  /** Holds `text` as a part, without a way back to what it held before. */
  load(part: string, text: string, language: Language, label: string): void {
    const state = EditorState.create({
      doc: text,
      extensions: this.#extensions(part, language, label),
    });
    this.#states.set(part, state);
    if (part === this.#part) this.#view.setState(state);
  }

  /** Shows one of the parts. */
  open(part: string): void {
    if (part === this.#part) return;
    const state = this.#stateOf(part);
    if (this.#part) this.#states.set(this.#part, this.#view.state);
    this.#part = part;
    this.#view.setState(state);
    this.#options.moved(this.element());
  }

  text(part: string): string {
    return this.#stateOf(part).doc.toString();
  }

  /** Replaces the whole text of a part, as an edit that can be undone. */
  replace(part: string, text: string): void {
    this.open(part);
    const { length } = this.#view.state.doc;
    const annotations = isolateHistory.of("full");
    this.#view.dispatch({ changes: { from: 0, to: length, insert: text }, annotations });
  }

  /** Marks what was found in the part that is shown. */
  mark(findings: readonly Finding[]): void {
    this.#view.dispatch(
      setDiagnostics(
        this.#view.state,
        findings.map((one) => this.#place(one)),
      ),
    );
  }

  /** Selects the element that begins at an offset, and shows it. */
  select(offset: number): void {
    const element = elementAt(this.#view.state, offset);
    if (element) this.#reveal(element.from, element.to);
  }

  /** Sets the cursor to the place of a finding. */
  go(finding: Finding): void {
    const { from } = this.#place(finding);
    this.#reveal(from, from);
    this.#view.focus();
  }

  element(): Element | undefined {
    const { state } = this.#view;
    return elementAt(state, state.selection.main.from);
  }

  /** Gives a property of an element this source, and nothing else; `undefined` takes it away. */
  set(element: Element, name: string, source: string | undefined): void {
    const changes = makeChange(this.#view.state, element, name, source);
    if (changes) this.#view.dispatch({ changes, selection: { anchor: element.from } });
  }

  focus(): void {
    this.#view.focus();
  }

  #reveal(anchor: number, head: number): void {
    const effects = EditorView.scrollIntoView(anchor, { y: "center" });
    this.#view.dispatch({ selection: { anchor, head }, effects });
  }

  #stateOf(part: string): EditorState {
    const state = part === this.#part ? this.#view.state : this.#states.get(part);
    if (!state) throw new Error(`there is no part ${part}`);
    return state;
  }

  #place({ line, column, level, code, problem, advice }: Finding): Diagnostic {
    const { doc } = this.#view.state;
    const at = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
    const from = Math.min(at.from + Math.max((column ?? 1) - 1, 0), at.to);
    const word = /^(?:[\w.$]+|\S)/.exec(doc.sliceString(from, at.to))?.[0] ?? "";
    return {
      from,
      to: from + word.length,
      severity: level === "fault" ? "error" : "warning",
      source: code,
      message: `${problem}; ${advice}`,
    };
  }

  #extensions(part: string, language: Language, label: string): Extension {
    const { changed, moved, known, help, save } = this.#options;
    const saving = () => {
      save();
      return true;
    };
    return [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      highlightSpecialChars(),
      highlightActiveLine(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      EditorView.lineWrapping,
      LANGUAGES[language](),
      autocompletion({ override: [completer(language, known)], icons: false }),
      syntaxHighlighting(COLORS),
      THEME,
      keymap.of([
        { key: "Mod-s", preventDefault: true, run: saving },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...lintKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      EditorView.contentAttributes.of({ "aria-label": label, "aria-description": help }),
      EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
        if (docChanged) changed(part, state.doc.toString());
        if (docChanged || selectionSet) moved(this.element());
      }),
    ];
  }
}
