"""Commands for authors of widgets: read the guide, look up components, search both."""

from __future__ import annotations

from widgetd.base.errors import CallError
from widgetd.cli.options import Dir, Many, load_snapshot, print_json


def guide(name: str = "") -> None:
    """Print a page of the guide to writing widgets; without NAME, list the pages.

    Args:
        name: A page.
    """
    from widgetd.author.guide.guide import page, pages

    if name:
        print(page(name).text)
        return
    for each in pages().values():
        print(f"{each.name:12}{each.title}. Read it when {each.use_when}.")


def components(*names: str, dir: Dir = None) -> None:
    """Print what components are for and what they accept; without NAMES, list all.

    Args:
        names: As Button, Button.variant, colors, sizes or icons.
    """
    from widgetd.author.guide.component_details import Examples, describe_components
    from widgetd.base.files.source import escape_path

    items = list(
        describe_components(tuple(map(escape_path, names)), Examples().follow(load_snapshot(dir)))
    )
    if not names:
        for item in items:
            print(f"{item['name']:14}{item['use']}")
        return
    print_json(items)
    unknown = [item["name"] for item in items if item["status"] != "ok"]
    if unknown:
        raise CallError("W3002", f"there is no component or property '{unknown[0]}'")


def reference(
    query: str, *, dir: Dir = None, kinds: str = "", limit: Many = 10, json: bool = False
) -> None:
    """Search pages, components, examples, settings and codes.

    Args:
        query: Some words.
        kinds: Only these, with commas between: guide, component, example, setting, code, test.
        limit: The maximum number of results.
        json: Print a JSON array.
    """
    from widgetd.author.guide.reference import Reference, require_kinds
    from widgetd.settings import describe_settings

    wanted = require_kinds([kind.strip() for kind in kinds.split(",") if kind.strip()])
    items, total = Reference(describe_settings()).find(load_snapshot(dir), query, wanted, limit)
    if json:
        print_json(items)
        return
    for item in items:
        print(f"{item['kind']:10} {item['title']}\n           {item['snippet'][:160]}")
    if not total:
        print(
            "nothing fits these words; `widgetd guide` and `widgetd components` list what there is"
        )
