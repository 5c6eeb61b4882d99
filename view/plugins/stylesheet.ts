/** Reads custom properties from a stylesheet. */

export type Declarations = Map<string, string>;

const COMMENT = /\/\*[\s\S]*?\*\//g;

/**
 * Returns the custom properties of every rule, in order, beside the rule's selector.
 * Rules inside a media query are left out: they are refinements, not the tokens themselves.
 */
export function customProperties(css: string): { selector: string; declarations: Declarations }[] {
  const rules: { selector: string; declarations: Declarations }[] = [];
  walk(css.replace(COMMENT, ""), rules);
  return rules;
}

function walk(css: string, rules: { selector: string; declarations: Declarations }[]): void {
  for (let at = 0; at < css.length; ) {
    const open = css.indexOf("{", at);
    if (open < 0) return;
    const close = closing(css, open);
    const selector = css.slice(at, open).trim();
    const body = css.slice(open + 1, close);
    if (selector.startsWith("@layer")) walk(body, rules);
    else if (!selector.startsWith("@media")) {
      rules.push({ selector, declarations: declarations(body) });
    }
    at = close + 1;
  }
}

function closing(css: string, open: number): number {
  let depth = 0;
  for (let at = open; at < css.length; at++) {
    if (css[at] === "{") depth++;
    else if (css[at] === "}" && --depth === 0) return at;
  }
  throw new Error("a rule is never closed");
}

function declarations(body: string): Declarations {
  const found: Declarations = new Map();
  for (const [, name, value] of body.matchAll(/(--[\w-]+)\s*:\s*([^;{}]+)/g)) {
    if (name && value) found.set(name, value.replace(/\s+/g, " ").trim());
  }
  return found;
}
