"""Speculative sampling that a sceptic can try to break: the right rule, and six wrong ones.

Words are drawn as an engine draws them, and held to the target's exact chances (Leviathan et al.
2023, Algorithm 1; Chen et al. 2023). Simplified: a model knows only the word before. What the rule
does with a row of chances is the same for any model, and here every chance is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.labs.sampling_rows import Language, language, written
from sim.labs.sampling_section import printed as section
from sim.labs.sampling_settings import TEXT, Asked, language_of
from sim.markup import Markup
from sim.settings import read, rows, write
from sim.work import Work

# The command

FLAGS = {
    "target": "target",
    "draft": "draft",
    "k": "k",
    "rule": "rule",
    "tokens": "tokens",
    "seed": "seed",
    "draft_temperature": "stale",
}
"""The settings that the command has, by their names there."""

_ROWS = {row.key: row for row in rows(Asked)}


def arguments(add: Callable[..., object]) -> None:
    """Declare the flags; `add` is argparse's `add_argument`."""
    for name, key in FLAGS.items():
        row = _ROWS[key]
        add(
            "--" + name.replace("_", "-"),
            metavar=name.upper().replace("_", "-"),
            help=f"{row.help} {row.kind.allowed[0].upper()}{row.kind.allowed[1:]}; "
            f"{row.kind.write(row.default)} unless said.",
        )


def answer(options: Any) -> Work[dict[str, Any]]:
    """What the command prints, as JSON holds it. Raises ValueError."""
    given = {}
    for name, key in FLAGS.items():
        text = getattr(options, name)
        if key in ("target", "draft"):
            given[key] = _ROWS[key].default if text is None else text
            continue
        given[key], complaint = read(_ROWS[key], text)
        if complaint:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} {text}: not {_ROWS[key].kind.allowed}")
    made = language(given["target"], given["draft"])
    return _report(made, given["rule"], given["k"], given["tokens"], given["seed"], given["stale"])


def _report(made: Language, rule: str, k: int, tokens: int, seed: int, stale: float) -> Work[Any]:
    from sim.labs.sampling_draw import Drawn
    from sim.labs.sampling_exact import exact
    from sim.labs.sampling_rules import models_of
    from sim.labs.sampling_verdict import judged

    models = models_of(made)
    known = exact(models, rule, k, stale)
    drawn = yield from Drawn(known, tokens, seed).work()
    verdict = judged(known, drawn.counts)
    return {
        "alpha": models.overlap.tolist(),
        "expected_tokens_per_pass": known.tokens_per_pass,
        "tokens": drawn.tokens,
        "passes": drawn.passes,
        "tokens_per_pass": drawn.tokens / drawn.passes,
        "expected_words": known.words.tolist(),
        "words": (drawn.counts.sum(axis=0) / drawn.tokens).tolist(),
        "total_variation": verdict.total_variation,
        "expected_total_variation": known.total_variation,
        "chi2": verdict.chi2,
        "df": verdict.df,
        "p_value": verdict.p_value,
    }


def told(report: dict[str, Any]) -> str:
    """The same, to be read."""
    chi2 = report["chi2"]
    alphas = sorted({f"{alpha:.4f}" for alpha in report["alpha"]})
    lines = [
        ("words written", f"{report['tokens']}", f"in {report['passes']} passes"),
        (
            "tokens per pass",
            f"{report['tokens_per_pass']:.4f}",
            f"exactly {report['expected_tokens_per_pass']:.4f}",
        ),
        (
            "acceptance rate",
            alphas[0],
            "after every word" if len(alphas) == 1 else f"to {alphas[-1]}, by the word before",
        ),
        (
            "total variation",
            f"{report['total_variation']:.4f}",
            f"of pairs from the target's; exactly {report['expected_total_variation']:.4f} "
            "in the long run, and luck on top",
        ),
        (
            "chi-squared",
            "–" if chi2 is None else f"{chi2:.2f}",
            f"{report['df']} degrees of freedom"
            + ("; the target never writes some of these pairs" if chi2 is None else ""),
        ),
        ("p-value", f"{report['p_value']:.3g}", _judged(report["p_value"])),
    ]
    head = [f"{name:<18}{value:>10}   {note}" for name, value, note in lines]
    words = zip(report["words"], report["expected_words"], strict=True)
    table = [
        f"{f'word {place}':<18}{share:>10.4f}   {wanted:.4f} in the target's text"
        for place, (share, wanted) in enumerate(words, start=1)
    ]
    return "\n".join([*head, "", *table])


def _judged(p_value: float) -> str:
    from sim.labs.sampling_verdict import LEVEL

    if p_value < LEVEL:
        return "this is not the target's text"
    return "nothing here speaks against the target's text"


def command_of(asked: Asked) -> str:
    """The command that draws the same."""
    parts = ["python3 -m sim sampling"]
    if asked.language != TEXT:
        made = language_of(asked)
        parts += [f'--target "{written(made.target)}"', f'--draft "{written(made.draft)}"']
    for name, key in FLAGS.items():
        row = _ROWS[key]
        value = getattr(asked, row.name)
        if key not in ("target", "draft") and value != row.default:
            parts.append(f"--{name.replace('_', '-')} {write(row, value)}")
    return " ".join(parts)


# The section


def printed() -> Markup:
    """What is set, watched, written and judged, at the opening settings."""
    return section()
