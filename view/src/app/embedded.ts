/** Connects the screen and the host: shows results, and sends actions. */

import { type Action, actionsIn, findLabel } from "../actions/action";
import { ACTION_TOOL, Dispatcher, makeKey, quote, type Surface } from "../actions/dispatch";
import { readJournal } from "../actions/journal";
import type { HostContext } from "../host/context";
import { Follower } from "../host/follow";
import { Failure, type Host, type HostEvents } from "../host/host";
import { recover } from "../host/recover";
import type { Rendered } from "../host/result";
import { RpcError } from "../host/rpc";
import { isSame, type PageProgram } from "../program/draw";
import { type IconSet, readIcons } from "../style/icons";
import type { JsonObject, WidgetNode } from "../tree/node";
import { ArgumentDrawer, type Drawing } from "./arguments";
import { openWindow } from "./link";
import { LocalState } from "./local";
import { pause } from "./pause";
import { announceReady } from "./ready";
import { Screen } from "./screen";
import { type SizeWatch, watchSize } from "./size";
import { type ActionRequest, NO_PROBLEMS, type Problems } from "./stage";
import type { Notice, View } from "./view";

export class Embedded implements HostEvents, Surface {
  readonly #host: Host;
  readonly #dispatcher: Dispatcher;
  readonly #screen: Screen;
  readonly #follower: Follower;
  #connected = false;
  /** The page drew another tree than the server. */
  #differed = false;
  /** Resolves to whether the host accepted the handshake. */
  #handshake: Promise<boolean> = Promise.resolve(false);
  #isSettled = false;
  #arguments: JsonObject | undefined;
  #latest: Rendered | undefined;
  /** The version that was shown when the action was taken that is under way. */
  #actedOn = 1;
  #size: SizeWatch | undefined;
  /** Answers the question that the user is asked. */
  #decide: ((agrees: boolean) => void) | undefined;
  readonly #drawer: ArgumentDrawer | undefined;
  /** The page's own drawing of the arguments, until a result comes. */
  #drawn: WidgetNode | undefined;
  readonly #local: LocalState;
  /** Icons that only trees of local actions show. */
  readonly #icons: IconSet;
  /** Settles once the server has answered the last local action. */
  #answered: Promise<unknown> = Promise.resolve();
  #newest: ActionRequest | undefined;

  constructor(element: HTMLElement, host: Host, program?: PageProgram) {
    this.#host = host;
    this.#local = new LocalState(program);
    this.#icons = readIcons(program?.icons);
    this.#drawer = program && new ArgumentDrawer(program, (drawing) => this.#preview(drawing));
    this.#dispatcher = new Dispatcher(host, this);
    this.#follower = new Follower(
      host,
      (result) => this.show(result),
      (action) => this.#repeatNotice(action),
    );
    this.#screen = new Screen(element, {
      can: (action) => this.#can(action),
      isLocal: (type) => this.#local.has(type),
      act: (request) =>
        this.#local.has(request.action.type)
          ? this.#actLocally(request)
          : this.#dispatcher.send(request),
      openLink: (url) => void this.#openLink(url),
      drawn: () => this.#measure(),
    });
  }

  /** Serves the host until it takes the view away; `initial` is shown until it says otherwise. */
  async start(initial: Partial<View>): Promise<void> {
    this.#screen.update(initial);
    this.#handshake = this.#host.connect(this).then(
      () => true,
      (error) => {
        if (!(error instanceof RpcError)) throw error;
        return false;
      },
    );
    await Promise.race([this.#handshake, pause(PATIENCE_MS)]);
    this.#isSettled = true;
    this.#explainInertness();
    this.#connected = await this.#handshake;
    this.#applyAbilities();
  }

  /** Applies the host's abilities to a result that came before the handshake. */
  #applyAbilities(): void {
    const { notice } = this.#screen.view;
    if (notice === INERT) this.#screen.update({ notice: undefined });
    this.#measure();
    this.#explainInertness();
    this.#follow();
  }

  inputArrived(args: JsonObject, isWhole: boolean): void {
    if (isWhole) {
      if (this.#latest && this.#arguments && !isSame(args, this.#arguments)) this.#forgetResult();
      if (!this.#latest) this.#local.begin(args);
      this.#arguments = args;
    }
    this.#screen.update({ loading: true, notice: undefined });
    this.#drawer?.draw(args, isWhole ? this.#local.state : undefined);
  }

  /** Shows what the arguments make; the result's tree takes its place. */
  #preview({ tree, icons, isWhole }: Drawing): void {
    this.#drawn = tree;
    this.#screen.update({ tree, icons });
    if (isWhole) setTimeout(() => this.#explainPreview(), PATIENCE_MS);
  }

  /** Forgets the shown result: the gallery shows another call in the same page. */
  #forgetResult(): void {
    this.#follower.stop();
    this.#latest = undefined;
    this.#screen.update({ renderId: undefined, version: 1 });
    this.#drawer?.resume();
  }

  /** Explains that controls are off if no result has come for a while. */
  #explainPreview(): void {
    if (!this.#drawn) return;
    const isInert = this.#listRemoteActions(this.#drawn).length > 0;
    this.#screen.update({ loading: false, ...(isInert && { notice: VIEW_ONLY }) });
    void announceReady();
  }

  /** Tells whether an action can be taken: the server takes none without a render. */
  #can(action: Action): boolean {
    if (!this.#local.has(action.type)) return !this.#drawn && this.#dispatcher.can(action);
    return this.#local.isOwn || (!!this.renderId() && this.#host.can("serverTools"));
  }

  /** Returns the actions of a tree that leave the page. */
  #listRemoteActions(tree: WidgetNode | undefined): Action[] {
    return [...actionsIn(tree)].filter(({ type }) => !this.#local.has(type));
  }

  /** Takes an action that changes the page alone; where it has no program, the server draws it. */
  async #actLocally(request: ActionRequest): Promise<Problems> {
    const { action, payload, label, isChange } = request;
    try {
      const tree = this.#local.act(action.type, payload);
      if (tree) {
        if (this.#drawn) this.#drawn = tree;
        this.#screen.update({ tree, icons: { ...this.#screen.view.icons, ...this.#icons } });
        return NO_PROBLEMS;
      }
      this.#newest = request;
      const answer = this.#answered.then(async () => {
        // The last of several waiting changes includes the others.
        if (isChange && this.#newest !== request) return;
        const result = await this.#host.callTool(ACTION_TOOL, {
          render_id: this.renderId(),
          action: action.type,
          payload: payload ?? {},
          ...this.extras(),
          idempotency_key: makeKey(),
        });
        if (!result.tree) throw new Failure("the server drew nothing");
        this.show(result);
      });
      this.#answered = answer.catch(() => undefined);
      await answer;
    } catch (error) {
      this.#host.log("warning", { action: action.type, detail: String(error) });
      const text = `${quote(label)} did not go through.`;
      this.#screen.update({ notice: { kind: "problem", text } });
    }
    return NO_PROBLEMS;
  }

  resultArrived(result: Rendered): void {
    const { tree, renderId } = this.#screen.view;
    // A host sends again, without its widget, what is shown.
    const isShown = tree && !this.#drawn && (result.renderId ?? renderId) === renderId;
    if (result.tree || result.isError) this.show(result);
    else if (!isShown) void this.#recover(result);
  }

  /** Shows the widget that the result lacks; where there is none, what it says. */
  async #recover(stripped: Rendered): Promise<void> {
    this.#latest = stripped;
    this.#screen.update({ loading: true });
    await this.#handshake;
    const found = await recover(this.#host, stripped, this.#arguments);
    if (this.#latest !== stripped) return;
    if (!found?.tree && this.#drawn) this.#explainPreview();
    else this.show(found ?? stripped);
    // Of a drawing without a render the server knows nothing: what was done in the lost one must
    // not be done again.
    if (found?.tree && !found.renderId) {
      this.#drawn = found.tree;
      this.#explainPreview();
    }
  }

  cancelled(reason: string): void {
    const text = reason ? `Cancelled: ${reason}` : "Cancelled.";
    this.#screen.update({ loading: false, notice: { kind: "info", text } });
  }

  contextChanged(context: HostContext): void {
    this.#screen.update({ context });
  }

  tornDown(): void {
    this.#size?.stop();
    this.#follower.stop();
    this.#latest = undefined;
    this.#screen.clear();
  }

  renderId(): string | undefined {
    return this.#screen.view.renderId;
  }

  show(result: Rendered): void {
    const { renderId, version } = this.#screen.view;
    // It was overtaken by a newer version.
    if (result.renderId && result.renderId === renderId && result.version < version) return;
    // A question about another version is none any more.
    this.#decide?.(false);
    this.#latest = result;
    this.#replacePreview(result.tree);
    this.#screen.update({
      tree: this.#local.take(result.local, result.tree),
      icons: { ...this.#icons, ...result.icons },
      palette: result.palette ?? this.#screen.view.palette,
      renderId: result.renderId ?? renderId,
      version: result.version,
      loading: false,
      notice: describeResult(result),
    });
    if (result.tell) void this.#dispatcher.report(result.tell);
    this.#explainInertness();
    void announceReady();
    this.#follow();
  }

  #follow(): void {
    const { follow, renderId, version, press } = this.#latest ?? {};
    const sent = readJournal().findLast(
      (entry) => entry.renderId === renderId && entry.version === version,
    );
    if (sent) this.#repeatNotice(sent.type);
    // Only the page of the render has its secret.
    const report = this.#differed ? { differed: true, ...(press && { press }) } : {};
    if (follow && renderId) this.#follower.follow(renderId, version ?? 1, report);
  }

  /** Lets the server's tree win; reports a difference without values. */
  #replacePreview(tree: WidgetNode | undefined): void {
    const drawn = this.#drawer?.stop();
    this.#drawn = undefined;
    if (drawn === undefined || !tree || this.#local.isMoved) return;
    this.#differed = drawn === null || !isSame(drawn, tree);
    if (this.#differed) this.#host.log("warning", { event: "page.differed" });
  }

  version(): number {
    return this.#screen.view.version;
  }

  extras(): JsonObject {
    const { state } = this.#local;
    const press = this.#latest?.press;
    return { ...(Object.keys(state).length && { state }), ...(press && { press }) };
  }

  ask(text: string): Promise<boolean> {
    return new Promise((done) => {
      this.#decide = (agrees) => {
        this.#decide = undefined;
        this.#screen.update({ notice: undefined });
        done(agrees);
      };
      this.#screen.update({ notice: { kind: "info", text, decide: this.#decide } });
    });
  }

  repeats(type: string): boolean {
    return this.#latest?.repeat.includes(type) ?? false;
  }

  /** Repeats the notice of an action that was sent from an earlier mount of the view. */
  #repeatNotice(type: string): void {
    const { notice, tree } = this.#screen.view;
    const label = findLabel(tree, type);
    if (notice || label === undefined) return;
    this.#screen.update({ notice: { kind: "sent", text: `${quote(label)} was sent.` } });
  }

  say(notice: Notice): void {
    const { version, notice: shown } = this.#screen.view;
    if (notice.kind === "busy") this.#actedOn = version;
    // The result of the action came first.
    else if (notice.kind === "sent" && shown && version > this.#actedOn) return;
    this.#screen.update({ notice });
  }

  picture(): string {
    const { renderId, version, tree } = this.#screen.view;
    return JSON.stringify([renderId, version, tree]);
  }

  /** Reports no size before something is drawn: a host would collapse the frame. */
  #measure(): void {
    const { tree, loading, notice } = this.#screen.view;
    if (!this.#connected || !(tree || loading || notice)) return;
    this.#size ??= watchSize((width, height) => this.#host.reportSize(width, height));
    // Once rows are wrapped, which follows a drawing at once.
    queueMicrotask(this.#size.look);
  }

  #explainInertness(): void {
    if (!this.#isSettled) return;
    const { tree, notice } = this.#screen.view;
    const inert = this.#listRemoteActions(tree).some((action) => !this.#dispatcher.can(action));
    if (inert && !notice && !this.#drawn) this.#screen.update({ notice: INERT });
  }

  /** A host that opens no links leaves it to the browser, which the sandbox may forbid. */
  async #openLink(url: string): Promise<void> {
    const opened = this.#host.can("openLinks")
      ? await this.#host.openLink(url).then(
          () => true,
          () => false,
        )
      : openWindow(url);
    const text = `This host opens no links; the address is ${url}`;
    if (!opened) this.#screen.update({ notice: { kind: "info", text } });
  }
}

/** Most results come before anyone could press a control. */
const PATIENCE_MS = 2000;

const VIEW_ONLY: Notice = {
  kind: "info",
  text: "This is drawn from the arguments alone; controls that need a server are off.",
};

const INERT: Notice = {
  kind: "info",
  text: "This host cannot take the actions of this widget, so those controls are off.",
};

/** Returns the note about the user's action, or what the result says instead of a widget. */
function describeResult({ tree, note, failed, ...result }: Rendered): Notice | undefined {
  if (tree) return note ? { kind: failed ? "problem" : "sent", text: note } : undefined;
  // The details of an error are for the model.
  const reason = result.reason && `: ${result.reason}`;
  if (result.isError) return { kind: "problem", text: `This could not be shown${reason}.` };
  return { kind: "info", text: result.text || "This result holds no widget." };
}
