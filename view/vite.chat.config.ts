/** Builds the view's Markdown as one module for the chat's page: `dist/markdown.js`. */

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { markedLexer } from "./plugins/lexer.ts";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [markedLexer()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    emptyOutDir: false,
    reportCompressedSize: false,
    modulePreload: false,
    // As a library it would be built with its white space.
    rollupOptions: {
      input: "src/chat/markdown.tsx",
      preserveEntrySignatures: "strict",
      output: { entryFileNames: "markdown.js" },
    },
  },
});
