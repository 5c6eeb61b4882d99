"""A ChatKit server whose agent shows widgets: the worked example, and the daemon's own."""

from __future__ import annotations

from widgetd.core.widget.components.vocabulary import load_chatkit_widgets

# The first import of ChatKit warns of its own deprecated classes. This import is silent.
load_chatkit_widgets()
