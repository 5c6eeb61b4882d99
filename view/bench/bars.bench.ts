/** Prints what the view costs, each as a ratio to the same work without it. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  ALL_ABILITIES,
  bundleHost,
  launch,
  open,
  openHost,
  showInline,
} from "../test/browser/browser";
import { compareInTurns, median, type Ratio } from "./arms";

const ROUNDS = 100;
const FRAME_MS = 1000 / 60;
const MAX_GZIP_BYTES = 92 * 1024;

interface Bar {
  readonly what: string;
  readonly value: string;
  readonly bar: string;
  readonly holds: boolean;
}

/** A card of `count` texts, in rows of two. */
function tree(count: number, word: string) {
  const rows = Array.from({ length: count / 4 }, (_, n) => ({
    type: "Row",
    children: [
      { type: "Icon", name: "star" },
      { type: "Text", value: `${word} ${n}` },
      { type: "Text", value: "beside", color: "secondary" },
    ],
  }));
  return { type: "Card", children: rows };
}

/** A ratio as it is printed; a bar is missed where the whole interval lies beyond it. */
function ratioBar(what: string, { value, low, high }: Ratio, most: number): Bar {
  const seen = `${value.toFixed(2)}× (${low.toFixed(2)} to ${high.toFixed(2)})`;
  return { what, value: seen, bar: `≤ ${most}×`, holds: low <= most };
}

type Page = Awaited<ReturnType<typeof open>>["page"];

/** From the host's message to the second frame after it: the picture stands. */
const PAINTED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`;

/** Milliseconds until a plain page, in a frame like the view's, has painted the same words. */
function plainPaint(page: Page): Promise<number> {
  return page.evaluate(
    async ([painted]) => {
      const start = performance.now();
      const frame = document.createElement("iframe");
      frame.setAttribute("sandbox", "allow-scripts");
      frame.src = "/plain";
      const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
      document.body.append(frame);
      await loaded;
      // biome-ignore lint/security/noGlobalEval: the bench's own expression, shared with the frame
      await eval(painted as string);
      const took = performance.now() - start;
      frame.remove();
      return took;
    },
    [PAINTED],
  );
}

/** Milliseconds until the view, mounted anew, has painted its first result. */
function viewPaint(page: Page, result: unknown): Promise<number> {
  return page.evaluate(
    async ([given, abilities, painted]) => {
      const start = performance.now();
      await window.host.mount({
        src: "/view",
        sandbox: "allow-scripts",
        capabilities: abilities as never,
        context: {},
      });
      const drawn = new Promise<void>((resolve) => {
        const bridge = window.host.bridge as unknown as {
          onsizechange: (size: { height: number }) => void;
        };
        bridge.onsizechange = ({ height }) => height > 100 && resolve();
      });
      await window.host.bridge?.sendToolResult(given as never);
      await drawn;
      // biome-ignore lint/security/noGlobalEval: the bench's own expression, shared with the frame
      await eval(painted as string);
      const took = performance.now() - start;
      document.querySelector("iframe")?.remove();
      return took;
    },
    [result, ALL_ABILITIES, PAINTED] as const,
  );
}

test("the bars of the view", { timeout: 300_000 }, async () => {
  const bars: Bar[] = [];
  const add = (what: string, value: string, bar: string, holds: boolean) =>
    bars.push({ what, value, bar, holds });

  const { gzip_bytes } = JSON.parse(
    readFileSync(new URL("../dist/view.json", import.meta.url), "utf8"),
  );
  add(
    "size, gzipped",
    `${(gzip_bytes / 1024).toFixed(1)} KiB`,
    "≤ 92 KiB",
    gzip_bytes <= MAX_GZIP_BYTES,
  );

  const browser = await launch();
  await bundleHost();
  const small = tree(40, "word");
  const words = small.children
    .map(({ children }) => `<p>${children[1]?.value} beside</p>`)
    .join("");
  const plainHtml = `<!doctype html><title>x</title><body>${words}`;

  const hosted = await openHost(browser, {}, { "/plain": () => plainHtml });
  await hosted.page.evaluate(() => document.querySelector("iframe")?.remove());
  const paint = await compareInTurns(
    ROUNDS,
    () => viewPaint(hosted.page, { content: [], structuredContent: small }),
    () => plainPaint(hosted.page),
  );
  bars.push(ratioBar("first paint of a result, to plain HTML's", paint, 3));
  await hosted.page.close();

  const live = await openHost(browser);
  await live.send("sendToolResult", { content: [], structuredContent: tree(200, "before") });
  await live.view.locator("html[data-ready=true]").waitFor({ state: "attached" });
  const redraws: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const result = { content: [], structuredContent: tree(200, `after ${round}`) };
    const took = await live.view.evaluate((given) => {
      const start = performance.now();
      const message = { jsonrpc: "2.0", method: "ui/notifications/tool-result", params: given };
      window.dispatchEvent(new MessageEvent("message", { data: message, source: window.parent }));
      document.documentElement.getBoundingClientRect();
      return performance.now() - start;
    }, result);
    redraws.push(took);
  }
  expect(await live.view.getByText(`after ${ROUNDS - 1} 0`, { exact: true }).count()).toBe(1);
  const redraw = median(redraws);
  add(
    "a 200-node tree redrawn and laid out",
    `${redraw.toFixed(1)} ms`,
    `≤ ${FRAME_MS.toFixed(1)} ms`,
    redraw <= FRAME_MS,
  );
  await live.page.close();

  const blank = "<!doctype html><title>blank</title>";
  let html = blank;
  const { page } = await open(browser, { "/inline": () => html });
  const picture = await compareInTurns(
    ROUNDS,
    async () => {
      const start = performance.now();
      const shown = (next: string) => {
        html = next;
      };
      await showInline(page, shown, { widget: small });
      await page.screenshot();
      return performance.now() - start;
    },
    async () => {
      html = blank;
      const start = performance.now();
      await page.goto("http://view.test/inline");
      await page.screenshot();
      return performance.now() - start;
    },
  );
  bars.push(ratioBar("a warm picture, to one of a blank page", picture, 2));
  await browser.close();

  const table = bars.map(
    ({ what, value, bar, holds }) =>
      `${what.padEnd(44)}${value.padStart(24)}   ${bar.padEnd(12)}${holds ? "holds" : "MISSED"}`,
  );
  process.stdout.write(`\n${table.join("\n")}\n\n`);
});
