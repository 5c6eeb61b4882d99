/** Keeps the screen in step with the host: what it says is shown, what the user does is sent. */

import { type Action, actionsIn, labelOf } from "../actions/action";
import { Dispatcher, quoted, type Surface } from "../actions/dispatch";
import type { HostContext } from "../host/context";
import { Follower } from "../host/follow";
import type { Host, HostEvents } from "../host/host";
import { recover } from "../host/recover";
import type { Rendered } from "../host/result";
import { RpcError } from "../host/rpc";
import { isSame, type PageProgram } from "../program/draw";
import type { JsonObject, WidgetNode } from "../tree/node";
import { ArgumentDrawer, type Drawing } from "./arguments";
import { openWindow } from "./link";
import { announceReady } from "./ready";
import { Screen } from "./screen";
import { type SizeWatch, watchSize } from "./size";
import type { Notice, View } from "./view";

export class Embedded implements HostEvents, Surface {
  readonly #host: Host;
  readonly #dispatcher: Dispatcher;
  readonly #screen: Screen;
  readonly #follower: Follower;
  #connected = false;
  /** Resolves once the host has answered the handshake or refused it. */
  #handshake: Promise<boolean> = Promise.resolve(false);
  #isSettled = false;
  #arguments: JsonObject | undefined;
  #latest: Rendered | undefined;
  /** The version that was shown when the action was taken that is under way. */
  #actedOn = 1;
  #size: SizeWatch | undefined;
  readonly #drawer: ArgumentDrawer | undefined;
  /** What the page drew from the arguments, as long as no result has come. */
  #drawn: WidgetNode | undefined;

  constructor(element: HTMLElement, host: Host, program?: PageProgram) {
    this.#host = host;
    this.#drawer = program && new ArgumentDrawer(program, (drawing) => this.#preview(drawing));
    this.#dispatcher = new Dispatcher(host, this);
    this.#follower = new Follower(
      host,
      (result) => this.show(result),
      (action) => this.#remind(action),
    );
    this.#screen = new Screen(element, {
      can: (action) => this.#can(action),
      act: (request) => this.#dispatcher.send(request),
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
    this.#reconsider();
  }

  /** What the host can do is known now, and a result may have come before. */
  #reconsider(): void {
    const { notice } = this.#screen.view;
    if (notice === INERT) this.#screen.update({ notice: undefined });
    this.#measure();
    this.#explainInertness();
    this.#follow();
  }

  inputArrived(args: JsonObject, isWhole: boolean): void {
    if (isWhole) this.#arguments = args;
    this.#screen.update({ loading: true, notice: undefined });
    this.#drawer?.draw(args, isWhole);
  }

  /** Shows what the arguments make; the result's tree takes its place. */
  #preview({ tree, icons, isWhole }: Drawing): void {
    this.#drawn = tree;
    this.#screen.update({ tree, icons });
    if (isWhole) setTimeout(() => this.#explainPreview(tree), PATIENCE_MS);
  }

  /** Says that the controls are off, where no result has come for a while. */
  #explainPreview(tree: WidgetNode): void {
    if (this.#drawn !== tree) return;
    const isInert = [...actionsIn(tree)].length > 0;
    this.#screen.update({ loading: false, ...(isInert && { notice: VIEW_ONLY }) });
    void announceReady();
  }

  /** Without a render the server knows nothing that an action could be about. */
  #can(action: Action): boolean {
    return !this.#drawn && this.#dispatcher.can(action);
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
    if (!found?.tree && this.#drawn) this.#explainPreview(this.#drawn);
    else this.show(found ?? stripped);
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
    // What was on its way while something newer came.
    if (result.renderId && result.renderId === renderId && result.version < version) return;
    this.#latest = result;
    this.#replacePreview(result.tree);
    this.#screen.update({
      tree: result.tree,
      icons: result.icons,
      renderId: result.renderId ?? renderId,
      version: result.version,
      loading: false,
      notice: result.tree ? outcome(result) : emptiness(result),
    });
    this.#explainInertness();
    void announceReady();
    this.#follow();
  }

  #follow(): void {
    const { follow, renderId, version } = this.#latest ?? {};
    if (follow && renderId) this.#follower.follow(renderId, version ?? 1);
  }

  /** The server's tree wins; that the page's was another is a fault, told without its values. */
  #replacePreview(tree: WidgetNode | undefined): void {
    const drawn = this.#drawn;
    this.#drawer?.stop();
    this.#drawn = undefined;
    if (drawn && tree && this.#drawer?.isWhole && !isSame(drawn, tree)) {
      this.#host.log("warning", { event: "tree.differed" });
    }
  }

  version(): number {
    return this.#screen.view.version;
  }

  repeats(type: string): boolean {
    return this.#latest?.repeat.includes(type) ?? false;
  }

  /** Says what the user had done before the host took the view away and mounted it again. */
  #remind(type: string): void {
    const { notice, tree } = this.#screen.view;
    const label = labelOf(tree, type);
    if (notice || label === undefined) return;
    this.#screen.update({ notice: { kind: "sent", text: `${quoted(label)} was sent.` } });
  }

  say(notice: Notice): void {
    const { version, notice: shown } = this.#screen.view;
    if (notice.kind === "busy") this.#actedOn = version;
    // What came of it was quicker than the word that it was sent.
    else if (notice.kind === "sent" && shown && version > this.#actedOn) return;
    this.#screen.update({ notice });
  }

  picture(): string {
    const { renderId, version, tree } = this.#screen.view;
    return JSON.stringify([renderId, version, tree]);
  }

  /** Says nothing of the size before there is something to see: a host would fold the frame. */
  #measure(): void {
    const { tree, loading, notice } = this.#screen.view;
    if (!this.#connected || !(tree || loading || notice)) return;
    this.#size ??= watchSize((width, height) => this.#host.resized(width, height));
    this.#size.look();
  }

  #explainInertness(): void {
    if (!this.#isSettled) return;
    const { tree, notice } = this.#screen.view;
    const inert = [...actionsIn(tree)].some((action) => !this.#dispatcher.can(action));
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
    if (!opened) this.#screen.update({ notice: unopened(url) });
  }
}

/** Most results come before anyone could press a control. */
const PATIENCE_MS = 2000;

const VIEW_ONLY: Notice = {
  kind: "info",
  text: "This is drawn from the arguments alone; its controls turn on when the result arrives.",
};

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

const INERT: Notice = {
  kind: "info",
  text: "This host cannot take the actions of this widget, so those controls are off.",
};

/** What came of what the user did, where whoever drew it said so. */
function outcome({ note, failed }: Rendered): Notice | undefined {
  return note ? { kind: failed ? "problem" : "sent", text: note } : undefined;
}

/** What went wrong is for the model, which reads it and calls again; people read that it did. */
function emptiness({ isError, reason, text }: Rendered): Notice {
  if (isError) {
    const text = `This could not be shown${reason && `: ${reason}`}.`;
    return { kind: "problem", text };
  }
  return { kind: "info", text: text || "This result holds no widget." };
}

function unopened(url: string): Notice {
  return { kind: "info", text: `This host opens no links; the address is ${url}` };
}
