"""What may be asked of a scene, in one table: buttons, locks, the API, hosts, scripts."""

from __future__ import annotations

import re

import pytest

from sim.host import scripts
from sim.params import Params
from sim.verbs import ASKED_BY_HOSTS, LOCKABLE, SCRIPTED, VERB
from sim.view import LOCKS
from tests.server import ROOT

BUTTONS = set(re.findall(r'data-action="([a-z-]+)"', (ROOT / "index.html").read_text("utf-8")))


def test_every_button_is_a_verb_and_every_verb_a_button_a_call_or_a_message() -> None:
    assert set(VERB) >= BUTTONS
    assert set(VERB) == BUTTONS | set(SCRIPTED) | set(ASKED_BY_HOSTS)


def test_what_a_link_may_lock_is_a_button_and_fixes_it() -> None:
    assert set(LOCKABLE) <= BUTTONS & set(LOCKS)
    for name in BUTTONS - set(LOCKABLE):
        assert VERB[name].locks == (name,) or set(VERB[name].locks) <= set(LOCKS)
    assert len(set(LOCKS)) == len(LOCKS)


def test_the_calls_and_the_messages_are_those_that_others_rely_on() -> None:
    both = {"set", "seek", "step", "play", "pause", "evict", "reset"}
    assert set(SCRIPTED) == both | {"state"}
    assert set(ASKED_BY_HOSTS) == both | {"picture", "resume"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("set", [{"k": 7, "tick": 9}]), ("seek", [9]), ("step", [None]), ("evict", [])],
)
def test_a_message_of_a_host_holds_the_arguments(name: str, arguments: list[object]) -> None:
    assert VERB[name].arguments({"k": 7, "tick": 9}) == arguments


def test_there_is_nothing_to_evict_with_the_cache_off() -> None:
    assert "Nothing is kept" in VERB["evict"].idle(Params(kv_cache=False))
    assert VERB["evict"].idle(Params()) == ""
    assert not any(verb.idle(Params(kv_cache=False)) for verb in VERB.values() if not verb.needs)
    assert Params(evictions=(3, 9)).evictions_made == (3, 9)
    assert Params(evictions=(3, 9), kv_cache=False).evictions_made == ()


@pytest.mark.parametrize("name", list(scripts.LISTS))
def test_the_scripts_hold_the_lists_of_the_tables(name: str) -> None:
    script = (ROOT / "static" / name).read_text(encoding="utf-8")
    assert scripts.printed(name, script) == script, "run: python3 -m sim.host.printed"
    for constant in scripts.LISTS[name]:
        other = script.replace(f'const {constant} = "', f'const {constant} = "x ')
        assert other != script
        assert scripts.printed(name, other) == script
        with pytest.raises(ValueError, match=f"0 places for {constant}"):
            scripts.printed(name, script.replace(f"const {constant} =", "const X ="))
