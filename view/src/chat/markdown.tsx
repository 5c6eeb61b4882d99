/**
 * The view's Markdown for the chat's own page, where a model's words are outside any widget.
 *
 * It differs from the component in three ways, all of them because the page is ours and not a
 * widget's sandbox: code can be copied, only web addresses are links, and pictures are links, since
 * the address of a picture can carry the conversation to its server.
 */

import type { Tokens } from "marked";
import { h, render } from "preact";
import { BLOCKS, type Draw, INLINES, inner, Markdown } from "../components/Markdown";
import { isWebAddress } from "../style/url";

const { code } = BLOCKS as { code: Draw };

BLOCKS.code = (token: Tokens.Code) => (
  <div class="code">
    {code(token as never)}
    <button type="button" onClick={({ currentTarget }) => copy(token.text, currentTarget)}>
      Copy
    </button>
  </div>
);

INLINES.link = (token: Tokens.Link) => link(token.href, inner(token));
INLINES.image = ({ href, text }: Tokens.Image) => link(href, text || href);

function link(href: string, children: ReturnType<Draw>): ReturnType<Draw> {
  if (!isWebAddress(href)) return children;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** Copies `text`, and says so on the button that was pressed. */
export async function copy(text: string, button: HTMLElement): Promise<void> {
  await navigator.clipboard.writeText(text);
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = label;
  }, 1200);
}

/** Draws `value` into `element`, and in its place what was drawn there before. */
export function drawMarkdown(element: HTMLElement, value: string, streaming = false): void {
  render(h(Markdown, { value, streaming, children: [] } as never), element);
}
