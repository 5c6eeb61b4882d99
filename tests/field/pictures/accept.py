"""Take the bundled widgets' pictures again, and store those that differ: `make pictures`."""

from __future__ import annotations

import sys

import anyio

from tests.field.pictures.album import THEMES, place, places, shots
from tests.field.pictures.eye import Eye, eye
from widgetd.author.browser.camera import open_camera


async def accept() -> int:
    """Replace each committed picture that a person could tell from the present one."""
    wanted = {place(tool, theme): shot for theme in THEMES for tool, shot in shots(theme).items()}
    for path in places() - wanted.keys():
        path.unlink()
        sys.stdout.write(f"removed  {path.name}\n")
    async with open_camera() as taking, eye() as looking:
        for path, shot in wanted.items():
            await _accept(looking, anyio.Path(path), (await taking.take(shot, owner="")).content)
    return 0


async def _accept(looking: Eye, path: anyio.Path, picture: bytes) -> None:
    difference = "it is new"
    if await path.exists():
        difference = await looking.difference(await path.read_bytes(), picture)
    if difference:
        await path.parent.mkdir(exist_ok=True)
        await path.write_bytes(await looking.reduced(picture))
        sys.stdout.write(f"accepted {path.name}: {difference}\n")


if __name__ == "__main__":
    raise SystemExit(anyio.run(accept))
