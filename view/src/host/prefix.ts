/** The names of tools behind a gateway, or in a server that widgetd is mounted in. */

/** The server's names of tools that show any widget. */
const SHOWING = ["render_widget", "show_render"];

/**
 * Returns the prefix that this host puts before the server's own names of tools.
 *
 * `called` is the host's name of the tool that was called, `widget` the server's name of the widget's
 * own tool: `ui_` for `ui_flight_tracker` and `flight_tracker`.
 */
export function findPrefix(called: string | undefined, widget: string | undefined): string {
  if (!called || called === widget) return "";
  const own = [...SHOWING, ...(widget ? [widget] : [])].filter((name) => called.endsWith(name));
  const longest = Math.max(0, ...own.map((name) => name.length));
  return longest ? called.slice(0, -longest) : "";
}
