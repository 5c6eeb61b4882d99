"""Metrics, over a real port."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import anyio
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.server.catalog.change import Change
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.reload import Swap
from widgetd.server.observe.status import Health
from widgetd.server.web.metrics import Metrics


async def scrape(url: str) -> dict[str, float]:
    """Return every sample by its name and labels, as `widgetd_calls_total{ok,a}`."""
    text = (await ask(url, "/metrics")).text
    return {
        sample.name + (f"{{{','.join(sample.labels.values())}}}" if sample.labels else ""): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_calls_are_counted_by_widget_and_outcome_on_every_path(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path) as url, connect_client(url, "modern") as client:
        await client.call("a", who="Ada")
        call = {"name": "a", "arguments": {"who": "Ada"}}
        await client.client.call_tool("render_widget", call)
        await client.call("a")
        await client.call("search_widgets", query="a")
        await client.call("no_such_tool_sk_12345")
        metrics = await scrape(url)

    assert {name: value for name, value in metrics.items() if "calls_total" in name} == {
        "widgetd_calls_total{ok,a}": 2,
        "widgetd_calls_total{error,a}": 1,
        "widgetd_calls_total{ok,search_widgets}": 1,
        "widgetd_calls_total{error,}": 1,
    }
    assert metrics["widgetd_call_seconds_count{a}"] == 3
    assert metrics["widgetd_render_steps_count{a}"] == 2
    assert metrics["widgetd_render_steps_bucket{100.0,a}"] == 2
    assert not any("sk_12345" in name for name in metrics)


async def test_requests_are_counted_by_route_whatever_the_answer(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path) as url, connect_client(url, "legacy") as client:
        await client.call("a", who="Ada")  # the first one asks for the list, too
        before = (await scrape(url))["widgetd_http_requests_total{POST,/mcp,200}"]
        await client.call("a", who="Ada")
        await client.call("a", who="Ada")
        for path in ("/readyz", "/sk_12345", "/render/sk_12345"):
            await ask(url, path)
        await ask(url, "/render/a", method="POST")
        metrics = await scrape(url)

    assert metrics["widgetd_http_requests_total{POST,/mcp,200}"] == before + 2
    assert metrics["widgetd_http_requests_total{GET,/readyz,200}"] == 1
    assert metrics["widgetd_http_requests_total{GET,other,404}"] == 1
    assert metrics["widgetd_http_requests_total{GET,/render/{name},405}"] == 1
    assert metrics["widgetd_http_requests_total{POST,/render/{name},400}"] == 1
    assert metrics["widgetd_http_request_bytes_total{/mcp}"] > 200
    assert metrics["widgetd_http_response_bytes_total{/mcp}"] > 200
    assert not any("sk_12345" in name for name in metrics)


async def test_refusals_are_counted_by_reason(tmp_path: Path) -> None:
    widgets, tokens = tmp_path / "widgets", tmp_path / "tokens"
    widgets.mkdir()
    tokens.write_text("p pppppppppppppppp metrics\nr rrrrrrrrrrrrrrrr widgets:read\n")
    (widgets / "A.widget").write_text(widget_file("A"))
    bearing = {"authorization": "Bearer pppppppppppppppp"}
    async with serving(widgets, token_file=tokens, rate=0.001, burst=1) as url:
        await ask(url, "/mcp", method="POST")
        await ask(url, "/mcp", method="POST", authorization="Bearer nobody")
        await ask(url, "/metrics")
        await ask(url, "/status", **bearing)
        text = (await ask(url, "/metrics", **bearing)).text

    counted = dict(re.findall(r'widgetd_refused_logins_total\{reason="(\w+)"\} (\S+)', text))
    assert counted == {"no_token": "2.0", "unknown_token": "1.0", "no_scope": "1.0"}
    assert 'widgetd_calls_limited_total{limit="rate"} 0.0' in text


async def test_calls_beyond_a_limit_are_counted_by_limit(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path, rate=0.001, burst=1) as url:
        for _ in range(3):
            await ask(url, "/render/a", method="POST", content_type="application/json")
        metrics = await scrape(url)

    assert metrics["widgetd_calls_limited_total{rate}"] == 2
    assert metrics["widgetd_calls_limited_total{at_once}"] == 0


async def test_reloads_are_counted_and_removed_widgets_leave_no_series(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path) as url, connect_client(url, "legacy") as client:
        await client.call("a", who="Ada")
        (tmp_path / "B.widget").write_text(widget_file("B"))
        await client.lists("b")
        (tmp_path / "Broken.widget").write_text("{")
        (tmp_path / "A.widget").unlink()
        await client.lists("a", present=False)
        metrics = await scrape(url)
        with anyio.fail_after(PATIENCE_S):
            while _counts_a(metrics):  # clients are notified before it is counted
                metrics = await scrape(url)

    assert metrics["widgetd_reload_attempts_total"] == 3
    assert metrics["widgetd_reload_successes_total"] == 2
    assert metrics["widgetd_reload_refusals_total"] == 1
    assert metrics["widgetd_last_success_timestamp_seconds"] > 0
    assert metrics["widgetd_save_to_swap_seconds_count"] == 2
    assert metrics["widgetd_survey_seconds_count"] > 2
    assert metrics["widgetd_changes_missed_total"] == 0
    assert metrics["widgetd_notifications_total{tools}"] == 2
    assert metrics["widgetd_widgets{current}"] == 1
    assert metrics["widgetd_widgets{refused}"] == 1
    assert (metrics["widgetd_sessions"], metrics["widgetd_listeners"]) == (1, 1)
    assert not _counts_a(metrics)


def _counts_a(metrics: Mapping[str, float]) -> bool:
    return any(re.search(r"[{,]a[,}]", name) for name in metrics)


async def test_generation_metric_equals_readyz(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path) as url:
        ready = (await ask(url, "/readyz")).json()
        metrics = await scrape(url)

    assert metrics[f"widgetd_generation_info{{{ready['files']},{ready['generation']}}}"] == 1


@pytest.mark.parametrize(
    ("routine", "watch", "saved_s", "missed"),
    [
        (True, "native", 2.0, 1),
        (True, "native", 0.05, 0),
        (True, "poll", 2.0, 0),
        (False, "native", 2.0, 0),
    ],
)
def test_change_counts_as_missed_if_only_the_timer_found_it_despite_working_events(
    *, routine: bool, watch: str, saved_s: float, missed: int
) -> None:
    registry, health = Registry(), Health(watch=watch)
    metrics = Metrics(registry, health)
    swap = partial(Swap, snapshot=registry.current, change=Change(changed=("a",)))

    metrics.on_swap(swap(saved_s=saved_s, routine=routine))

    assert metrics.collected.get_sample_value("widgetd_changes_missed_total") == missed
