"""Hostile answers and greedy mappings fill the widget or are refused, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from tests.unit.upstreams.feed_attacks import ATTACKS, FILLINGS, LONGEST_ERROR, FeedAttack, judge
from widgetd.base.errors import CallError
from widgetd.server.render.limits import LIMITS as IMAGES


@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_answer_fills_the_widget_or_is_refused(name: str) -> None:
    attack = ATTACKS[name]
    fill = attack.prepare()
    if not attack.code:
        assert len(json.dumps(fill())) <= IMAGES.images_bytes + 1_000
        return
    with pytest.raises(CallError) as raised:
        fill()

    assert raised.value.code == attack.code
    assert len(str(raised.value)) <= LONGEST_ERROR


@given(FILLINGS)
def test_any_answer_fills_the_widget_or_is_refused_without_its_values(filling: FeedAttack) -> None:
    judge(filling)
