import { expect, test } from "vitest";
import { findPrefix } from "../../src/host/prefix";

test.each([
  ["flight_tracker", "flight_tracker", ""],
  ["ui_flight_tracker", "flight_tracker", "ui_"],
  ["mcp__widgets__flight_tracker", "flight_tracker", "mcp__widgets__"],
  ["ui_render_widget", "flight_tracker", "ui_"],
  ["show_render", "render", ""],
  ["ui_show_render", "render", "ui_"],
  ["my_show_render", "my_show_render", ""],
  ["something_else", "flight_tracker", ""],
  [undefined, "flight_tracker", ""],
  ["ui_flight_tracker", undefined, ""],
] as const)("a host that calls %s for %s has %j before every tool", (called, widget, prefix) => {
  expect(findPrefix(called, widget)).toBe(prefix);
});
