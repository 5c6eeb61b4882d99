/** Types of `<widgetd-view>`, the element of `/see/static/element.js`. */

/** The widget is drawn; without `controls`, another browser has them. */
export type OpenEvent = CustomEvent<{ tool: string; title: string; controls: boolean }>;

/** The user acted, and the server took it (`accepted`, `done`), or did not. */
export type ActionEvent = CustomEvent<{ action: string; payload: Record<string, unknown>; status: string }>;

/** It has expired, or the address shows nothing; `status` is the server's, 0 if it cannot be reached. */
export type EndEvent = CustomEvent<{ status: number; isShown: boolean }>;

declare global {
  interface HTMLElementTagNameMap {
    "widgetd-view": HTMLElement;
  }
  interface HTMLElementEventMap {
    "widgetd-open": OpenEvent;
    "widgetd-action": ActionEvent;
    "widgetd-end": EndEvent;
  }
}
