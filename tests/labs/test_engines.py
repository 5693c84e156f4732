"""The best draft lengths as engines take them: ranges, one length, none, and each kind of draft."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from sim.labs.cost import engines_html
from sim.labs.cost_settings import Asked, case_of, priced
from sim.labs.engines import LLAMA, SGLANG, VLLM, cautions, engines, refusal
from sim.labs.pricing import Range


def told(**settings: object) -> tuple[dict[str, str], dict[str, str], tuple[Range, ...]]:
    asked = Asked(**settings)  # type: ignore[arg-type]
    given = priced(asked)
    found = engines(given)
    assert [one.name for one in found] == [VLLM, SGLANG, LLAMA]
    return (
        {e.name: e.command for e in found},
        {e.name: e.note for e in found},
        tuple(given.fitting or given.agreed),
    )


def words(command: str) -> list[str]:
    return shlex.split(command.partition("\n\n")[0].replace("\\\n", " "))


def after(command: str, flag: str) -> str:
    found = words(command)
    return found[found.index(flag) + 1]


def test_vllm_is_told_a_length_for_each_range_of_batches() -> None:
    commands, _, expected = told()
    config = json.loads(after(commands[VLLM], "--speculative-config"))
    table = config["num_speculative_tokens_per_batch_size"]
    assert table == [list(one) for one in expected]
    assert table[0][0] == 1
    assert table[-1][1:] == [512, 0]
    assert config["num_speculative_tokens"] == max(k for _, _, k in table)
    assert config["method"] == "draft_model"
    assert config["model"] == "meta-llama/Llama-3.2-1B"
    assert words(commands[VLLM])[:3] == ["vllm", "serve", "meta-llama/Llama-3.1-8B"]


def test_engines_are_told_of_the_batches_that_fit_and_of_no_more() -> None:
    commands, _, _ = told(context=2048, batch=64)
    config = json.loads(after(commands[VLLM], "--speculative-config"))
    assert config["num_speculative_tokens_per_batch_size"][-1][1] == 175
    assert after(commands[VLLM], "--max-num-seqs") == "175"
    assert after(commands[SGLANG], "--max-running-requests") == "175"
    commands, _, _ = told()
    assert "--max-num-seqs" not in commands[VLLM]
    assert "--max-running-requests" not in commands[SGLANG]


def test_all_engines_are_told_the_same_at_the_batch_that_is_set() -> None:
    curve = ((1.0, 8.1), (32.0, 8.6), (160.0, 10.4), (512.0, 16.5), (1024.0, 30.2))
    for settings in ({"curve": curve, "machine": "A100-80GB", "context": 2048}, {}, {"k": 2}):
        for batch in (1, 14, 32, 60, 90):
            commands, _, expected = told(batch=batch, **settings)
            (here,) = [one.k for one in expected if one.first <= batch <= one.last]
            best = priced(Asked(batch=batch, **settings)).case.best(batch).k
            assert here == best
            assert after(commands[LLAMA], "--spec-draft-n-max") == str(best)
            config = json.loads(after(commands[VLLM], "--speculative-config"))
            assert list(expected[-1]) in config["num_speculative_tokens_per_batch_size"]


def test_sglang_and_llama_are_told_the_one_length_of_this_batch() -> None:
    for batch in (1, 100, 300):
        commands, notes, _ = told(batch=batch)
        best = case_of(Asked(batch=batch)).best(batch).k
        assert best
        assert after(commands[SGLANG], "--speculative-num-steps") == str(best)
        assert after(commands[SGLANG], "--speculative-num-draft-tokens") == str(best + 1)
        assert after(commands[SGLANG], "--speculative-algorithm") == "STANDALONE"
        assert after(commands[LLAMA], "--spec-draft-n-max") == str(best)
        assert f"that of batch {batch}" in notes[SGLANG]
        assert f"that of batch {batch}" in notes[LLAMA]


def test_sglang_takes_ranges_for_heads_and_no_zero() -> None:
    commands, notes, expected = told(draft="0.05", context=0)
    (written,) = re.findall(r"\n\nadaptive\.json\n(.*)", commands[SGLANG])
    table = json.loads(written)
    assert expected[-1].k == 0
    assert table == {str(o.first): {"candidate_steps": [max(1, o.k or 0)]} for o in expected}
    assert f"at {expected[-1].first}–512, where none gains, it drafts 1" in notes[SGLANG]


@pytest.mark.parametrize(
    ("settings", "method", "algorithm", "kind"),
    [
        ({"draft": "ngram"}, "ngram", "NGRAM", "ngram-simple"),
        ({"draft": "0.05"}, "eagle3", "EAGLE3", "draft-eagle3"),
        ({"draft": "0.05", "parallel": True}, "dflash", "DFLASH", "draft-dflash"),
        ({"draft": "Qwen3-0.6B", "model": "Qwen3-8B"}, "draft_model", "STANDALONE", "draft-simple"),
        ({"draft": "DeepSeek-V3-MTP", "model": "DeepSeek-V3"}, "mtp", "EAGLE", "draft-mtp"),
    ],
)
def test_each_kind_of_draft_has_its_name_in_each_engine(
    settings: dict[str, object], method: str, algorithm: str, kind: str
) -> None:
    commands, _, _ = told(batch=1, **settings)
    assert json.loads(after(commands[VLLM], "--speculative-config"))["method"] == method
    assert after(commands[SGLANG], "--speculative-algorithm") == algorithm
    assert after(commands[LLAMA], "--spec-type") == kind


def test_where_nothing_gains_engines_are_started_without_speculation() -> None:
    commands, notes, _ = told(acceptance_rate=0.0, machines=2)
    for name, command in commands.items():
        assert "spec" not in command
        assert notes[name].startswith("No draft length gains")
    assert after(commands[VLLM], "--tensor-parallel-size") == "2"
    assert after(commands[SGLANG], "--tp") == "2"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "Llama-3.1-70B", "batch": 1}, "No command, for it does not fit"),
        (
            {"draft": "DeepSeek-V3-MTP", "machines": 2},
            "is a layer of DeepSeek-V3, and drafts for no",
        ),
    ],
)
def test_what_would_not_start_is_no_command(settings: dict[str, object], told: str) -> None:
    case = priced(Asked(**settings))  # type: ignore[arg-type]
    assert told in refusal(case)
    html = engines_html(case)
    assert told in html
    assert "data-copy" not in html
    assert not refusal(priced(Asked()))
    own = Asked(model="DeepSeek-V3", draft="DeepSeek-V3-MTP", machines=32)
    assert not refusal(priced(own))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"draft": "Qwen3-0.6B"}, "Qwen3-0.6B and Llama-3.1-8B are of different families"),
        ({"width": 0.5}, "0.5 bytes a weight need a checkpoint that holds such weights"),
    ],
)
def test_what_is_to_be_seen_to_stands_by_the_commands(
    settings: dict[str, object], told: str
) -> None:
    case = priced(Asked(**settings))  # type: ignore[arg-type]
    (caution,) = cautions(case)
    assert caution.startswith(told)
    html = engines_html(case)
    assert told in html
    assert "data-copy" in html
    for plain in ({}, {"draft": "ngram"}, {"draft": "0.05"}, {"model": "Llama-3.1-70B"}):
        assert cautions(priced(Asked(**plain))) == []  # type: ignore[arg-type]
