"""`widgetd guide`: pages, components, codes and settings by their names, and a search over all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from widgetd.base.errors import CODES
from widgetd.base.files.source import escape_path
from widgetd.server.command import CommandLine, Shell, print_json

RESULTS = 10
"""The most results of a search that are printed."""


def guide(
    *words: str,
    dir: Annotated[Path | None, Parameter(help="The folder whose widgets are examples.")] = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    shell: Shell,
) -> None:
    """Explain a page, component, code or setting, and search all of them for other words.

    Args:
        words: A page, or codes, components or settings for all of them, or a name, as Button,
            Button.variant, icons, W1211, port. Without words, list the pages.
        json: Print what a search finds as a JSON array.
    """
    from widgetd.author.guide.guide import pages

    if not words:
        for entry in pages().values():
            print(f"{entry.name:12}{entry.title}. Read it when {entry.use_when}.")
        print("Also: codes, components, settings; Button, W1211, port; or words to search for.")
    elif not (_print_all(shell, " ".join(words), dir) or _print_entry(shell, " ".join(words), dir)):
        _search(shell, " ".join(words), dir, as_json=json)


def _print_all(shell: CommandLine, word: str, dir: Path | None) -> bool:
    from widgetd.author.guide.component_details import Examples, describe_components
    from widgetd.author.guide.guide import page, pages
    from widgetd.core.checks.report import format_codes

    if word == "codes":
        print(format_codes())
    elif word == "settings":
        for group, settings in shell.setting_groups().items():
            print(f"[{group}]")
            for name, text in settings.items():
                print(f"{name:20}{text}")
    elif word in pages():
        print(page(word).text)
        if word == "components":
            print("## All components\n")
            for item in describe_components((), Examples().follow(shell.load_snapshot(dir))):
                print(f"{item['name']:14}{item['use']}")
    else:
        return False
    return True


def _print_entry(shell: CommandLine, word: str, dir: Path | None) -> bool:
    from widgetd.author.guide.component_details import Examples, describe_components

    name = word.lower().removeprefix("widgetd_").replace("-", "_")
    if code := CODES.get(word.upper()):
        print(f"{code.code}, {code.level}: {code.meaning}")
        return True
    if meaning := _setting_texts(shell).get(name):
        print(f"{name}: {meaning}")
        return True
    (item,) = describe_components((escape_path(word),), Examples().follow(shell.load_snapshot(dir)))
    if item["status"] == "ok":
        print_json(item)
    return bool(item["status"] == "ok")


def _search(shell: CommandLine, query: str, dir: Path | None, *, as_json: bool) -> None:
    from widgetd.author.guide.reference import Reference, require_kinds

    reference = Reference(_setting_texts(shell))
    items, total = reference.find(shell.load_snapshot(dir), query, require_kinds([]), RESULTS)
    if as_json:
        print_json(items)
        return
    for item in items:
        print(f"{item['kind']:10} {item['title']}\n           {item['snippet'][:160]}")
    if not total:
        print("nothing fits these words; `widgetd guide` lists what there is")


def _setting_texts(shell: CommandLine) -> dict[str, str]:
    groups = shell.setting_groups().values()
    return {name: text for settings in groups for name, text in settings.items()}
