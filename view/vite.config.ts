import { fileURLToPath } from "node:url";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";
import { generated } from "./plugins/generated.ts";
import { markedLexer } from "./plugins/lexer.ts";
import { seal } from "./plugins/seal.ts";

const root = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");

export default defineConfig({
  root,
  plugins: [
    generated(root),
    markedLexer(),
    viteSingleFile({ removeViteModuleLoader: true }),
    seal(root, `${root}/dist`),
  ],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    cssTarget: ["chrome120", "firefox121", "safari17.4"],
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: "view.html" },
  },
  test: {
    projects: [
      { extends: true, test: { name: "bench", include: ["bench/**/*.bench.ts"] } },
      { extends: true, test: { name: "unit", include: ["test/unit/**/*.test.{ts,tsx}"] } },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          // A machine that others use too; what passed the second time is said in the report.
          retry: process.env.CI ? 1 : 0,
        },
      },
    ],
  },
});
