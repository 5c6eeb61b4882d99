/** A Chromium without a network: pages come from memory, and everything else is refused. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Frame, type Page } from "playwright-core";
import { build, type Rollup } from "vite";
import type { Mount } from "./host-page";

const HERE = fileURLToPath(new URL(".", import.meta.url));
export const VIEW = readFileSync(`${HERE}../../dist/view.html`, "utf8");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const hasBrowser = existsSync(CHROMIUM);
if (!hasBrowser) process.emitWarning(`no browser at ${CHROMIUM}: the browser tests are left out`);

/** The policy of the specification for a view that declares no origins. */
const DEFAULT_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "media-src 'self' data:",
  "connect-src 'none'",
];
/** Beyond the specification: no form target, and no markup made from text anywhere. */
const STRICT_POLICY = [
  ...DEFAULT_POLICY,
  "form-action 'none'",
  "require-trusted-types-for 'script'",
];

export const ALL_ABILITIES = {
  serverTools: {},
  message: {},
  updateModelContext: {},
  openLinks: {},
  logging: {},
};

export function launch(): Promise<Browser> {
  const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
  const silent = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return chromium.launch({ executablePath: CHROMIUM, args: [...flags, ...silent] });
}

/** A page that collects what went wrong in it; `html` says what each address serves. */
export async function open(
  browser: Browser,
  html: Record<string, () => string>,
  viewport?: Viewport,
) {
  const page = await browser.newPage({ viewport: viewport ?? { width: 440, height: 900 } });
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    const harmless = /Failed to load resource|Refused to load the image|img-src/.test(
      message.text(),
    );
    if (message.type() === "error" && !harmless) errors.push(message.text());
  });
  await page.route("**/*", (route) => {
    const body = html[new URL(route.request().url()).pathname];
    if (!body) return route.abort();
    const headers = { "content-security-policy": STRICT_POLICY.join("; ") };
    return route.fulfill({
      body: body(),
      contentType: "text/html",
      ...(body === hostHtml ? {} : { headers }),
    });
  });
  return { page, errors };
}

interface Viewport {
  readonly width: number;
  readonly height: number;
}

/** Shows a tree in the page itself. */
export async function showInline(
  page: Page,
  set: (html: string) => void,
  inline: unknown,
): Promise<void> {
  const json = JSON.stringify(inline).replace(/</g, "\\u003c");
  const data = `<script type="application/json" id="widgetd-tree">${json}</script></head>`;
  set(VIEW.replace("</head>", () => data));
  await page.goto("http://view.test/inline");
  await page.locator("html[data-ready=true]").waitFor({ state: "attached" });
}

/** An empty page, and a way to show trees on it. */
export async function blank(browser: Browser, width = 400) {
  let html = "";
  const { page, errors } = await open(browser, { "/inline": () => html }, { width, height: 900 });
  const show = (inline: unknown) =>
    showInline(
      page,
      (next) => {
        html = next;
      },
      inline,
    );
  return { page, errors, show };
}

let hostScript = "";
const hostHtml = () => `<!doctype html><title>Host</title><body><script>${hostScript}</script>`;

/** Bundles the host page once; call it before the first `openHost`. */
export async function bundleHost(): Promise<void> {
  hostScript = await bundled("host-page.ts");
}

/** Returns a script of this folder bundled with its imports, for use in a page. */
export async function bundled(name: string): Promise<string> {
  const bundle = (await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      lib: { entry: `${HERE}${name}`, formats: ["iife"], name: "host" },
    },
  })) as Rollup.RollupOutput[];
  return (bundle[0]?.output[0].code ?? "").replace(/<\/script/g, "<\\/script");
}

export interface Hosted {
  readonly page: Page;
  readonly view: Frame;
  readonly errors: string[];
  send(method: string, params?: unknown): Promise<unknown>;
  recorded(kind: string): Promise<unknown[]>;
}

/** A host with the view in it, hands shaken. */
export async function openHost(
  browser: Browser,
  mount: Partial<Mount> = {},
  more: Record<string, () => string> = {},
): Promise<Hosted> {
  const { page, errors } = await open(browser, { "/host": hostHtml, "/view": () => VIEW, ...more });
  await page.goto("http://view.test/host");
  await page.evaluate((given) => window.host.mount(given), {
    src: "/view",
    sandbox: "allow-scripts",
    capabilities: ALL_ABILITIES,
    context: { theme: "light", locale: "en-US" },
    ...mount,
  } as Mount);
  const view = page.frames().find((frame) => frame.url().endsWith("/view"));
  if (!view) throw new Error("the view is not there");
  return {
    page,
    view,
    errors,
    send: (method, params) =>
      page.evaluate(
        ([name, given]) => {
          const bridge = window.host.bridge as unknown as Record<
            string,
            (params: unknown) => unknown
          >;
          return bridge[name]?.(given);
        },
        [method, params] as const,
      ),
    recorded: (kind) =>
      page.evaluate(
        (wanted) =>
          window.host.recorded.filter((each) => each.kind === wanted).map(({ params }) => params),
        kind,
      ),
  };
}
