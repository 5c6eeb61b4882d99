"""A chat with an agent that uses the widgets: a ChatKit server, its models, and a page."""

from __future__ import annotations

from widgetd.widget.components.vocabulary import chatkit_widgets

# Whoever imports ChatKit first is warned of classes that it deprecates itself.
chatkit_widgets()
