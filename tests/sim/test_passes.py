"""What a pass costs: check values, units, sequences of different lengths, mixtures of experts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.catalogue import MACHINES, MODELS, machine_named, model_named
from sim.passes import GIB, Machine, Model, pass_roofs

LLAMA = model_named("Llama-3.1-8B")


def milliseconds(name: str, batch: int, n: int, context: int) -> float:
    return (
        pass_roofs(
            machine_named(name),
            LLAMA,
            batch * n,
            batch * context,
            batch * n * context,
            LLAMA.weights_read(batch * n),
        ).seconds
        * 1000
    )


@pytest.mark.parametrize(
    ("name", "batch", "n", "context", "expected"),
    [
        ("H100-SXM", 1, 1, 0, 4.794),
        ("H100-SXM", 1, 5, 2048, 4.874),
        ("H100-SXM", 64, 1, 2048, 9.922),
        ("H100-SXM", 64, 5, 2048, 9.922),
        ("A100-80GB", 1, 1, 0, 7.876),
        ("A100-80GB", 1, 5, 2048, 8.008),
        ("A100-80GB", 64, 1, 2048, 16.302),
        ("A100-80GB", 64, 5, 2048, 17.573),
    ],
)
def test_passes_of_an_8b_model_take_what_was_worked_out_by_hand(
    name: str, batch: int, n: int, context: int, expected: float
) -> None:
    assert milliseconds(name, batch, n, context) == pytest.approx(expected, abs=5e-4)


def test_arithmetic_is_told_apart_from_memory() -> None:
    weights = LLAMA.weights_read(320)
    for n, expected in ((1, 1.109), (5, 5.544)):
        roofs = pass_roofs(
            machine_named("H100-SXM"), LLAMA, 64 * n, 64 * 2048, 64 * n * 2048, weights
        )
        assert roofs.arithmetic * 1000 == pytest.approx(expected, abs=5e-4)
        assert roofs.seconds == roofs.memory


models = st.sampled_from(MODELS)
machines = st.sampled_from(MACHINES)
sequences = st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 300)), min_size=1, max_size=9)


def priced(machine: Machine, model: Model, batch: list[tuple[int, int]]) -> float:
    positions = sum(n for _, n in batch)
    contexts = sum(context for context, _ in batch)
    both = sum(context * n for context, n in batch)
    return pass_roofs(
        machine, model, positions, contexts, both, model.weights_read(positions)
    ).seconds


@given(machines, models, sequences, st.tuples(st.integers(0, 4000), st.integers(1, 300)))
def test_one_sequence_more_never_makes_a_pass_shorter_but_shares_its_weights(
    machine: Machine, model: Model, batch: list[tuple[int, int]], more: tuple[int, int]
) -> None:
    together = priced(machine, model, [*batch, more])
    assert together >= priced(machine, model, batch)
    alone = priced(machine, model, batch) + priced(machine, model, [more])
    assert together <= alone * (1 + 1e-12)


@given(machines, models, sequences)
def test_twice_the_limits_halve_the_time_and_so_do_two_cards(
    machine: Machine, model: Model, batch: list[tuple[int, int]]
) -> None:
    time = priced(machine, model, batch)
    assert priced(machine.reaching(cards=2), model, batch) == pytest.approx(time / 2)
    assert priced(machine.reaching(1, 0.5, 0.5), model, batch) == pytest.approx(time * 2)
    wide = replace(machine, bandwidth=machine.bandwidth * 2)
    assert time / 2 <= priced(wide, model, batch) <= time


@given(st.sampled_from([m for m in MODELS if m.experts]), st.integers(1, 4000))
def test_a_mixture_reads_between_its_active_weights_and_all(model: Model, positions: int) -> None:
    read = model.weights_read(positions)
    assert model.active_parameters * 2 <= read * (1 + 1e-12)
    assert read <= model.parameters * 2
    assert read <= model.weights_read(positions + 1)


def test_one_position_of_a_mixture_reads_what_it_is_multiplied_with() -> None:
    for model in MODELS:
        assert model.weights_read(1) == pytest.approx(2 * model.active_parameters)


def test_a_token_of_each_model_takes_what_its_layers_and_heads_say() -> None:
    expected = {
        "Llama-3.1-8B": 131_072,
        "Llama-3.1-70B": 327_680,
        "Llama-3.2-1B": 32_768,
        "Qwen3-0.6B": 114_688,
        "Qwen3-8B": 147_456,
        "Qwen3-32B": 262_144,
        "Qwen3-30B-A3B": 98_304,
        "DeepSeek-V3": 70_272,
        "DeepSeek-V3-MTP": 1_152,
        "Gemma-2-9B": 344_064,
        "Gemma-2-27B": 376_832,
        "OPT-13B": 819_200,
    }
    assert {model.name: model.kv_bytes() for model in MODELS} == expected


def test_memory_is_counted_in_gib_because_makers_mean_them() -> None:
    assert machine_named("A100-40GB").capacity == 40 * GIB
