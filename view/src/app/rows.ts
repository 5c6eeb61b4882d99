/** Rows whose words find no room beside each other. */

/**
 * Lets each row of `stage` that is wider than its place go on in the next line, from now on.
 *
 * CSS knows no minimum that gives way: `min-width: min-content` keeps the words of columns whole and
 * pushes the last column out of the card, and with `flex-wrap: wrap` everywhere a long text would
 * leave its row instead of being broken into lines.
 */
export function wrapTightRows(stage: HTMLElement): void {
  const wrap = (): void => {
    for (const row of stage.querySelectorAll(".tight")) row.classList.remove("tight");
    while (wrapOuterRows(stage));
  };
  new MutationObserver(wrap).observe(stage, {
    childList: true,
    characterData: true,
    subtree: true,
  });
  addEventListener("resize", wrap);
}

/** Measures all rows before it changes one, so that the page is laid out once for each depth. */
function wrapOuterRows(stage: HTMLElement): Element | undefined {
  let outer: Element | undefined;
  for (const row of [...stage.querySelectorAll(".box.row:not(.tight)")].filter(isTight)) {
    // An inner row may fit once the outer one is in two lines.
    if (outer?.contains(row)) continue;
    row.classList.add("tight");
    outer = row;
  }
  return outer;
}

/**
 * Returns whether the words of a row reach beyond it. A row stays whose written sizes alone are too
 * large: ChatKit cuts it off, too, and its author is to see that.
 */
function isTight(row: Element): boolean {
  if (!isOverflowing(row)) return false;
  const sized = [...row.children].filter((child) => (child as HTMLElement).style.width);
  const width = sized.reduce((sum, child) => sum + child.getBoundingClientRect().width, 0);
  return width <= row.clientWidth;
}

/** Margins count: those of ghost buttons are negative, and reach into the padding around. */
function isOverflowing(row: Element): boolean {
  const { left, right } = row.getBoundingClientRect();
  return [row.firstElementChild, row.lastElementChild].some((child) => {
    if (!child) return false;
    const box = child.getBoundingClientRect();
    const { marginLeft, marginRight } = getComputedStyle(child);
    return (
      box.left - Number.parseFloat(marginLeft) < left - 1 ||
      box.right + Number.parseFloat(marginRight) > right + 1
    );
  });
}
