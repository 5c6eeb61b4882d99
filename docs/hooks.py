"""What mkdocs is told: a link that leaves the pages names its file in the repository."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)\s]*)?\)")
_log = logging.getLogger("mkdocs.hooks")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """`[text](../examples/README.md)` as the text and the file's path; one that is gone is said."""
    docs = Path(config["docs_dir"])
    here = (docs / page.file.src_uri).parent

    def written(link: re.Match[str]) -> str:
        text, address = link.groups()
        target = (here / address).resolve()
        if docs in target.parents:
            return link[0]
        if not target.exists():
            _log.warning("%s: there is no %s", page.file.src_uri, address)
        path = f"`{target.relative_to(docs.parent)}`"
        return path if text.strip("`") in path else f"{text} ({path})"

    return _LINK.sub(written, markdown)
