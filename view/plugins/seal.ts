/**
 * Seals the built page: its checksum, the hash of what it was built from, the content security
 * policy sources of its one script and one style, and the notices of the packages inside it.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Plugin, Rollup } from "vite";
import { iconShapes, type Shape } from "./icons.ts";

const SEALED = ["plugins", "src"];
const SEALED_FILES = [
  "package-lock.json",
  "package.json",
  "palette.json",
  "view.html",
  "vite.chat.config.ts",
  "vite.config.ts",
  "vocabulary.json",
];
/** Its tokens and icons are in the page, though none of its modules is. */
const GENERATED_FROM = "@openai/apps-sdk-ui";

/** Writes `view.json`, `icons.txt` and `NOTICES.txt` beside the built `view.html`. */
export function seal(root: string, out: string): Plugin {
  const bundled = new Set([GENERATED_FROM]);
  return {
    name: "widgetd:seal",
    apply: "build",
    generateBundle: collectPackages(bundled),
    closeBundle() {
      const page = readFileSync(`${out}/view.html`);
      writeFileSync(
        `${out}/view.json`,
        `${JSON.stringify(checksum(page, sourceHash(root)), null, 2)}\n`,
      );
      writeFileSync(`${out}/icons.txt`, icons(root));
      writeFileSync(`${out}/NOTICES.txt`, notices(root, [...bundled].sort()));
    },
  };
}

function checksum(page: Buffer, source: string): Record<string, unknown> {
  const html = page.toString("utf8");
  return {
    sha256: sha256(page),
    bytes: page.length,
    gzip_bytes: gzipSync(page, { level: 9 }).length,
    source_sha256: source,
    csp: {
      "script-src": cspSource(html, /<script type="module"[^>]*>([\s\S]*?)<\/script>/),
      "style-src": cspSource(html, /<style[^>]*>([\s\S]*?)<\/style>/),
    },
  };
}

function cspSource(html: string, element: RegExp): string {
  const content = element.exec(html)?.[1];
  if (!content) throw new Error(`the page holds no ${element.source}`);
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

/** Returns the hash of `sha256sum`'s output over the sources, so that any tool can check it. */
function sourceHash(root: string): string {
  const listed = SEALED.flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length + 1)),
  );
  const lines = [...SEALED_FILES, ...listed]
    .sort()
    .map((path) => `${sha256(readFileSync(`${root}/${path}`))}  ${path}\n`);
  return sha256(Buffer.from(lines.join("")));
}

/** Returns the icons that ChatKit names in the form of `lucide.txt`, for renderers elsewhere. */
function icons(root: string): string {
  const { icons } = JSON.parse(readFileSync(`${root}/vocabulary.json`, "utf8"));
  const named = Object.entries(iconShapes(root, [...icons].sort()));
  const short = ([tag, attributes]: Shape) => {
    const { d, ...rest } = attributes;
    return tag === "path" && Object.keys(rest).length === 0 ? d : [tag, attributes];
  };
  return named.map(([name, shapes]) => `${name}\t${JSON.stringify(shapes.map(short))}\n`).join("");
}

/** Writes the notices of the packages in a bundle to `file`. */
export function noticesPlugin(root: string, file: string): Plugin {
  const bundled = new Set<string>();
  return {
    name: "widgetd:notices",
    apply: "build",
    generateBundle: collectPackages(bundled),
    closeBundle() {
      const name = file.replace(/.*\//, "").replace(".txt", ".js");
      writeFileSync(file, notices(root, [...bundled].sort(), name));
    },
  };
}

/** Returns a hook that adds the packages of a bundle to `packages`. */
function collectPackages(packages: Set<string>) {
  return (_options: unknown, bundle: Rollup.OutputBundle): void => {
    for (const chunk of Object.values(bundle)) {
      const ids = chunk.type === "chunk" ? chunk.moduleIds : [];
      for (const name of ids.map(findPackage)) if (name) packages.add(name);
    }
  };
}

function findPackage(id: string): string | undefined {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
}

function notices(root: string, packages: readonly string[], file = "view.html"): string {
  const parts = packages.map((name) => {
    const folder = `${root}/node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].find((each) =>
      existsSync(`${folder}/${each}`),
    );
    if (!file) throw new Error(`${name}: no licence file to ship`);
    return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
  });
  const head = `${file} holds code, tokens or icons of these packages, under their licences.\n`;
  return [head, ...parts].join(`\n${"-".repeat(78)}\n\n`);
}

const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");
