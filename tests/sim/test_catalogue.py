"""Each figure of the catalogue, worked out again from what its source prints; nearest names."""

from __future__ import annotations

import re

import pytest

from sim.catalogue import MACHINES, MODELS, machine_named, model_named
from sim.passes import GIB, Machine, Model

UNITS = {"TB/s": 1e12, "GB/s": 1e9, "TFLOPS": 1e12, "GB": GIB}


def worked_out(printed: str) -> float:
    """“1,979 TFLOPS with sparsity ÷ 2”: a number, its unit, and what it is multiplied with."""
    found = re.match(r"([\d.,]+) (\S+)( with sparsity)?((?: [÷×] \d+)*)$", printed)
    assert found
    value = float(found[1].replace(",", "")) * UNITS[found[2]]
    assert bool(found[3]) <= found[4].startswith(" ÷ 2"), "a figure for sparsity is halved"
    for sign, factor in re.findall(r"([÷×]) (\d+)", found[4]):
        value = value / int(factor) if sign == "÷" else value * int(factor)
    return value


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_the_three_figures_of_a_machine_are_those_of_its_source(machine: Machine) -> None:
    bandwidth, flops, capacity = map(worked_out, machine.source.printed.split("; "))
    assert machine.bandwidth == pytest.approx(bandwidth)
    assert machine.flops == pytest.approx(flops, rel=1e-3)
    assert machine.capacity == pytest.approx(capacity)
    assert machine.source.address.startswith("https://")


def printed(model: Model, name: str) -> int:
    found = re.search(rf"{name} (\d+)", model.source.printed)
    return int(found[1]) if found else 0


def counted(model: Model) -> float:
    """Parameters from the configuration, without norms and biases, which are under 0.1 %."""
    hidden, wide, words = (printed(model, n) for n in ("hidden", "intermediate", "vocabulary"))
    attention = 2 * hidden * model.head_size * (model.heads + model.kv_heads)
    matrices = 2 if model.name.startswith("OPT") else 3
    layer = attention + matrices * hidden * wide * (model.experts or 1)
    tables = 1 if "tied" in model.source.printed else 2
    return model.layers * layer + tables * words * hidden


@pytest.mark.parametrize("model", [m for m in MODELS if not m.latent], ids=lambda model: model.name)
def test_the_parameters_of_a_model_are_those_of_its_configuration(model: Model) -> None:
    assert model.parameters == pytest.approx(counted(model), rel=2e-3)


@pytest.mark.parametrize("model", [m for m in MODELS if m.experts], ids=lambda model: model.name)
def test_the_experts_of_a_mixture_are_those_of_its_configuration(model: Model) -> None:
    layers = printed(model, "experts in")
    experts = layers * model.experts * 3 * printed(model, "hidden") * printed(model, "intermediate")
    assert model.expert_parameters == pytest.approx(experts, rel=1e-3)


def test_what_a_latent_model_computes_with_is_what_its_makers_say() -> None:
    assert model_named("DeepSeek-V3").active_parameters == pytest.approx(37e9, rel=0.02)
    assert model_named("Qwen3-30B-A3B").active_parameters == pytest.approx(3.3e9, rel=0.02)


def test_a_name_is_found_however_it_is_written() -> None:
    assert machine_named("h100 sxm") is machine_named("H100-SXM")
    assert model_named("llama3.1_8b") is model_named("Llama-3.1-8B")


def test_a_name_that_is_not_there_is_told_with_the_nearest_ones() -> None:
    with pytest.raises(ValueError, match="machine: no “H1000” here; nearest: H100-"):
        machine_named("H1000")
    with pytest.raises(ValueError, match=r"model: no “Lama 8B” here; nearest: Llama-3\.1-8B"):
        model_named("Lama 8B")
    with pytest.raises(ValueError, match=r"model: no “\?” here; nearest: "):
        model_named("?")


def test_no_two_entries_share_a_name_and_none_has_a_space() -> None:
    for names in ([m.name for m in MACHINES], [m.name for m in MODELS]):
        assert len(set(names)) == len(names)
        assert not any(" " in name for name in names)
