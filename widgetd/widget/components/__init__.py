"""ChatKit's components: a template's output as a tree of them, and what can be said about one.

Knows the vocabulary of the installed `chatkit.widgets`; refuses to know where a tree came from.
"""

from __future__ import annotations

from widgetd.widget.components.check import check_tree
from widgetd.widget.components.tree import to_chatkit, tree, tree_and_json
from widgetd.widget.components.vocabulary import chatkit_widgets, vocabulary

__all__ = ["chatkit_widgets", "check_tree", "to_chatkit", "tree", "tree_and_json", "vocabulary"]
