"""Draw the sheets of docs/reference/components.md: `make docs` begins with this.

They are drawn for each site, so that none is committed that the view no longer draws.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import anyio

from widgetd.author.browser.camera import open_camera
from widgetd.author.browser.chromium import find_chromium
from widgetd.author.guide.component_sheet import list_screenshots
from widgetd.core.widget.components import load_vocabulary


async def draw(folder: anyio.Path) -> None:
    """Write the picture of each component's sheet in each theme, as `Button-light.png`."""
    await folder.mkdir(parents=True, exist_ok=True)
    if find_chromium() is None or find_spec("playwright") is None:
        sys.stdout.write("there is no Chromium, so the page of components has no pictures\n")
        return
    async with open_camera() as camera:
        for shot in list_screenshots(load_vocabulary().components):
            name = shot.title.replace(", ", "-")
            await (folder / f"{name}.png").write_bytes((await camera.take(shot, owner="")).content)


if __name__ == "__main__":
    anyio.run(draw, anyio.Path(sys.argv[1]))
