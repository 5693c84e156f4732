"""The best draft lengths as three engines take them, with the version whose documentation says so.

vLLM 0.25 takes one draft length for each range of batches, 0 among them, as
https://docs.vllm.ai/en/v0.25.0/features/speculative_decoding/dynamic_speculative_decoding/ has it.
SGLang takes ranges for chains of EAGLE alone, and no 0, since its pull request 24055; a draft
length is a number of steps there, with the root it is one draft token more
(https://docs.sglang.io/docs/advanced_features/adaptive_speculative_decoding). llama.cpp takes one,
a maximum; its options have these names in b9842.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from sim.catalogue import MODELS, model_named
from sim.labs.cost_settings import Asked, Priced
from sim.labs.pricing import LARGEST, NGRAM, Range, best_of

VLLM, SGLANG, LLAMA = "vLLM 0.25", "SGLang 0.5.19", "llama.cpp b9842"
HEAD = "YOUR_HEAD"
MTP, WITH_MTP = "DeepSeek-V3-MTP", "DeepSeek-V3"


class Engine(NamedTuple):
    """An engine of a version, and how it is started."""

    name: str
    command: str
    note: str
    """What it cannot be told, or what else there is to know; may be empty."""


def repository(name: str) -> str:
    """Where a model is published, as engines name it."""
    return model_named(name).source.document.removeprefix("config.json of ")


def refusal(given: Priced) -> str:
    """Why no engine would start with this; empty where one may."""
    asked = given.asked
    if given.case.short_by(asked.batch):
        return "No command, for it does not fit into the memory."
    if asked.draft == MTP and asked.model != WITH_MTP:
        return (
            f"No command: {MTP} is a layer of {WITH_MTP}, and drafts for no other model. Take a "
            f"draft model, or a head that was trained with {asked.model}."
        )
    return ""


def cautions(given: Priced) -> list[str]:
    """What has to be seen to before an engine is started like this."""
    asked, found = given.asked, []
    if asked.draft in NAMES and _family(asked.draft) != _family(asked.model):
        found.append(
            f"{asked.draft} and {asked.model} are of different families: engines take a draft "
            "model only where both have the same tokens."
        )
    if asked.width < 2:
        found.append(
            f"{asked.width:g} bytes a weight need a checkpoint that holds such weights: give its "
            f"name in place of {repository(asked.model)}, unless that one does."
        )
    return found


def _family(name: str) -> str:
    """Models of one maker's family share a tokenizer."""
    return name.partition("-")[0]


def engines(given: Priced) -> list[Engine]:
    """How each engine is told which draft lengths to use."""
    asked = given.asked
    known = [one for one in given.fitting or given.agreed if one.k is not None]
    at_batch = best_of(given.speedups[asked.batch - 1]).k
    most = given.most if given.most < LARGEST else 0
    return [
        _vllm(asked, known, most),
        _sglang(asked, known, at_batch, most),
        _llama(asked, at_batch),
    ]


def _lines(*parts: str) -> str:
    return " \\\n  ".join(part for part in parts if part)


def _vllm(asked: Asked, known: list[Range], limit: int) -> Engine:
    serve = f"vllm serve {repository(asked.model)}"
    cards = f"--tensor-parallel-size {asked.machines}" if asked.machines > 1 else ""
    batches = f"--max-num-seqs {limit}" if limit else ""
    most = max((one.k or 0 for one in known), default=0)
    if not most:
        return Engine(VLLM, _lines(serve, cards, batches), _none(known))
    told: dict[str, object] = {"method": "draft_model", "model": _draft(asked)}
    note = "One draft length for each range of batches."
    if asked.draft == NGRAM:
        told = {"method": "ngram", "prompt_lookup_max": 4}
    elif asked.draft == MTP:
        told = {"method": "mtp"}
    elif asked.draft not in NAMES:
        told["method"] = "dflash" if asked.parallel else "eagle3"
    elif asked.parallel:
        told["parallel_drafting"] = True
    if told["method"] not in ("eagle3", "dflash"):
        note += " vLLM’s documentation has it with EAGLE and DFlash; other drafts may not take it."
    told["num_speculative_tokens"] = most
    told["num_speculative_tokens_per_batch_size"] = [[a, b, k] for a, b, k in known]
    lines = (f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in told.items())
    config = "--speculative-config '{\n" + ",\n".join(lines) + "\n  }'"
    return Engine(VLLM, _lines(serve, cards, batches, config), note)


def _sglang(asked: Asked, known: list[Range], at_batch: int | None, limit: int) -> Engine:
    serve = f"python3 -m sglang.launch_server --model {repository(asked.model)}"
    cards = f"--tp {asked.machines}" if asked.machines > 1 else ""
    batches = f"--max-running-requests {limit}" if limit else ""
    chain = not asked.parallel and (asked.draft == MTP or asked.draft not in (NGRAM, *NAMES))
    most = max((one.k or 0 for one in known), default=0)
    k = most if chain else at_batch
    if not k:
        return Engine(SGLANG, _lines(serve, cards, batches), _none(known, asked.batch))
    tokens = f"--speculative-num-draft-tokens {k + 1}"
    steps = f"--speculative-eagle-topk 1 --speculative-num-steps {k}"
    draft = f"--speculative-draft-model-path {_draft(asked)}"
    if chain:
        algorithm = "EAGLE" if asked.draft == MTP else "EAGLE3"
        told = {str(one.first): {"candidate_steps": [max(1, one.k or 0)]} for one in known}
        without = [f"{one.first}–{one.last}" for one in known if one.k == 0]
        note = "One draft length for each range of batches, in adaptive.json."
        if without:
            note += f" It takes no 0: at {', '.join(without)}, where none gains, it drafts 1."
        command = _lines(
            serve,
            cards,
            batches,
            f"--speculative-algorithm {algorithm}",
            draft if algorithm == "EAGLE3" else "",
            steps,
            tokens,
            "--speculative-adaptive --speculative-adaptive-config adaptive.json",
        )
        return Engine(SGLANG, f"{command}\n\nadaptive.json\n{json.dumps(told)}", note)
    note = f"It takes one draft length with such drafts: that of batch {asked.batch}."
    if asked.draft == NGRAM:
        parts = ["--speculative-algorithm NGRAM", tokens]
    elif asked.parallel:
        parts = ["--speculative-algorithm DFLASH", draft, tokens]
    else:
        parts = ["--speculative-algorithm STANDALONE", draft, steps, tokens]
    return Engine(SGLANG, _lines(serve, cards, batches, *parts), note)


def _llama(asked: Asked, k: int | None) -> Engine:
    serve = f"llama-server -m {asked.model}.gguf --parallel {asked.batch}"
    if not k:
        return Engine(LLAMA, serve, _none([], asked.batch))
    length = f"--spec-draft-n-max {k}"
    draft = f"-md {asked.draft if asked.draft in NAMES else HEAD}.gguf"
    if asked.draft == NGRAM:
        parts = ["--spec-type ngram-simple", f"--spec-ngram-simple-size-m {k}"]
    elif asked.draft == MTP:
        parts = ["--spec-type draft-mtp", length]
    elif asked.draft in NAMES and not asked.parallel:
        parts = [draft, "--spec-type draft-simple", length]
    else:
        parts = [draft, f"--spec-type draft-{'dflash' if asked.parallel else 'eagle3'}", length]
    note = f"It takes one draft length, a maximum: that of batch {asked.batch}."
    return Engine(LLAMA, _lines(serve, *parts), note)


NAMES = tuple(model.name for model in MODELS)


def _draft(asked: Asked) -> str:
    return repository(asked.draft) if asked.draft in NAMES else HEAD


def _none(known: Sequence[Range], batch: int | None = None) -> str:
    where = f"at batch {batch}" if batch else "at any batch that is known"
    return f"No draft length gains {where}: without speculation."
