/**
 * `<widgetd-view address="http://127.0.0.1:8787/see/r_…">`: one render, as its own page shows it.
 *
 * The view draws it in a sandbox, follows its updates, and sends what the user does.
 * `examples/web/widgetd-view.d.ts` has the types of its events: `widgetd-open`, `-action` and `-end`.
 */

import { Frame } from "./host.js";

const ABILITIES = { openLinks: {}, serverTools: {}, logging: {} };
const dark = matchMedia("(prefers-color-scheme: dark)");
const print = matchMedia("print");

export class WidgetdView extends HTMLElement {
  static observedAttributes = ["address", "theme"];
  #frame;
  #address;

  attributeChangedCallback(name, before, now) {
    if (name === "theme") this.#follow();
    else if (now && now !== before) void this.#open(now);
  }

  connectedCallback() {
    for (const query of [dark, print]) query.addEventListener("change", this.#follow);
  }

  disconnectedCallback() {
    for (const query of [dark, print]) query.removeEventListener("change", this.#follow);
    this.#frame?.remove();
  }

  get #theme() {
    if (print.matches) return "light";
    return this.getAttribute("theme") || (dark.matches ? "dark" : "light");
  }

  #follow = () => this.#frame?.change({ theme: this.#theme });

  async #open(address) {
    const [base, signature = ""] = address.split("#");
    this.#address = base;
    this.#frame?.remove();
    this.#frame = undefined;
    try {
      const { tool, title, controls, policy, result } = await this.#post("", { signature });
      const frame = new Frame({
        tool,
        title,
        theme: this.#theme,
        locale: this.getAttribute("locale") || undefined,
        name: "widgetd-view",
        abilities: ABILITIES,
        src: await this.#findSource(policy),
        sized: (height) => (frame.element.style.height = `${height}px`),
        sent: ({ kind, url }) => kind === "link" && window.open(url, "_blank", "noopener,noreferrer"),
        call: (name, given) => this.#call(name, given),
      });
      this.#frame = frame;
      frame.element.style.cssText += "display: block; width: 100%; border: 0";
      frame.element.inert = !controls;
      frame.show(result);
      this.replaceChildren(frame.element);
      this.#tell("open", { tool, title, controls });
    } catch (error) {
      this.#end(error.status ?? 0);
    }
  }

  /** A page of another origin may not frame the view, but may show its text. */
  async #findSource(policy) {
    const source = `${this.#address}/frame`;
    if (new URL(source, location.href).origin === location.origin) return source;
    const inPage = policy.replace(/; (frame-ancestors|sandbox)[^;]*/g, "");
    const text = (await (await fetch(source)).text()).replace("<head>", `<head><meta http-equiv="content-security-policy" content="${inPage}">`);
    return URL.createObjectURL(new Blob([text], { type: "text/html" }));
  }

  async #call(name, given) {
    let result;
    try {
      result = await this.#post(`/${name}`, given);
    } catch (error) {
      if (error.status === 404) this.#end(404);
      if (name === "widget_action") this.#tell("action", { action: given.action, payload: given.payload, status: "failed" });
      throw error;
    }
    const status = result.structuredContent?.status;
    if (name === "follow_render" && status === "expired") this.#end(404);
    if (name === "widget_action" && status && status !== "confirm") {
      this.#tell("action", { action: given.action, payload: given.payload, status });
    }
    return result;
  }

  async #post(path, body) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(this.#address + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
    return answer;
  }

  #end(status) {
    const isShown = this.#frame !== undefined;
    if (isShown) this.#frame.element.inert = true;
    this.#tell("end", { status, isShown });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(`widgetd-${name}`, { detail, bubbles: true }));
  }
}

customElements.define("widgetd-view", WidgetdView);
