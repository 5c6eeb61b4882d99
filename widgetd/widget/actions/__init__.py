"""What a user can do in a widget, and what is sent when they do.

A component of a tree triggers an action; how it is taken is up to clients, and
who waits for it is up to others. Nothing here waits or keeps anything.
"""

from __future__ import annotations

from widgetd.widget.actions.tree_actions import TreeAction, has_actions, tree_actions
from widgetd.widget.actions.widget_actions import WidgetAction, widget_actions

__all__ = ["TreeAction", "WidgetAction", "has_actions", "tree_actions", "widget_actions"]
