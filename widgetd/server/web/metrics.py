"""Metrics for Prometheus: the only importer of prometheus-client.

Each daemon has a registry of its own. A widget's series are removed with the widget, so
their number stays in proportion. Observers push counts. States are read at each scrape.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import TypeVar, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import pseudonym
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.reload import Swap
from widgetd.server.observe.observer import (
    ActionRecord,
    CallRecord,
    Notice,
    Observer,
    Outcome,
    Upload,
)
from widgetd.server.observe.status import Health
from widgetd.server.web.limits import LIMITS

Child = TypeVar("Child")

_LIMIT_NAMES = {"W2201": "rate", "W2202": "at_once"}
"""Labels of a principal's limits, by the code of their refusals."""

_CALL_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_SAVE_S = (0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10)
_STEPS = (100, 1_000, 10_000, 100_000)
_SCAN_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30)


class Metrics(Observer):
    """The metrics of a daemon, and an observer of reloads, calls, uploads and notifications."""

    def __init__(self, registry: Registry, health: Health) -> None:
        self._registry = registry
        self._health = health
        # The start of a series says no more than its name and the process.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.collected = CollectorRegistry()
        for standard in (ProcessCollector, PlatformCollector, GCCollector):
            standard(registry=self.collected)
        self._attempts = self._counter("reload_attempts", "Files that were new or other, and read.")
        self._successes = self._counter("reload_successes", "Files that came to be served so.")
        self._refusals = self._counter("reload_refusals", "Files that could not be served.")
        self._missed = self._counter("changes_missed", "Changes that no file event reported.")
        self._calls = self._counter("calls", "Calls that are over.", "outcome", "widget")
        self._limited = self._counter(
            "calls_limited", "Calls refused for what their principal asks for.", "limit"
        )
        for limit in _LIMIT_NAMES.values():
            self._limited.labels(limit)
        self._differences = self._counter(
            "page_differences", "Renders that a page drew otherwise than the server.", "widget"
        )
        self._uploads = self._counter("uploads", "Widgets brought to the folder.", "outcome")
        for outcome in get_args(Outcome):
            self._uploads.labels(outcome)  # a rise from nothing is no rise to Prometheus
        self._notices = self._counter(
            "notifications", "Notifications of changes to clients.", "list"
        )
        self._succeeded = Gauge(
            "widgetd_last_success_timestamp_seconds",
            "When a changed file was last served.",
            registry=self.collected,
        )
        self._save = self._histogram(
            "save_to_swap_seconds", "From a file's write to its swap.", _SAVE_S
        )
        self._scans = self._histogram("survey_seconds", "One look at the folder.", _SCAN_S)
        self._seconds = self._histogram("call_seconds", "One call.", _CALL_S, "widget")
        self._steps = self._histogram("render_steps", "Steps of one render.", _STEPS, "widget")
        self._calls_of = {
            outcome: _Children(partial(self._calls.labels, outcome))
            for outcome in get_args(Outcome)
        }
        self._seconds_of = _Children(self._seconds.labels)
        self._steps_of = _Children(self._steps.labels)
        self.collected.register(_ScrapedCollector(partial(_states, registry, health)))

    def on_scan(self, seconds: float) -> None:
        self._scans.observe(seconds)

    def on_swap(self, swap: Swap) -> None:
        change = swap.change
        good, bad = len(change.added) + len(change.changed), len(change.refused)
        self._attempts.inc(good + bad)
        self._successes.inc(good)
        self._refusals.inc(bad)
        if good:
            self._succeeded.set_to_current_time()
        if swap.saved_s is not None and swap.saved_s < LIMITS.saved_within_s:
            self._save.observe(swap.saved_s)
        if (
            swap.routine
            and self._health.watch == "native"
            and (swap.saved_s or 0) > LIMITS.missed_after_s
        ):
            self._missed.inc(good)
        for tool in change.removed:
            self._seconds_of.pop(tool, None)
            self._steps_of.pop(tool, None)
            for counters in self._calls_of.values():
                counters.pop(tool, None)
            for metric in (self._calls, self._seconds, self._steps, self._differences):
                metric.remove_by_labels({"widget": tool})

    def on_call(self, call: CallRecord) -> None:
        widget = call.tool if call.widget is None else call.widget.tool
        if call.widget is not None and widget not in self._registry.current.widgets:
            widget = ""
        self._calls_of[call.outcome][widget].inc()
        self._seconds_of[widget].observe(call.seconds)
        if call.code in _LIMIT_NAMES:
            self._limited.labels(_LIMIT_NAMES[call.code]).inc()

    def on_render(self, widget: Widget, steps: int) -> None:
        if widget.tool in self._registry.current.widgets:
            self._steps_of[widget.tool].observe(steps)

    def on_action(self, action: ActionRecord) -> None:
        self._action_calls.labels(action.upstream, action.outcome).inc()

    def on_difference(self, widget: Widget) -> None:
        """Count a render drawn otherwise by a page, unless its widget was removed meanwhile."""
        if widget.tool in self._registry.current.widgets:
            self._differences.labels(widget.tool).inc()

    def on_upload(self, upload: Upload) -> None:
        self._uploads.labels(upload.outcome).inc()

    def on_notice(self, notice: Notice) -> None:
        for kind, count in (
            ("tools", int(notice.tools)),
            ("resources", int(notice.resources)),
            ("updated", len(notice.updated)),
        ):
            self._notices.labels(kind).inc(count)

    def watch_number(self, name: str, meaning: str, number: Callable[[], int]) -> None:
        self.watch(name, meaning, (), lambda: {(): number()}, GaugeMetricFamily)

    def watch_upstreams(self, ups: Callable[[], Mapping[str, bool]]) -> None:
        self.watch(
            "upstream_up",
            "Whether an upstream can be called.",
            ["upstream"],
            lambda: {(name,): int(up) for name, up in ups().items()},
            GaugeMetricFamily,
        )
        self._upstream_calls = self._counter(
            "upstream_calls", "Calls of an upstream.", "upstream", "outcome"
        )
        self._action_calls = self._counter(
            "action_calls", "Actions that called an upstream.", "upstream", "outcome"
        )
        self._upstream_seconds = self._histogram(
            "upstream_call_seconds", "One call of an upstream.", _CALL_S, "upstream"
        )
        self._upstream_answers = self._counter(
            "upstream_answers", "Widgets that were filled.", "upstream", "from"
        )

    def upstream_called(self, upstream: str, outcome: str, seconds: float) -> None:
        self._upstream_calls.labels(upstream, outcome).inc()
        self._upstream_seconds.labels(upstream).observe(seconds)

    def upstream_answered(self, upstream: str, source: str) -> None:
        self._upstream_answers.labels(upstream, source).inc()

    def exposition(self, accept: str, named: Collection[str] | None) -> tuple[bytes, str]:
        """Encode all metrics.

        Args:
            accept: The scraper's `Accept`, for the choice of the format.
            named: Tools visible to the scraper. Others have a pseudonym. None names all.

        Returns:
            The text and its media type.
        """
        encode, media_type = choose_encoder(accept)
        if named is None:
            return encode(self.collected), media_type
        return encode(_ScrapedCollector(partial(_hide_names, self.collected, named))), media_type

    def watch_count(self, name: str, meaning: str, number: Callable[[], int]) -> None:
        """Export `number`, never falling, as a counter, read at each scrape."""
        self.watch(name, meaning, (), lambda: {(): number()})

    def watch(
        self,
        name: str,
        meaning: str,
        labels: Sequence[str],
        numbers: Callable[[], Mapping[tuple[str, ...], int]],
        family_type: type[GaugeMetricFamily | CounterMetricFamily] = CounterMetricFamily,
    ) -> None:
        """Export `numbers` by the values of `labels`, read at each scrape. Counters never fall."""

        def collect() -> Iterator[Metric]:
            family = family_type(f"widgetd_{name}", meaning, labels=labels)
            for values, number in numbers().items():
                family.add_metric(values, number)
            yield family

        self.collected.register(_ScrapedCollector(collect))

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"widgetd_{name}", meaning, labels, registry=self.collected)

    def _histogram(
        self, name: str, meaning: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(
            f"widgetd_{name}", meaning, labels, registry=self.collected, buckets=buckets
        )


class _Children(dict[str, Child]):
    """A metric's child for each widget, cached: `labels()` costs a call a lock and a search."""

    def __init__(self, child_of: Callable[[str], Child]) -> None:
        self._child_of = child_of

    def __missing__(self, widget: str) -> Child:
        child = self._child_of(widget)
        self[widget] = child
        return child


class _ScrapedCollector(Collector):
    """A collector of metrics built at each scrape."""

    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self._collect = collect

    def collect(self) -> Iterator[Metric]:
        return self._collect()


def _hide_names(collected: Collector, named: Collection[str]) -> Iterator[Metric]:
    for metric in collected.collect():
        metric.samples = [
            sample._replace(labels={**sample.labels, "widget": pseudonym(tool)})
            if (tool := sample.labels.get("widget", "")) not in named
            else sample
            for sample in metric.samples
        ]
        yield metric


def _states(registry: Registry, health: Health) -> Iterator[Metric]:
    snapshot = registry.current
    yield InfoMetricFamily(
        "widgetd_build",
        "What runs.",
        {name: version(name) for name in ("widgetd", "fastmcp", "mcp")},
    )
    yield InfoMetricFamily(
        "widgetd_generation",
        "Hashes of what is served and of the files: equal on replicas that agree.",
        {"generation": snapshot.generation, "files": snapshot.files},
    )
    widgets = GaugeMetricFamily("widgetd_widgets", "Widgets by state.", labels=["state"])
    stale = len(snapshot.stale)
    widgets.add_metric(["current"], len(snapshot.widgets) - stale)
    widgets.add_metric(["stale"], stale)
    widgets.add_metric(["refused"], len(snapshot.refusals))
    yield widgets
    for name, meaning, holds in (
        ("ready", "Whether clients may be sent here.", health.ready),
        ("degraded", "Whether the folder vanished.", snapshot.degraded is not None),
        ("file_events", "Whether file events arrive.", health.watch == "native"),
    ):
        yield GaugeMetricFamily(f"widgetd_{name}", meaning, value=int(holds))
