"""Machines and models by name, each with where its figures stand. Data alone.

Arithmetic is dense, on 16-bit numbers with sums in 32 bits, as engines compute; a figure that is
printed for sparsity is halved. Memory is in GiB, which makers call GB. Parameters are counted from
the model's configuration, embeddings included.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from sim.passes import GIB, Machine, Model, Source


def _machine(
    name: str, gb_per_s: float, tflops: float, gib: float, document: str, address: str, printed: str
) -> Machine:
    source = Source(document, address, printed)
    return Machine(name, gb_per_s * 1e9, tflops * 1e12, gib * GIB, source)


MACHINES = (
    _machine(
        *("A100-40GB", 1555, 312, 40),
        "NVIDIA A100 data sheet",
        "https://www.nvidia.com/en-us/data-center/a100/",
        "1,555 GB/s; 312 TFLOPS; 40 GB",
    ),
    _machine(
        *("A100-80GB", 2039, 312, 80),
        "NVIDIA A100 data sheet, SXM",
        "https://www.nvidia.com/en-us/data-center/a100/",
        "2,039 GB/s; 312 TFLOPS; 80 GB",
    ),
    _machine(
        *("H100-SXM", 3350, 989, 80),
        "NVIDIA H100 data sheet",
        "https://www.nvidia.com/en-us/data-center/h100/",
        "3.35 TB/s; 1,979 TFLOPS with sparsity ÷ 2; 80 GB",
    ),
    _machine(
        *("H100-PCIe", 2000, 756, 80),
        "NVIDIA H100 data sheet, PCIe",
        "https://www.nvidia.com/en-us/data-center/h100/",
        "2 TB/s; 1,513 TFLOPS with sparsity ÷ 2; 80 GB",
    ),
    _machine(
        *("H200", 4800, 989, 141),
        "NVIDIA H200 data sheet, SXM",
        "https://www.nvidia.com/en-us/data-center/h200/",
        "4.8 TB/s; 1,979 TFLOPS with sparsity ÷ 2; 141 GB",
    ),
    _machine(
        *("B200", 8000, 2250, 180),
        "NVIDIA DGX B200 and HGX B200 data sheets, eight cards",
        "https://www.nvidia.com/en-us/data-center/dgx-b200/",
        "64 TB/s ÷ 8; 36,000 TFLOPS with sparsity ÷ 2 ÷ 8; 1,440 GB ÷ 8",
    ),
    _machine(
        *("MI300X", 5300, 1307.4, 192),
        "AMD Instinct MI300X data sheet",
        "https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html",
        "5.3 TB/s; 1,307.4 TFLOPS; 192 GB",
    ),
    _machine(
        *("L4", 300, 121, 24),
        "NVIDIA L4 data sheet",
        "https://www.nvidia.com/en-us/data-center/l4/",
        "300 GB/s; 242 TFLOPS with sparsity ÷ 2; 24 GB",
    ),
    _machine(
        *("L40S", 864, 362.05, 48),
        "NVIDIA L40S data sheet",
        "https://www.nvidia.com/en-us/data-center/l40s/",
        "864 GB/s; 362.05 TFLOPS; 48 GB",
    ),
    _machine(
        *("RTX-4090", 1008, 165.2, 24),
        "NVIDIA Ada GPU architecture, appendix A",
        "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
        "1,008 GB/s; 165.2 TFLOPS; 24 GB",
    ),
    _machine(
        *("RTX-5090", 1792, 209.5, 32),
        "NVIDIA RTX Blackwell GPU architecture, appendix A",
        "https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf",
        "1,792 GB/s; 209.5 TFLOPS; 32 GB",
    ),
    _machine(
        *("M2", 100, 3.6, 24),
        "Apple’s announcement of M2: 10 GPU cores, 16-bit sums as fast as 32-bit ones",
        "https://www.apple.com/newsroom/2022/06/apple-unveils-m2-with-breakthrough-performance-and-capabilities/",
        "100 GB/s; 3.6 TFLOPS; 24 GB",
    ),
    _machine(
        *("M2-Ultra", 800, 27.36, 192),
        "Apple’s announcement of M2 Ultra: 76 GPU cores, each as M2’s",
        "https://www.apple.com/newsroom/2023/06/apple-introduces-m2-ultra/",
        "800 GB/s; 3.6 TFLOPS ÷ 10 × 76; 192 GB",
    ),
    _machine(
        *("DDR5-desktop", 83.2, 2.304, 64),
        "AMD Ryzen 9 7950X: two channels of DDR5-5200, 16 cores at 4.5 GHz with 32 sums a cycle; "
        "two modules of 32 GB",
        "https://www.amd.com/en/products/processors/desktops/ryzen/7000-series/amd-ryzen-9-7950x.html",
        "5.2 GB/s × 8 × 2; 0.0045 TFLOPS × 16 × 32; 32 GB × 2",
    ),
)


def _config(owner_and_name: str, printed: str) -> Source:
    """The configuration that a model is published with."""
    address = f"https://huggingface.co/{owner_and_name}/blob/main/config.json"
    return Source(f"config.json of {owner_and_name}", address, printed)


MODELS = (
    Model(
        *("Llama-3.1-8B", 8.03e9, 32, 32, 8, 128),
        source=_config(
            "meta-llama/Llama-3.1-8B", "hidden 4096, intermediate 14336, vocabulary 128256"
        ),
    ),
    Model(
        *("Llama-3.1-70B", 70.55e9, 80, 64, 8, 128),
        source=_config(
            "meta-llama/Llama-3.1-70B", "hidden 8192, intermediate 28672, vocabulary 128256"
        ),
    ),
    Model(
        *("Llama-3.2-1B", 1.236e9, 16, 32, 8, 64),
        source=_config(
            "meta-llama/Llama-3.2-1B", "hidden 2048, intermediate 8192, vocabulary 128256 tied"
        ),
    ),
    Model(
        *("Qwen3-0.6B", 0.596e9, 28, 16, 8, 128),
        source=_config("Qwen/Qwen3-0.6B", "hidden 1024, intermediate 3072, vocabulary 151936 tied"),
    ),
    Model(
        *("Qwen3-8B", 8.19e9, 36, 32, 8, 128),
        source=_config("Qwen/Qwen3-8B", "hidden 4096, intermediate 12288, vocabulary 151936"),
    ),
    Model(
        *("Qwen3-32B", 32.76e9, 64, 64, 8, 128),
        source=_config("Qwen/Qwen3-32B", "hidden 5120, intermediate 25600, vocabulary 151936"),
    ),
    Model(
        *("Qwen3-30B-A3B", 30.53e9, 48, 32, 4, 128),
        experts=128,
        top=8,
        expert_parameters=28.99e9,
        source=_config(
            "Qwen/Qwen3-30B-A3B",
            "hidden 2048, intermediate 768 of 128 experts in 48 layers, vocabulary 151936",
        ),
    ),
    Model(
        *("DeepSeek-V3", 671.03e9, 61, 128, 128, 544),
        experts=256,
        top=8,
        expert_parameters=653.9e9,
        latent=576,
        source=_config(
            "deepseek-ai/DeepSeek-V3",
            "hidden 7168, intermediate 2048 of 256 experts in 58 layers, latent 512 + 64",
        ),
    ),
    Model(
        *("DeepSeek-V3-MTP", 12.54e9, 1, 128, 128, 544),
        experts=256,
        top=8,
        expert_parameters=11.27e9,
        latent=576,
        source=_config(
            "deepseek-ai/DeepSeek-V3",
            "hidden 7168, intermediate 2048 of 256 experts in 1 layers, latent 512 + 64",
        ),
    ),
    Model(
        *("Gemma-2-9B", 9.24e9, 42, 16, 8, 256),
        source=_config(
            "google/gemma-2-9b", "hidden 3584, intermediate 14336, vocabulary 256000 tied"
        ),
    ),
    Model(
        *("Gemma-2-27B", 27.23e9, 46, 32, 16, 128),
        source=_config(
            "google/gemma-2-27b", "hidden 4608, intermediate 36864, vocabulary 256000 tied"
        ),
    ),
    Model(
        *("OPT-13B", 12.85e9, 40, 40, 40, 128),
        source=_config(
            "facebook/opt-13b", "hidden 5120, intermediate 20480, vocabulary 50272 tied"
        ),
    ),
)
"""A latent attention's head size is the mean of what its scores (576) and its values (512) are
computed over. Gemma 2 attends in every second layer to the last 4,096 tokens alone: beyond them
its cache is counted too large. DeepSeek-V3-MTP is the layer that drafts for DeepSeek-V3, with the
output matrix that both use."""


def machine_named(name: str) -> Machine:
    """The machine of this name, in any case and with any signs between. Raises ValueError."""
    known = {machine.name: machine for machine in MACHINES}
    return known[_named_or_near(name, "machine", known)]


def model_named(name: str) -> Model:
    """The model of this name, in any case and with any signs between. Raises ValueError."""
    known = {model.name: model for model in MODELS}
    return known[_named_or_near(name, "model", known)]


def named(name: str, names: Iterable[str]) -> str | None:
    """One of these names as it is written there, in any case and with any signs between."""
    return {_plain(known): known for known in names}.get(_plain(name))


def _named_or_near(name: str, what: str, names: Iterable[str]) -> str:
    found = named(name, names)
    if found is None:
        raise ValueError(f"{what}: no “{name}” here; nearest: {', '.join(nearest(name, names))}")
    return found


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The three names that share most pairs of letters with this one, the likest first."""
    pairs = _pairs(name)

    def likeness(known: str) -> float:
        others = _pairs(known)
        return 2 * len(pairs & others) / (len(pairs) + len(others))

    return sorted(names, key=likeness, reverse=True)[:3]


def _pairs(name: str) -> set[tuple[str, str]]:
    return set(pairwise(f" {_plain(name)} "))


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
