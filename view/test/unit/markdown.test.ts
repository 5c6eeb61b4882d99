import { expect, test } from "vitest";
import { draw } from "./draw";

const html = (value: string) => draw({ type: "Markdown", value });

test.each([
  ["# One", "<h2>One</h2>"],
  ["**a** *b* ~~c~~ `d`", "<strong>a</strong> <em>b</em> <del>c</del> <code>d</code>"],
  ["- a\n- b", "<ul><li>a</li><li>b</li></ul>"],
  ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
  ["> a", "<blockquote><p>a</p></blockquote>"],
  ["a\nb", "<p>a<br/>b</p>"],
  ["```\n<b>\n```", "<code>&lt;b></code>"],
  ["AT&amp;T", "<p>AT&amp;T</p>"],
  [
    "[a](https://example.org)",
    '<a href="https://example.org" target="_blank" rel="noopener noreferrer">a</a>',
  ],
])("%j becomes %j", (markdown, expected) => {
  expect(html(markdown)).toContain(expected);
});

test("headings skip no level", () => {
  expect(html("### a\n\n##### b\n\n# c").match(/h\d(?=>\w)/g)).toEqual(["h2", "h3", "h2"]);
});

test("a table has a head, and its columns their alignment", () => {
  const table = html("| a | b |\n|---|--:|\n| 1 | 2 |");
  expect(table).toContain('<th style="text-align:right;">b</th>');
  expect(table).toContain('<td style="text-align:right;">2</td>');
});

test("a task shows a box that says what it is for", () => {
  expect(html("- [x] Ship it")).toContain('aria-label="Ship it"');
});

test.each(["javascript:alert(1)", "data:text/html,x", "vbscript:x", "JaVaScRiPt:alert(1)"])(
  "a link to %j is only its words",
  (url) => {
    expect(html(`[words](${url})`)).toContain("<p>words</p>");
  },
);

test.each(["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=x>b</b>"])(
  "HTML such as %j is shown, not made",
  (markup) => {
    expect(html(markup)).not.toMatch(/<(?:script|img|b)\b/);
  },
);
