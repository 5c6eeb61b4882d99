"""Accessibility by axe, part of the extra `test`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import CallError
from widgetd.base.extras import install_advice

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

_PAGE_RULES = ("landmark-one-main", "page-has-heading-one", "region", "document-title")
"""Rules for whole pages, which do not apply because a widget is a fragment of one."""

_RUN = """async ([without, background]) => {
  // The background behind a widget is the host's, which axe cannot see, and no transition may run.
  const { style } = document.documentElement;
  const before = style.cssText;
  Object.assign(style, { transition: "none", background });
  try {
    const rules = Object.fromEntries(without.map(rule => [rule, { enabled: false }]));
    const found = await axe.run(document, { iframes: false, resultTypes: ["violations"], rules });
    return found.violations.flatMap(one => one.nodes.map(node => ({
      rule: one.id,
      impact: one.impact ?? "",
      problem: one.help,
      advice: (node.failureSummary ?? "").split("\\n").slice(1).map(line => line.trim()).join("; "),
      element: node.html.slice(0, 400),
      at: node.target.flat().join(" "),
      more: one.helpUrl,
    })));
  } finally {
    style.cssText = before;
  }
}"""


@cache
def _source() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


async def find_violations(page: Page | Frame, *, code: str = "W3201") -> list[dict[str, Any]]:
    """Return `[{"rule", "impact", "problem", "advice", "element", "at", "more"}]` of a page.

    Raises:
        CallError: axe is not installed. The error has this `code`.
    """
    try:
        source = _source()
    except ModuleNotFoundError:
        problem = f"this needs axe, which is not installed; {install_advice('test')}"
        raise CallError(code, problem) from None
    await page.evaluate(f"window.axe || (() => {{ {source} }})()")
    return await page.evaluate(_RUN, [_PAGE_RULES, "var(--color-surface)"])  # type: ignore[no-any-return]
