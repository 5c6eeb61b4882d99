"""Actions of users in a widget, and their payloads.

A component of a tree triggers an action. Clients decide how a user takes it. Nothing here waits
for actions or stores them.
"""

from __future__ import annotations

from widgetd.core.widget.actions.tree_actions import TreeAction, find_tree_actions, has_actions
from widgetd.core.widget.actions.widget_actions import WidgetAction, find_widget_actions

__all__ = ["TreeAction", "WidgetAction", "find_tree_actions", "find_widget_actions", "has_actions"]
