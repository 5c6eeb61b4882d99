/** Draws a widget from the arguments of its call, before the result has come or without one. */

import { drawPartial, drawWhole, type PageProgram } from "../program/draw";
import { Failure } from "../program/values";
import { type IconSet, readIcons } from "../style/icons";
import { isObject, type JsonObject, LAST, type WidgetNode, walk } from "../tree/node";

const PROGRAM_ID = "widgetd-program";

/** Returns the program that the page holds: `<script type="application/json" id=…>`. */
export function readProgram(): PageProgram | undefined {
  const { textContent: json, dataset } = document.getElementById(PROGRAM_ID) ?? {};
  const program: unknown = json ? JSON.parse(json) : undefined;
  return isObject(program) ? ({ ...program, ...dataset } as unknown as PageProgram) : undefined;
}

export interface Drawing {
  readonly tree: WidgetNode;
  readonly icons: IconSet;
  /** The arguments are all there. */
  readonly isWhole: boolean;
}

export class ArgumentDrawer {
  readonly #program: PageProgram;
  readonly #icons: IconSet;
  readonly #show: (drawing: Drawing) => void;
  #pending: { readonly args: JsonObject; readonly state: JsonObject | undefined } | undefined;
  #isStopped = false;
  /** The tree of whole arguments; null if the program failed on them. */
  #whole: WidgetNode | null | undefined;

  constructor(program: PageProgram, show: (drawing: Drawing) => void) {
    this.#program = program;
    this.#icons = readIcons(program.icons);
    this.#show = show;
  }

  /** Draws the newest arguments once per frame; those that are all there, in a local state. */
  draw(args: JsonObject, state?: JsonObject): void {
    if (this.#isStopped) return;
    this.#whole = undefined;
    if (!this.#pending) requestAnimationFrame(() => this.#drawPending(this.#show));
    this.#pending = { args, state };
  }

  /** Draws again: another call is shown. */
  resume(): void {
    this.#isStopped = false;
  }

  /**
   * Leaves the picture to the result, which has come.
   *
   * Returns what ought to be the result's tree, null where the program failed; nothing where the
   * arguments are not all there, because the server makes ids.
   */
  stop(): WidgetNode | null | undefined {
    this.#drawPending(() => undefined);
    this.#isStopped = true;
    const whole = this.#whole;
    // A newer version is of other arguments, so it is compared with nothing.
    this.#whole = undefined;
    return whole;
  }

  #drawPending(show: (drawing: Drawing) => void): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    const { args, state } = pending;
    const isWhole = state !== undefined;
    const isComparable = isWhole && (this.#program.ids ?? []).every((name) => args[name] != null);
    if (isComparable) this.#whole = null;
    try {
      const tree = isWhole
        ? drawWhole(this.#program, args, state)
        : drawPartial(this.#program, args);
      if (isComparable) this.#whole = tree;
      // The skeleton stays until there is something to read.
      const isReadable = Object.keys(args).length > 0 && hasText(tree);
      if (isWhole || isReadable) show({ tree, icons: this.#icons, isWhole });
    } catch (error) {
      // The last good tree stays.
      if (!(error instanceof Failure)) throw error;
    }
  }
}

function hasText(tree: WidgetNode): boolean {
  const nodes = [...walk(tree)];
  const end = nodes.findIndex((node) => node[LAST]) + 1 || nodes.length;
  return nodes.slice(0, end).some(({ value, label }) => value || label);
}
