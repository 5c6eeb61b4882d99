import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleHost, hasBrowser, launch, openHost, VIEW } from "./browser";
import { result } from "./form-widget";

let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await bundleHost();
});
afterAll(() => browser?.close());

const CHILDREN = [
  {
    type: "Input",
    name: "query",
    placeholder: "Filter",
    onChangeAction: { type: "filter.type" },
  },
  { type: "Button", label: "All", onClickAction: { type: "all.toggle" } },
  { type: "Button", label: "Order", onClickAction: { type: "order" } },
];
const buildTree = (query: string, all: string) => ({
  type: "Card",
  children: [
    ...CHILDREN,
    { type: "Text", value: `Filter: ${query}` },
    { type: "Text", value: all },
  ],
});
const PROGRAM = {
  n: 4,
  a: { query: 1, all: 2, title: 3 },
  b: [
    ["out", `${JSON.stringify({ type: "Card", children: CHILDREN }).slice(0, -2)},`],
    ["out", '{"type":"Text","value":', ["json", ["~", "Filter: ", 1]], "},"],
    ["out", '{"type":"Text","value":', ["json", ["?:", 2, "all", 3]], "}]}"],
  ],
  state: { query: "", all: false },
  local: {
    "filter.type": { query: { n: 2, a: { payload: 1 }, e: [".", 1, "query"] } },
    "all.toggle": { all: { n: 2, a: { all: 1 }, e: ["not", 1] } },
  },
};

const withProgram = () => {
  const json = JSON.stringify(PROGRAM);
  const block = `<script type="application/json" id="widgetd-program" data-digest="d1">${json}</script>`;
  return openHost(browser, {}, { "/view": () => VIEW.replace("<head>", `<head>${block}`) });
};

const answer = (
  tree: unknown,
  state: object,
  { program = "d1", title = "some", version = 1 }: Record<string, unknown> = {},
) => {
  const made = result(tree as never) as { _meta: Record<string, Record<string, unknown>> };
  const local = { state, actions: Object.keys(PROGRAM.local), program, arguments: { title } };
  const mark = { ...made._meta["widgetd/render"], version, local };
  return { ...made, _meta: { ...made._meta, "widgetd/render": mark } };
};
const FIRST = { query: "", all: false };

describe.skipIf(!hasBrowser)("a local state", () => {
  test("changes in the page without a message, and typed text stays", async () => {
    const { view, send, recorded, errors } = await withProgram();
    await send("sendToolResult", answer(buildTree("", "some"), FIRST));
    const input = view.getByPlaceholder("Filter");
    await input.pressSequentially("ab");
    await view.getByText("Filter: ab").waitFor();
    await view.getByRole("button", { name: "All" }).click();
    await view.getByText("all", { exact: true }).waitFor();
    await input.focus();
    await input.pressSequentially("c");
    await view.getByText("Filter: abc").waitFor();

    expect(await input.inputValue()).toBe("abc");
    expect(await input.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await view.locator(".notices").innerText()).toBe("");
    expect([await recorded("tool"), await recorded("context"), errors]).toEqual([[], [], []]);
  });

  test("stays over a new version, and goes along with other actions", async () => {
    const { view, send, recorded } = await withProgram();
    await send("sendToolResult", answer(buildTree("", "some"), FIRST));
    await view.getByPlaceholder("Filter").pressSequentially("x");
    const next = { title: "newer", version: 2 };
    await send("sendToolResult", answer(buildTree("", "newer"), FIRST, next));
    await view.getByText("newer").waitFor();
    await view.getByText("Filter: x").waitFor();
    await view.getByRole("button", { name: "Order" }).click();

    await expect.poll(() => recorded("tool")).toHaveLength(1);
    const [call] = (await recorded("tool")) as { arguments: Record<string, unknown> }[];
    expect(call?.arguments).toMatchObject({ action: "order", state: { query: "x", all: false } });
  });

  test("is the server's where the result is of another program", async () => {
    const { page, view, send, recorded } = await withProgram();
    const other = { program: "d2" };
    await send("sendToolResult", answer(buildTree("", "some"), FIRST, other));
    const moved = answer(buildTree("", "all of the server"), { query: "", all: true }, other);
    await page.evaluate((given) => {
      window.host.answer = given as never;
    }, moved);
    await view.getByRole("button", { name: "All" }).click();
    await view.getByText("all of the server").waitFor();
    await view.getByRole("button", { name: "All" }).click();

    await expect.poll(() => recorded("tool")).toHaveLength(2);
    const calls = (await recorded("tool")) as { arguments: Record<string, unknown> }[];
    expect(calls.map(({ arguments: given }) => [given.action, given.state])).toEqual([
      ["all.toggle", FIRST],
      ["all.toggle", { query: "", all: true }],
    ]);
    expect(await view.locator(".notices").innerText()).toBe("");
  });

  test("changes without any result, while other controls are off", async () => {
    const { view, send } = await withProgram();
    await send("sendToolInput", { arguments: { title: "alone" } });
    await view.getByText("alone").waitFor();
    await view.getByRole("button", { name: "All" }).click();
    await view.getByText("all", { exact: true }).waitFor();
    await view.getByText("controls that need a server are off").waitFor();
    expect(await view.getByRole("button", { name: "Order" }).isDisabled()).toBe(true);
  });
});
