import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { noticesPlugin } from "./plugins/seal.ts";

const root = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");

/** The editor of the gallery: one module, which only the tab that shows it loads. */
export default defineConfig({
  root,
  plugins: [noticesPlugin(root, `${root}/dist/editor/editor.txt`)],
  build: {
    outDir: "dist/editor",
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: "editor/editor.ts",
      preserveEntrySignatures: "strict",
      output: { entryFileNames: "editor.js" },
    },
  },
});
