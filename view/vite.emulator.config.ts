/** Bundles the emulated host that `widgetd test --client` uses. */

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { noticesPlugin } from "./plugins/seal.ts";

const root = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");

export default defineConfig({
  root,
  plugins: [noticesPlugin(root, `${root}/dist/emulator.txt`)],
  build: {
    target: "es2022",
    emptyOutDir: false,
    reportCompressedSize: false,
    lib: { entry: "emulator/emulator.ts", formats: ["iife"], name: "emulator" },
    rollupOptions: { output: { entryFileNames: "emulator.js" } },
  },
});
