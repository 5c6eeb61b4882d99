"""Settings of all tests: certificates, examples of properties, garbage collection."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.examples import examples
from widgetd.base import logs
from widgetd.daemon.limits import LIMITS

# Each new HTTP client reads all authorities that this machine trusts, which takes longer than most
# requests here. No test uses HTTPS, so they get a folder without any; installers still need them.
os.environ.setdefault("INSTALLER_CERT_FILE", os.environ.pop("SSL_CERT_FILE", ""))
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

# The time that an example takes on a busy machine is no property of the code under test.
settings.register_profile("untimed", examples(100), deadline=None)
settings.load_profile("untimed")


# Modules and collected tests are a million objects that live until the end. Visiting them again and
# again took a tenth of the tests' processor time and half of their collection's. What tests make
# took another twentieth where it was visited every few hundred objects, as in no daemon.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(LIMITS.gc_objects)
    gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on the loop that the daemon runs on."""
    return "asyncio"


@pytest.fixture(autouse=True)
def restore_log() -> Iterator[None]:
    """Undo the log's configuration by a command that a test ran in this process.

    Its handler writes to the standard error of that test. An event of a later test would
    print a traceback about a closed file among the output that the later test reads.
    """
    root, package, events = logging.getLogger(), logging.getLogger(logs.NAME), logs.get_logger()
    levels, destination = (root.level, package.level), events.destination
    yield
    if events.destination is not destination:
        events.write_to(destination)
        root.handlers[:] = [
            each for each in root.handlers if type(each) is not logging.StreamHandler
        ]
        root.setLevel(levels[0])
        package.setLevel(levels[1])
