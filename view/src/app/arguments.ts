/** Draws a widget from the arguments of its call, before the result has come or without one. */

import { drawPartial, drawWhole, type PageProgram } from "../program/draw";
import { Failure } from "../program/values";
import { type IconSet, readIcons } from "../style/icons";
import { isObject, type JsonObject, plainText, type WidgetNode } from "../tree/node";

export const PROGRAM_ID = "widgetd-program";

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
  #isWhole = false;

  constructor(program: PageProgram, show: (drawing: Drawing) => void) {
    this.#program = program;
    this.#icons = readIcons(program.icons);
    this.#show = show;
  }

  /** What was drawn last ought to be the result's tree; but ids are made by the server. */
  get isWhole(): boolean {
    return this.#isWhole && !this.#program.ids?.length;
  }

  /** Draws the newest arguments once per frame; those that are all there, in a local state. */
  draw(args: JsonObject, state?: JsonObject): void {
    if (this.#isStopped) return;
    if (!this.#pending) requestAnimationFrame(() => this.#drawPending());
    this.#pending = { args, state };
  }

  /** Draws again: another call is shown. */
  resume(): void {
    this.#isStopped = false;
  }

  /** Leaves the picture to the result, which has come. */
  stop(): void {
    this.#isStopped = true;
    this.#pending = undefined;
  }

  #drawPending(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    const { args, state } = pending;
    const isWhole = state !== undefined;
    try {
      this.#isWhole = isWhole;
      const tree = isWhole
        ? drawWhole(this.#program, args, state)
        : drawPartial(this.#program, args);
      // The skeleton stays until there is something to read of the arguments.
      const isTelling = Object.keys(args).length > 0 && plainText([tree]) !== "";
      if (isWhole || isTelling) this.#show({ tree, icons: this.#icons, isWhole });
    } catch (error) {
      // The last good tree stays.
      if (!(error instanceof Failure)) throw error;
    }
  }
}
