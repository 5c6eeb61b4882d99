/** Leaves marked's parser and renderer out of a bundle: of the library, only the lexer is used. */

import type { Plugin } from "vite";

/** The end of the module: properties assigned to `marked`, so that no bundler may drop it. */
const MARKED = /var ([\w$]+)=new [\w$]+;function [\w$]+\(\w,\w\)\{return \1\.parse\(.*$/s;

export function markedLexer(): Plugin {
  return {
    name: "widgetd:lexer",
    apply: "build",
    transform(code, id) {
      if (!id.endsWith("/marked.esm.js")) return undefined;
      const lexer = /[\w$]+ as Lexer\b/.exec(code)?.[0];
      if (!lexer || !MARKED.test(code)) throw new Error("marked ends otherwise than it did");
      return { code: code.replace(MARKED, `export{${lexer}};`), map: null };
    },
  };
}
