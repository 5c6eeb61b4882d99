"""A ChatKit server whose agent shows widgets: the worked example, and the daemon's own."""

from __future__ import annotations

from widgetd.widget.components.vocabulary import chatkit_widgets

# Whoever imports ChatKit first is warned of classes that it deprecates itself.
chatkit_widgets()
