/** Markdown as elements: marked finds the tokens, and only the tokens named here are drawn. */

import { Lexer, type Token, type Tokens } from "marked";
import { type ComponentChildren, h, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { StageContext } from "../app/stage";
import { linkAddress, picture } from "../style/url";
import { markLongWords } from "../style/words";
import { component } from "../tree/component";
import { flag, type Props, text } from "../tree/read";

const schema = { value: text, streaming: flag(false) };

export function Markdown({ value, streaming }: Props<typeof schema>) {
  return (
    <div
      class={`markdown ${streaming ? "streaming" : ""}`}
      dir="auto"
      aria-busy={streaming || undefined}
    >
      {draw(levelHeadings(new Lexer({ gfm: true, breaks: true }).lex(value)))}
    </div>
  );
}

type Leveled = Tokens.Heading & { readonly level?: number };

/** Levels the headings, so that each is at most one below the last, and the first below the page's. */
function levelHeadings(tokens: readonly Token[]): Token[] {
  const open: number[] = [];
  return tokens.map((token) => {
    if (token.type !== "heading") return token;
    while (open.length > 0 && (open.at(-1) ?? 0) >= token.depth) open.pop();
    open.push(token.depth);
    return { ...token, level: Math.min(6, open.length + 1) };
  });
}

export type Draw = (token: never) => ComponentChildren;

export const BLOCKS: Record<string, Draw> = {
  heading: (token: Leveled) => h(`h${token.level ?? 6}`, {}, inner(token)),
  paragraph: (token: Tokens.Paragraph) => <p>{inner(token)}</p>,
  blockquote: (token: Tokens.Blockquote) => <blockquote>{inner(token)}</blockquote>,
  code: (token: Tokens.Code) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a code block that scrolls must be reachable by keyboard
    <pre tabIndex={0}>
      <code>{token.text}</code>
    </pre>
  ),
  hr: () => <hr />,
  list: (token: Tokens.List) =>
    h(
      token.ordered ? "ol" : "ul",
      { start: token.start || undefined },
      token.items.map(drawListItem),
    ),
  table: (token: Tokens.Table) => drawTable(token),
  space: () => null,
  def: () => null,
  checkbox: () => null,
};

export const INLINES: Record<string, Draw> = {
  text: (token: Tokens.Text) => (token.tokens ? inner(token) : markText(token.text)),
  escape: (token: Tokens.Escape) => markText(token.text),
  strong: (token: Tokens.Strong) => <strong>{inner(token)}</strong>,
  em: (token: Tokens.Em) => <em>{inner(token)}</em>,
  del: (token: Tokens.Del) => <del>{inner(token)}</del>,
  codespan: (token: Tokens.Codespan) => <code>{markLongWords(token.text)}</code>,
  br: () => <br />,
  link: (token: Tokens.Link) => <Link href={token.href}>{inner(token)}</Link>,
  image: (token: Tokens.Image) => drawImage(token),
};

/** HTML, and all else that the tables lack, is shown as text. */
function draw(tokens: readonly Token[]): ComponentChildren[] {
  return tokens.map((token) => {
    const drawn = BLOCKS[token.type] ?? INLINES[token.type];
    return drawn ? drawn(token as never) : token.raw;
  });
}

export const inner = (token: { tokens?: Token[] }) => draw(token.tokens ?? []);

/** marked leaves entities as they were written. */
function markText(text: string): ComponentChildren {
  return markLongWords(
    text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (name) => ENTITIES[name] ?? name),
  );
}

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
};

function drawListItem(item: Tokens.ListItem): VNode {
  const content = inner(item);
  if (!item.task) return <li>{content}</li>;
  return (
    <li class="task">
      <input
        type="checkbox"
        class="tick"
        checked={item.checked === true}
        disabled
        aria-label={item.text}
      />
      <div>{content}</div>
    </li>
  );
}

function drawTable({ header, rows }: Tokens.Table): VNode {
  const cells = (row: Tokens.TableCell[], tag: "th" | "td") =>
    row.map((cell) => h(tag, { style: { textAlign: cell.align ?? undefined } }, inner(cell)));
  return (
    <div class="table-scroll">
      <table class="table">
        <thead>
          <tr>{cells(header, "th")}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawImage({ href, text: alt }: Tokens.Image): ComponentChildren {
  const src = picture(href, { theme: "light" });
  return src ? <img src={src} alt={alt} referrerPolicy="no-referrer" /> : alt;
}

/** The host opens links; a sandbox may forbid the page to open them itself. */
function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const { openLink } = useContext(StageContext);
  const url = linkAddress(href);
  if (!url) return <>{children}</>;
  const open = (event: MouseEvent): void => {
    event.preventDefault();
    openLink(url);
  };
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" onClick={open}>
      {children}
    </a>
  );
}

export const MARKDOWN = component("Markdown", schema, Markdown);
