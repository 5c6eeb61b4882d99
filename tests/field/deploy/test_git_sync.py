"""Commits reach a running daemon by the swap of a link, and no call fails meanwhile."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from tests.field.deploy.documents import ROOT, build_overlay, needs_kubectl, pod, require_valid
from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.load import under_load
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from tests.system.server.web.asking import ask

WHO = {"who": "Ada"}

needs_git = pytest.mark.skipif(
    shutil.which("git") is None or shutil.which("flock") is None, reason="needs git and flock"
)


class Repository:
    """A Git repository whose folder `widgets` is served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "widgets").mkdir(parents=True)
        self._git("init", "--quiet", "--initial-branch=main")

    def commit(self, **files: str | None) -> None:
        """Commit widgets with these texts, as `A="{"` for a broken file; None deletes."""
        for name, text in files.items():
            path = self.folder / "widgets" / f"{name}.widget"
            if text is None:
                path.unlink()
            else:
                path.write_text(text if text == "{" else widget_file(name, text=text))
        self._git("add", "-A")
        person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        self._git(*person, "commit", "--quiet", "-m", "Change widgets")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True)


async def sync(repository: Repository, root: Path) -> str:
    """Run the script, and return what it prints: the commit, if it is a new one."""
    command = [str(ROOT / "deploy" / "git-sync"), str(repository.folder), "main", str(root)]
    return (await anyio.run_process(command)).stdout.decode().strip()


@needs_git
async def test_commits_are_served_by_a_swap_of_the_link_without_a_failed_call(
    tmp_path: Path,
) -> None:
    repository, root = Repository(tmp_path / "origin"), tmp_path / "root"
    repository.commit(A="One", C="Old")
    first = await sync(repository, root)
    assert await sync(repository, root) == ""
    async with (
        serving(root / "current" / "widgets") as url,
        connect_client(url, "modern") as client,
        under_load(url, "a", **WHO) as failures,
    ):
        await client.answers("a", WHO, greeting("One", "Ada"))
        repository.commit(A="Two", B="New", C=None)
        second = await sync(repository, root)
        await client.answers("a", WHO, greeting("Two", "Ada"))
        await client.lists("b")
        await client.lists("c", present=False)

        repository.commit(A="{")
        third = await sync(repository, root)
        with anyio.fail_after(PATIENCE_S):
            while not (status := (await ask(url, "/status")).json())["faults"]:  # noqa: ASYNC110 - no event tells of a refused file
                await anyio.sleep(0.01)
        await client.answers("a", WHO, greeting("Two", "Ada"))

    assert failures == []
    assert [fault["state"] for fault in status["faults"]] == ["stale"]
    assert status["degraded"] is None
    assert len({first, second, third}) == 3
    assert [path.name for path in (root / "worktrees").iterdir()] == [third]


@needs_git
async def test_interrupted_checkout_is_repeated(tmp_path: Path) -> None:
    repository, root = Repository(tmp_path / "origin"), tmp_path / "root"
    repository.commit(A="One")
    first = await sync(repository, root)
    (root / "current").unlink()
    (root / "worktrees" / first / "widgets" / "A.widget").unlink()

    assert await sync(repository, root) == first
    assert (root / "current" / "widgets" / "A.widget").exists()


@needs_git
@pytest.mark.parametrize("target", ["/etc", "../../..", "..", "../../../worktrees", "inside/../.."])
@pytest.mark.parametrize("link", ["widgets", "team/widgets", "widgets/secret.widget"])
async def test_commit_with_a_link_out_of_it_is_not_served(
    tmp_path: Path, link: str, target: str
) -> None:
    repository, root = Repository(tmp_path / "origin"), tmp_path / "root"
    repository.commit(A="One")
    first = await sync(repository, root)
    place = repository.folder / link
    if link == "widgets":
        shutil.rmtree(place)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(Path("..") / target if "/" in link else target)
    repository.commit()

    with pytest.raises(subprocess.CalledProcessError) as failed:
        await sync(repository, root)

    assert f"its link {link} leads out of it" in failed.value.stderr.decode()
    assert (root / "current").readlink() == Path("worktrees") / first


@needs_git
async def test_commit_with_a_link_within_it_is_served(tmp_path: Path) -> None:
    repository, root = Repository(tmp_path / "origin"), tmp_path / "root"
    (repository.folder / "widgets" / "B.widget").symlink_to("A.widget")
    repository.commit(A="One")

    commit = await sync(repository, root)

    assert (root / "current").readlink() == Path("worktrees") / commit


@needs_kubectl
def test_pods_serve_the_folder_linked_by_git_sync() -> None:
    objects = {one["kind"]: one for one in build_overlay("kubernetes-git")}
    spec = objects["Deployment"]["spec"]["template"]["spec"]
    [synced], [served] = spec["initContainers"], spec["containers"]
    flags = dict(flag.lstrip("-").split("=", 1) for flag in synced["args"])
    [mount] = [one for one in synced["volumeMounts"] if one["name"] == "widgets"]

    assert served["args"] == ["serve", f"{flags['root']}/{flags['link']}/widgets"]
    assert mount["mountPath"] == flags["root"]
    assert synced["securityContext"] == pod()["containers"][0]["securityContext"]
    assert synced["restartPolicy"] == "Always"
    require_valid(objects.values())
