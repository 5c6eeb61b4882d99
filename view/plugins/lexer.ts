/** Leaves marked's parser and renderer out of a bundle: of the library, only the lexer is used. */

import type { Plugin } from "vite";

/** The end of the module: properties assigned to `marked`, so that no bundler may drop it. */
const MARKED = /var ([\w$]+)=new [\w$]+;function [\w$]+\(\w,\w\)\{return \1\.parse\(.*$/s;

/** Options of marked, as the view uses it: the minifier drops what depends on the others. */
const OPTIONS = {
  pedantic: "false",
  silent: "false",
  gfm: "true",
  breaks: "true",
  extensions: "(void 0)",
  hooks: "(void 0)",
};
const OPTION = new RegExp(`this\\.options\\.(${Object.keys(OPTIONS).join("|")})\\b`, "g");

export function markedLexer(): Plugin {
  return {
    name: "widgetd:lexer",
    apply: "build",
    transform(code, id) {
      if (!id.endsWith("/marked.esm.js")) return undefined;
      const lexer = /[\w$]+ as Lexer\b/.exec(code)?.[0];
      if (!lexer || !MARKED.test(code)) throw new Error("marked ends otherwise than it did");
      const used = code
        .replace(MARKED, `export{${lexer}};`)
        .replace(OPTION, (_, name: keyof typeof OPTIONS) => OPTIONS[name]);
      return { code: used, map: null };
    },
  };
}
