"""ChatKit's components: a template's output as a tree of them, and findings about a tree.

Reads the vocabulary of the installed `chatkit.widgets`.
"""

from __future__ import annotations

from widgetd.core.widget.components.check import check_tree
from widgetd.core.widget.components.tree import (
    json_schema_to_chatkit_widget,
    parse_tree,
    to_chatkit,
    tree,
)
from widgetd.core.widget.components.vocabulary import load_chatkit_widgets, load_vocabulary

__all__ = [
    "check_tree",
    "json_schema_to_chatkit_widget",
    "load_chatkit_widgets",
    "load_vocabulary",
    "parse_tree",
    "to_chatkit",
    "tree",
]
