"""Counts of the package's code: `python -m benchmarks.house` prints them.

The numbers show whether the plan of `docs/architecture.md` still holds; none of them is worth
making the code worse for.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from benchmarks.language import measure, wing_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "widgetd"

WINGS = ("base", "core", "server", "author")
"""Folders of the package whose folders and modules are rooms."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module of the package, read and parsed; `lines` are those that are no comments."""

    name: str
    path: Path
    lines: int
    tree: ast.Module

    @property
    def room(self) -> str:
        """The folder or module below a wing, else directly below the package; empty for itself."""
        below = self.name.split(".")[1:]
        return ".".join(below[: 2 if below[:1] and below[0] in WINGS else 1])

    @property
    def wing(self) -> str:
        """The wing, or `shell` for what stands above them."""
        return wing_of(self.path)

    def functions(self) -> list[Function]:
        """Yield every function and method, inner ones too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]

    def imports(self) -> Iterator[str]:
        """Yield the dotted name of everything imported from the package, inner imports too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                home = node.module or ""
                if home.partition(".")[0] == PACKAGE.name:
                    yield from (f"{home}.{alias.name}" for alias in node.names)


def modules() -> list[Module]:
    """Return all modules of the package, in order of their paths."""
    all_modules = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        # A comment that gives a reason must not cost a line of code.
        lines = sum(not line.lstrip().startswith("#") for line in text.splitlines())
        all_modules.append(Module(name=name, path=path, lines=lines, tree=ast.parse(text)))
    return all_modules


def count_wings(all_modules: list[Module]) -> Counter[str]:
    """Return the lines of each wing."""
    wings: Counter[str] = Counter()
    for module in all_modules:
        wings[module.wing] += module.lines
    return wings


def find_used_once(module: Module) -> set[str]:
    """Return the private functions that the module mentions once."""
    private = {
        node.name
        for node in module.tree.body
        if isinstance(node, Function) and node.name.startswith("_")
    }
    named = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    return {name for name in private if named[name] == 1}


def find_called(module: Module) -> set[str]:
    """Return the names that are called, unlike callbacks and entries of tables."""
    return {
        node.func.id
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def upward(all_modules: list[Module]) -> list[str]:
    """Return the imports from a later wing, or a later room of a wing, each as `a -> b`."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ahead = set()
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        (container,) = contract["containers"]
        height = {
            f"{container}.{room.strip()}": -index
            for index, layer in enumerate(contract["layers"])
            for room in layer.split("|")
        }
        depth, ignored = container.count(".") + 2, set(contract.get("ignore_imports", ()))
        for module in all_modules:
            source = ".".join(module.name.split(".")[:depth])
            for name in module.imports():
                target = ".".join(name.split(".")[:depth])
                if source == target or not {source, target} <= height.keys():
                    continue
                is_exception = f"{module.name} -> {name.rpartition('.')[0]}" in ignored
                if height[target] >= height[source] and not is_exception:
                    ahead.add(f"{module.name} -> {target}")
    return sorted(ahead)


def circles(all_modules: list[Module]) -> list[str]:
    """Return the modules that import each other in a circle, a circle a text."""
    names = {module.name for module in all_modules}
    graph = {
        module.name: {
            full if (full := f"{node.module}.{alias.name}") in names else node.module
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        & names - {module.name}
        for module in all_modules
    }
    # Whatever is imported by no module that is left, or imports none, is on no circle.
    while True:
        imported = set().union(*graph.values())
        keep = {name for name, targets in graph.items() if targets and name in imported}
        if keep == graph.keys():
            break
        graph = {name: graph[name] & keep for name in keep}
    reached = {name: _reachable(graph, name) for name in graph}
    groups = {
        " - ".join(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }
    return sorted(groups)


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for target in graph[waiting.pop()] - reached:
            reached.add(target)
            waiting.append(target)
    return reached


def find_undescribed(all_modules: list[Module]) -> list[str]:
    """Return the folders that `docs/architecture.md` has no row for."""
    page = ROOT / "docs" / "architecture.md"
    described = set(re.findall(r"^\| `([\w/]+)/`", page.read_text(encoding="utf-8"), re.MULTILINE))
    folders = {module.path.parent.relative_to(PACKAGE).as_posix() for module in all_modules} - {"."}
    return sorted(folders - described)


def main() -> None:
    """Print one line for each measure."""
    all_modules = modules()
    sizes = [module.lines for module in all_modules if module.lines > 1]
    functions = [function for module in all_modules for function in module.functions()]
    lengths = [(function.end_lineno or 0) - function.lineno + 1 for function in functions]
    once = sum(len(find_used_once(module)) for module in all_modules)
    called_once = sum(len(find_used_once(module) & find_called(module)) for module in all_modules)
    rooms: Counter[str] = Counter()
    for module in all_modules:
        rooms[module.room] += module.lines
    wings = count_wings(all_modules)
    room, largest_room = rooms.most_common(1)[0]
    largest = max(all_modules, key=lambda module: module.lines)
    stray, ahead, rounds = find_undescribed(all_modules), upward(all_modules), circles(all_modules)
    language = measure()
    rows = {
        "modules": f"{len(all_modules)}",
        "lines": f"{sum(module.lines for module in all_modules):,}",
        **{f"lines of {wing}": f"{lines:,}" for wing, lines in wings.most_common()},
        "median module": f"{median(sizes):.0f} lines",
        "largest module": f"{largest.lines} lines ({largest.name})",
        "median function": f"{median(lengths):.0f} lines",
        "p90 function": f"{quantiles(lengths, n=10)[-1]:.0f} lines",
        "private functions used once": f"{1000 * once / len(functions):.0f} per 1,000 functions",
        "of these, called": f"{1000 * called_once / len(functions):.0f} per 1,000 functions",
        "largest room": f"{100 * largest_room / sum(rooms.values()):.0f} % ({room})",
        "folders without a row": f"{len(stray)} {' '.join(stray)}".rstrip(),
        "upward imports": f"{len(ahead)} {', '.join(ahead)}".rstrip(),
        "import circles": f"{len(rounds)} {', '.join(rounds)}".rstrip(),
        "docstrings that open oddly": f"{language.openings_percent:.1f} %",
        "docstrings with whoever, ...": f"{language.indefinite_percent:.1f} %",
        "functions named by participle": f"{len(language.participles)}",
        "classes whose name is not one": f"{len(language.repeated)}",
    }
    for name, value in rows.items():
        print(f"{name:31}{value}")


if __name__ == "__main__":
    main()
