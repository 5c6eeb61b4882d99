/** A look for words that are broken, or that leave their card. */

import type { Page } from "playwright-core";

/** The longest word that may count on its column. */
const MOST_CHARACTERS = 14;

export const WIDTHS = [280, 320, 360, 420];

/** Returns the words of a page that are broken within, or that reach beyond the widget. */
export function misplacedWords(page: Page): Promise<string[]> {
  return page.evaluate(async (most) => {
    // The page hears of a new width before it paints the next frame.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const root = document.querySelector("#stage > :not(h1, .notices)") as Element;
    const edge = root.getBoundingClientRect();
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const misplaced: string[] = [];
    for (
      let node = walker.nextNode() as Text | null;
      node;
      node = walker.nextNode() as Text | null
    ) {
      const parent = node.parentElement as Element;
      // What is cut on purpose ends with an ellipsis; what scrolls or is hidden has no edge here.
      if (parent.closest(".truncated, .cut, .one-line, .table-scroll, pre, .hidden, svg, select")) {
        continue;
      }
      const end = parent.closest(".clamped")?.getBoundingClientRect().bottom ?? Infinity;
      // A column whose width the author gave stays as it is.
      const isFixed = parent.closest('.box[style*="width"]') !== null;
      for (const { 0: word, index } of node.data.matchAll(/[^\s/–—|?!-]+/g)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const boxes = [...range.getClientRects()].filter((box) => box.bottom < end + 2);
        const lines = new Set(boxes.map(({ top }) => Math.round(top)));
        const isOutside = boxes.some(
          (box) => box.left < edge.left - 1 || box.right > edge.right + 1,
        );
        const isBroken = lines.size > 1 && [...word].length <= most && !isFixed;
        if (isOutside || (isBroken && !parent.matches(".long"))) misplaced.push(word);
      }
    }
    return misplaced;
  }, MOST_CHARACTERS);
}
