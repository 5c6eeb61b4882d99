/**
 * Streams the arguments of bundled widgets at a model's pace, and prints when their first text is
 * there, with the widget's program in its page and without.
 *
 * With FILM=file.png it draws a sheet of them instead: a row for each widget, a frame for each
 * eighth of its arguments and one for the result, and how far its layout jumped. ALL=1 takes all
 * bundled widgets.
 */

import { writeFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { test } from "vitest";
import { bundleHost, type Hosted, hasBrowser, launch, openHost } from "../test/browser/browser";
import { hasDaemon } from "../test/browser/daemon";
import { bundledWidgets, type Served } from "../test/browser/widgets";
import { median } from "./arms";
import { closeJson } from "./closed";

const TOKENS_A_SECOND = 40;
const CHARACTERS_A_TOKEN = 4;
const FILM = process.env.FILM;
const FRAMES = 8;
const CHOSEN = process.env.ALL
  ? []
  : [
      ...["table", "playlist", "flight_tracker", "weather_forecast"],
      ...["purchase_items", "chart", "event_session", "lead_form"],
    ];

const PROGRAM = /<script type="application\/json" id="widgetd-program".*?<\/script>/s;
const show = (browser: Browser, html: string): Promise<Hosted> =>
  openHost(browser, {}, { "/view": () => html });

/** Resolves once the view shows a text. */
const firstText = ({ view }: Hosted): Promise<unknown> =>
  view.waitForFunction(() => {
    const shown = document.querySelector("#stage > :not(h1):not(.notices)");
    return (shown as HTMLElement | null)?.innerText.trim();
  });

/** Seconds from the first token to the first text. */
async function measureWait(
  browser: Browser,
  html: string,
  { args, result }: Served,
): Promise<number> {
  const hosted = await show(browser, html);
  const json = JSON.stringify(args);
  const began = performance.now();
  let isShown = false;
  const shown = firstText(hosted).then(() => {
    isShown = true;
    return (performance.now() - began) / 1000;
  });
  for (let end = CHARACTERS_A_TOKEN; end < json.length && !isShown; end += CHARACTERS_A_TOKEN) {
    await hosted.send("sendToolInputPartial", { arguments: closeJson(json.slice(0, end)) ?? {} });
    const due = began + (1000 * end) / CHARACTERS_A_TOKEN / TOKENS_A_SECOND;
    await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
  }
  if (!isShown) {
    await hosted.send("sendToolInput", { arguments: args });
    await hosted.send("sendToolResult", result);
  }
  const spent = await shown;
  await hosted.page.close();
  return spent;
}

interface Reel {
  readonly name: string;
  readonly frames: readonly string[];
  /** Chromium's layout shift score, summed up over the arguments; and of the result. */
  readonly shift: number;
  readonly last: number;
}

const waitForPaint = ({ view }: Hosted) =>
  view.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 150))));

async function film(browser: Browser, { name, page: html, args, result }: Served): Promise<Reel> {
  const hosted = await show(browser, html);
  const { view } = hosted;
  await view.evaluate(() => {
    const scores = { total: 0 };
    Object.assign(window, { scores });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        scores.total += (entry as unknown as { value: number }).value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  const score = () =>
    view.evaluate(() => (window as unknown as { scores: { total: number } }).scores.total);
  const json = JSON.stringify(args);
  const frames: string[] = [];
  const take = async () => {
    await waitForPaint(hosted);
    frames.push((await hosted.page.screenshot()).toString("base64"));
  };
  for (let at = 1; at <= FRAMES; at++) {
    const begun = Math.floor((json.length * (at - 1)) / FRAMES) + 1;
    const end = Math.floor((json.length * at) / FRAMES);
    for (let to = begun; to < end; to += 16 * CHARACTERS_A_TOKEN) {
      await hosted.send("sendToolInputPartial", { arguments: closeJson(json.slice(0, to)) ?? {} });
      await view.evaluate(() => new Promise(requestAnimationFrame));
    }
    await take();
  }
  const shift = await score();
  await hosted.send("sendToolInput", { arguments: args });
  await hosted.send("sendToolResult", result);
  await take();
  const last = (await score()) - shift;
  await hosted.page.close();
  return { name, frames, shift, last };
}

async function sheet(browser: Browser, reels: readonly Reel[]): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 190 * (FRAMES + 1), height: 900 } });
  const row = ({ name, frames, shift, last }: Reel) =>
    `<h2>${name}: layout shift ${shift.toFixed(3)}, of the result ${last.toFixed(3)}</h2><div>` +
    frames.map((frame) => `<img src="data:image/png;base64,${frame}">`).join("");
  await page.setContent(`<style>
    body { margin: 8px; font: 12px sans-serif } h2 { font-size: 13px; margin: 8px 0 2px }
    div { display: flex } img { width: 186px; height: 300px; object-fit: cover; object-position: top }
    img { border: 1px solid #ccc }</style>${reels.map((reel) => `${row(reel)}</div>`).join("")}`);
  const made = await page.screenshot({ fullPage: true });
  await page.close();
  return made;
}

test.skipIf(!hasBrowser || !hasDaemon)("streams", { timeout: 600_000 }, async () => {
  await bundleHost();
  const widgets = (await bundledWidgets()).filter(
    ({ name }) => !CHOSEN.length || CHOSEN.includes(name),
  );
  const browser = await launch();
  if (FILM) {
    const reels: Reel[] = [];
    for (const widget of widgets) reels.push(await film(browser, widget));
    writeFileSync(FILM, await sheet(browser, reels));
    for (const { name, shift, last } of reels) {
      process.stdout.write(`${name.padEnd(20)}${shift.toFixed(3)} ${last.toFixed(3)}\n`);
    }
  } else {
    const rows: [string, number, number][] = [];
    for (const widget of widgets) {
      const own = await measureWait(browser, widget.page, widget);
      const bare = await measureWait(browser, widget.page.replace(PROGRAM, ""), widget);
      rows.push([`${widget.name}, ${JSON.stringify(widget.args).length} characters`, own, bare]);
    }
    rows.push(["median", median(rows.map((row) => row[1])), median(rows.map((row) => row[2]))]);
    const lines = rows.map(
      ([name, own, bare]) =>
        `${name.padEnd(40)}${own.toFixed(2).padStart(8)} s ${bare.toFixed(2).padStart(8)} s`,
    );
    const head = `first text at ${TOKENS_A_SECOND} tokens a second`.padEnd(40);
    process.stdout.write(`\n${head}${"program".padStart(10)}${"none".padStart(11)}\n`);
    process.stdout.write(`${lines.join("\n")}\n\n`);
  }
  await browser.close();
});
