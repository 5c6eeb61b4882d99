/** The local state of the page: names that its template reads, and actions that assign them. */

import type { LocalMark } from "../host/result";
import { act, drawWhole, type PageProgram } from "../program/draw";
import { Failure } from "../program/values";
import type { JsonObject, WidgetNode } from "../tree/node";

export class LocalState {
  readonly #program: PageProgram | undefined;
  #types: ReadonlySet<string>;
  state: JsonObject;
  /** The arguments that the page draws; without them the server draws. */
  #args: JsonObject | undefined;
  /** A local action was taken. */
  isMoved = false;

  constructor(program: PageProgram | undefined) {
    this.#program = program;
    this.#types = new Set(Object.keys(program?.local ?? {}));
    this.state = program?.state ?? {};
  }

  has(type: string): boolean {
    return this.#types.has(type);
  }

  /** The page needs no server for its actions. */
  get isOwn(): boolean {
    return this.#args !== undefined;
  }

  /** Begins with the arguments of a call whose result has not come. */
  begin(args: JsonObject): void {
    if (this.#program) this.#args = args;
  }

  /** Takes over what a result says; returns its tree, in the page's own state where that can be. */
  take(mark: LocalMark | undefined, tree: WidgetNode | undefined): WidgetNode | undefined {
    if (!tree) return tree;
    const isOwn = mark?.args && mark.program === this.#program?.digest;
    this.#args = isOwn ? mark.args : undefined;
    if (mark) this.#types = new Set(mark.actions);
    if (isOwn && this.isMoved) return this.#draw() ?? tree;
    this.state = mark?.state ?? this.#program?.state ?? {};
    return tree;
  }

  /** Takes a local action, and returns the tree that follows; throws `Failure`. */
  act(type: string, payload: unknown): WidgetNode | undefined {
    if (!this.#program || !this.#args) return undefined;
    this.state = act(this.#program, this.#args, this.state, type, payload);
    this.isMoved = true;
    return drawWhole(this.#program, this.#args, this.state);
  }

  #draw(): WidgetNode | undefined {
    try {
      return this.#program && this.#args && drawWhole(this.#program, this.#args, this.state);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return undefined;
    }
  }
}
