"""Saves of real editors and tools, as generators of the pauses between writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from random import Random

from simulation.disk import Medium

FOLDER = "/widgets"
NAMES = ("w0.widget", "w1.widget", "sub/w2.widget", "mounted.widget")
"""Paths of the edited widgets. The last leads into a ConfigMap."""

GAPS_S = (0, 0.0005, 0.002, 0.008, 0.025, 0.06, 0.3, 1.2, 4)
SIDECAR = ".toml"


def widget_text(name: str, revision: int) -> bytes:
    """Return a good file with its revision."""
    template = f'{{"type":"Card","children":[{{"type":"Text","value":"{revision:06}"}}]}}'
    texts = {"who": {"type": "string"}, "passport": {"type": "string"}}
    # At the end as well, or a mixture of two revisions would pass for one of them.
    schema = {"type": "object", "properties": texts, "description": f"file {revision:06}"}
    tool = name.rpartition("/")[2].partition(".")[0]
    widget = {"version": "1.0", "name": tool, "template": template, "jsonSchema": schema}
    return json.dumps(widget).encode()


def sidecar_text(revision: int) -> bytes:
    """Return a good sidecar. Every other revision has a secret argument."""
    secrets = '["passport"]' if revision % 2 else "[]"
    return f'sensitive = {secrets}\ndescription = "{revision:06}"\n'.encode()


def list_good_parts(sidecar: bytes) -> set[bytes]:
    """Return a sidecar and its valid beginnings, left by torn writes."""
    first, _, _ = sidecar.partition(b"\n")
    return {sidecar, sidecar.rstrip(), first, first + b"\n"}


Steps = Iterator[float]


@dataclass(eq=False)
class Editor:
    """One save of one widget.

    Attributes:
        number: Makes its texts differ from those of every other save.
        whole: Its good contents.
    """

    medium: Medium
    random: Random
    name: str
    number: int
    whole: set[bytes]

    def __post_init__(self) -> None:
        self._revision = self.number * 10
        self.path = f"{FOLDER}/{self.name}"
        self.beside = self.path + SIDECAR

    def file(self) -> bytes:
        """Return a new good file."""
        self._revision += 1
        text = widget_text(self.name, self._revision)
        self.whole.add(text)
        return text

    def sidecar(self) -> bytes:
        """Return a new good sidecar."""
        self._revision += 1
        text = sidecar_text(self._revision)
        self.whole |= list_good_parts(text)
        return text

    def gap(self) -> float:
        """Return a pause between two writes of a save."""
        return self.random.choice(GAPS_S[:7])

    def broken(self) -> bytes:
        """Return a truncated file."""
        self._revision += 1
        text = widget_text(self.name, self._revision)
        return text[: self.random.randint(1, len(text) - 2)]

    # Ways to write a file.

    def put(self, path: str, text: bytes) -> Steps:
        """Write a new file beside, and rename it into place, as most editors do."""
        folder, _, name = path.rpartition("/")
        aside = f"{folder}/.{name}{self.number}"
        self.medium.write(aside, text)
        yield self.gap() / 10
        self.medium.rename(aside, path)
        yield 0

    def in_place(self, path: str, text: bytes) -> Steps:
        """Truncate, write parts, close."""
        self.medium.write(path, b"", finished=False)
        yield self.gap()
        for part in range(self.random.randint(0, 2)):
            self.medium.write(path, text[: len(text) * (part + 1) // 3], finished=False)
            yield self.gap()
        self.medium.write(path, text)
        yield 0

    def backup(self, path: str, text: bytes) -> Steps:
        """Move the old file away and write a new file, as Vim and Emacs may."""
        if self.medium.read(path) is not None:
            self.medium.rename(path, path + "~")
            yield self.gap() / 10
        self.medium.write(path, b"", finished=False)
        yield self.gap() / 10
        self.medium.write(path, text)
        yield self.gap() / 10
        self.medium.remove(path + "~")
        yield 0

    def remade(self, path: str, text: bytes) -> Steps:
        """Remove the file and create it anew, as Git does."""
        self.medium.remove(path)
        yield self.gap()
        yield from self.in_place(path, text)

    def write(self, path: str, text: bytes) -> Steps:
        """Write a file in some way."""
        ways = (self.put, self.put, self.in_place, self.in_place, self.backup, self.remade)
        yield from self.random.choice(ways)(path, text)

    # What a save does to a widget.

    def save_file(self) -> Steps:
        """Save the file."""
        yield from self.write(self.path, self.file())

    def save_sidecar(self) -> Steps:
        """Save the sidecar."""
        yield from self.write(self.beside, self.sidecar())

    def save_both(self) -> Steps:
        """Save both, in either order."""
        saves = [(self.path, self.file()), (self.beside, self.sidecar())]
        self.random.shuffle(saves)
        for path, text in saves:
            yield from self.write(path, text)
            yield self.gap()

    def drop_sidecar(self) -> Steps:
        """Remove the sidecar."""
        self.medium.remove(self.beside)
        yield 0

    def drop_sidecar_and_empty(self) -> Steps:
        """Remove the sidecar, and leave the file empty."""
        yield from self.drop_sidecar()
        self.medium.write(self.path, b"", finished=self.random.random() < 0.5)
        yield 0

    def empty(self) -> Steps:
        """Leave the file empty."""
        self.medium.write(self.path, b"", finished=self.random.random() < 0.5)
        yield 0

    def save_twice(self) -> Steps:
        """Save the file in place twice, within a step of a coarse file system's dates."""
        self.medium.write(self.path, self.file())
        yield self.random.choice((0.03, 0.1, 0.3, 0.8))
        self.medium.write(self.path, self.file())
        yield 0

    def flap(self) -> Steps:
        """Remove the file and put another back, while others are saved."""
        self.medium.remove(self.path)
        back_s = self.random.choice((0.05, 0.15, 0.22, 0.4))
        for number in range(40):
            if number == int(back_s / 0.01):
                self.medium.write(self.path, self.file())
            self.medium.write(f"{FOLDER}/noise.widget", b"{}")
            yield 0.01
        self.medium.remove(f"{FOLDER}/noise.widget")
        yield 0

    def empty_and_sidecar(self) -> Steps:
        """Leave the file empty, and save the sidecar."""
        yield from self.empty()
        yield self.gap()
        yield from self.write(self.beside, self.sidecar())

    def empty_sidecar(self) -> Steps:
        """Leave the sidecar empty, and save the file."""
        self.medium.write(self.beside, b"", finished=self.random.random() < 0.5)
        yield self.gap()
        yield from self.write(self.path, self.file())

    def break_file(self) -> Steps:
        """Save a truncated file."""
        yield from self.write(self.path, self.broken())

    def break_sidecar(self) -> Steps:
        """Save a sidecar with invalid TOML."""
        yield from self.write(self.beside, b"nonsense = [")

    def delete(self) -> Steps:
        """Remove the file."""
        self.medium.remove(self.path)
        yield 0

    def remake(self) -> Steps:
        """Remove the file and put another in its place."""
        yield from self.delete()
        yield self.gap()
        yield from self.write(self.path, self.file())

    def remake_slowly(self) -> Steps:
        """Remove the file, make an empty one soon, and write it later."""
        yield from self.delete()
        yield 0.1
        self.medium.write(self.path, b"", finished=False)
        yield 0.7
        self.medium.write(self.path, self.file())
        yield 4

    def touch(self) -> Steps:
        """Write the current content again."""
        if (text := self.medium.read(self.path)) is not None:
            self.medium.write(self.path, text)
        yield 0


SAVES = (
    "save_file", "save_file", "save_sidecar", "save_both", "save_both", "drop_sidecar",
    "drop_sidecar_and_empty", "empty", "empty_and_sidecar", "empty_sidecar", "break_file",
    "break_file", "break_sidecar", "delete", "remake", "touch",
    "save_twice", "flap",
)  # fmt: skip


def age_log(content: bytes) -> bytes:
    """Return a list of generations as widgetd 0.3 wrote it: lines with the hash of the last."""
    lines: list[bytes] = []
    files: dict[str, str | None] = {}
    for line in content.splitlines():
        seal, _, body = line.partition(b"\t")
        is_whole = blake2b(body, digest_size=16).hexdigest().encode() == seal
        record = json.loads(body) if is_whole else {}
        files |= record.get("files", {})
        if "generation" in record:
            after = lines[-1].partition(b"\t")[0].decode() if lines else ""
            record = {key: value for key, value in record.items() if key != "hash"}
            body = json.dumps({**record, "after": after, "files": files}).encode()
            lines.append(blake2b(body, digest_size=16).hexdigest().encode() + b"\t" + body + b"\n")
            files = {}
    return b"".join(lines)


def swap_mount(medium: Medium, number: int, whole: set[bytes]) -> Steps:
    """Update the ConfigMap: a new folder, then a link to swap both files at once."""
    name = NAMES[-1]
    text, beside = widget_text(name, number * 10), sidecar_text(number * 10)
    whole |= {text, *list_good_parts(beside)}
    folder = f"..{number}"
    for part, content in (("", text), (SIDECAR, beside)):
        medium.make_folders(f"{FOLDER}/{folder}")
        medium.write(f"{FOLDER}/{folder}/{name}{part}", content)
        yield 0
    medium.link(f"{FOLDER}/..data_tmp", folder)
    yield 0
    if number == 0:
        for part in ("", SIDECAR):
            medium.link(f"{FOLDER}/{name}{part}", f"..data/{name}{part}")
    medium.rename(f"{FOLDER}/..data_tmp", f"{FOLDER}/..data")
    yield 0
