"""Keywords that show something, and set how the host looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from widgetd.author.browser.chromium import Theme
from widgetd.author.browser.pictures import LOCALE, MAX_WIDTH_PX, MIN_WIDTH_PX
from widgetd.author.browser.stage import HEIGHT_PX, Stage, find_widget, load_state
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.widget.states import SAMPLE, ShownState

if TYPE_CHECKING:
    from playwright.async_api import ViewportSize


Locale = Annotated[str, Field(pattern=LOCALE, description="As en-US.")]
Width = Annotated[int, Field(ge=MIN_WIDTH_PX, le=MAX_WIDTH_PX, description="In CSS pixels.")]


async def show_widget(
    stage: Stage,
    widget: str = "",
    *,
    arguments: dict[str, Any] = {},  # noqa: B006 - never written to
    state: str = "",
    render_id: str = "",
    theme: Literal["", "light", "dark"] = "",
) -> dict[str, Any]:
    """Show a widget with arguments, or in a state of the gallery; or a stored render.

    Without a name, show the widget that is shown, or that the test file is about.
    """
    if theme:
        await set_theme(stage, theme)
    if render_id:
        render = await stage.server.rendering.load(render_id, stage.caller)
        owner = stage.caller.snapshot.widgets.get(render.tool)
        await stage.show_render(owner, ShownState(arguments={}), render)
        # An earlier replacement of the render has notified nothing here.
        await stage.update()
        return {"widget": render.tool, "renderId": render_id}
    chosen = find_widget(stage.caller.snapshot, widget or stage.subject)
    state = "" if arguments else state or SAMPLE
    content = load_state(chosen, state) if state else ShownState(arguments=arguments)
    await stage.show(chosen, content, state=state)
    return {"widget": chosen.tool, "renderId": stage.require_display().render_id}


async def show_tree(stage: Stage, tree: dict[str, Any]) -> None:
    """Show a tree of components that no widget rendered."""
    try:
        await stage.show_tree(tree)
    except WidgetError as error:
        raise CallError("W4102", str(error), path="tree") from None


async def set_theme(stage: Stage, theme: Theme) -> None:
    """Make the host light or dark."""
    if theme == stage.theme:
        return
    stage.theme = theme
    await stage.page.emulate_media(color_scheme=theme)
    if stage.display is not None:
        await stage.change_host(theme=theme)
        await stage.settle()


async def set_width(stage: Stage, width: Width) -> None:
    """Give the widget this much room."""
    room: ViewportSize = {"width": width, "height": HEIGHT_PX}
    if stage.page.viewport_size != room:
        await stage.page.set_viewport_size(room)


async def set_locale(stage: Stage, locale: Locale) -> None:
    """Set the language of the host, as en-US."""
    stage.locale = locale
    if stage.display is not None:
        await stage.change_host(locale=locale)


async def reload(stage: Stage) -> None:
    """Show the same again, as if the host had just opened it."""
    display = stage.require_display()
    if display.widget is None:
        await stage.show_tree(display.root)
    else:
        widget = find_widget(stage.caller.snapshot, display.widget.tool)
        await stage.show(widget, display.content, state=display.state)
