"""Keywords: the steps of sessions and of test files, in one table.

A keyword is an asynchronous function of a stage and its arguments. The function's name in title
case is the keyword's name, the first sentence of the docstring its summary, and its schema is what
pydantic makes of the signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs

from widgetd.author.browser.keywords import act, expect, read, show
from widgetd.base.errors import CallError, ConfigError, InvalidArgument
from widgetd.base.text_search import compile_pattern, did_you_mean, nearest

Function = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A row of the table.

    Attributes:
        slug: Name for programs, as `enter_text`.
        kind: `show`, `act`, `expect` or `read`.
        function: Takes the stage as its first parameter.
    """

    slug: str
    kind: str
    function: Function

    @property
    def name(self) -> str:
        """The name for people, as `Enter Text`."""
        return self.slug.replace("_", " ").title()

    @property
    def is_tool(self) -> bool:
        # A picture to compare with is beside a file of tests alone.
        return self.slug != "expect_picture"

    @property
    def summary(self) -> str:
        text = " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())
        return text.partition(". ")[0].removesuffix(".") + "."

    @cached_property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        signature = inspect.signature(self.function, eval_str=True)
        return tuple(signature.parameters.values())[1:]

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        def collect(**arguments: Any) -> dict[str, Any]:
            return arguments

        keyword_only = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in self.parameters]
        collect.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
        collect.__annotations__ = {p.name: p.annotation for p in keyword_only}
        adapter: TypeAdapter[Any] = TypeAdapter(collect)  # type: ignore[arg-type]
        return adapter

    @property
    def schema(self) -> dict[str, Any]:
        return self._adapter.json_schema()

    def parse(self, written: object) -> dict[str, Any]:
        """Check arguments as written: by name, or a single value for the first parameter.

        Raises:
            CallError: They do not fit (W4102).
        """
        if written is None:
            written = {}
        elif not isinstance(written, Mapping):
            if not self.parameters:
                raise CallError("W4102", f"{self.name} takes nothing", path=self.slug)
            written = {self.parameters[0].name: written}
        # A repeated default is the default: "" is no target, but says "no target".
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        values = {
            name: value
            for name, value in written.items()
            if name not in defaults or value != defaults[name]
        }
        try:
            checked: dict[str, Any] = self._adapter.validate_python(ArgsKwargs((), values))
        except ValidationError as error:
            raise self._invalid_arguments(error, list(defaults)) from None
        return checked

    def _invalid_arguments(self, error: ValidationError, names: list[str]) -> CallError:
        problems, details = [], []
        for problem in error.errors(include_url=False):
            path = ".".join(map(str, problem["loc"]))
            if problem["type"] == "unexpected_keyword_argument":
                hint = did_you_mean(path, names, f"it takes {', '.join(names) or '-'}")
                problems.append(f"{self.name} takes no '{path}'; {hint}")
            elif problem["type"].startswith("missing"):
                problems.append(f"{self.name} needs '{path}'")
            else:
                why = problem["msg"].removeprefix("Value error, ")
                why = why[:1].lower() + why[1:] if why.startswith("Input") else why
                problems.append(f"{self.name}, {path}: {why}")
            details.append(
                InvalidArgument(path=path, expected=problem["msg"], got=f"{problem['input']!r:.60}")
            )
        return CallError(
            "W4102", "; ".join(problems), path=details[0].path, invalid_arguments=tuple(details)
        )


def build_table(modules: Iterable[tuple[str, Iterable[Function]]]) -> Mapping[str, Keyword]:
    """Return the keywords of each kind, by slug.

    Raises:
        ConfigError: Two have the same name (W0031).
    """
    rows: dict[str, Keyword] = {}
    for kind, functions in modules:
        for function in functions:
            slug = function.__name__
            if slug in rows:
                owners = f"{rows[slug].function.__module__} and {function.__module__}"
                problem = f"two keywords are called '{slug}': in {owners}"
                raise ConfigError("W0031", problem, "rename one of them")
            rows[slug] = Keyword(slug=slug, kind=kind, function=function)
    return MappingProxyType(rows)


def _functions(module: ModuleType) -> Iterable[Function]:
    for name, member in vars(module).items():
        is_own = inspect.iscoroutinefunction(member) and member.__module__ == module.__name__
        if is_own and not name.startswith("_"):
            yield member


KEYWORDS = build_table(
    (module.__name__.rpartition(".")[2], _functions(module)) for module in (show, act, expect, read)
)


_WORD_GAP = compile_pattern(r"[\s_-]+")


def find_keyword(name: str) -> Keyword:
    """Return the keyword called `name`, in title case or as a slug.

    Raises:
        CallError: There is none (W4101). The error names the nearest.
    """
    slug = _WORD_GAP.sub("_", name.strip()).lower()
    if slug not in KEYWORDS:
        near = nearest(slug, tuple(KEYWORDS))
        names = ", ".join(row.name for row in KEYWORDS.values())
        hint = f"did you mean '{KEYWORDS[near].name}'?" if near else f"there are {names}"
        suggestions = (KEYWORDS[near].name,) if near else ()
        problem = f"there is no keyword '{name:.60}'; {hint}"
        raise CallError("W4101", problem, path="keyword", suggestions=suggestions)
    return KEYWORDS[slug]
