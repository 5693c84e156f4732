"""index.html is built from sections that fit what there is to print."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from sim.host.printed import SECTIONS, built
from tests.sources import INDEX


@pytest.mark.parametrize(
    ("section", "what", "instead", "told"),
    [
        ("memory", "{{ claim.read }}", "7 ms", "no section has read$"),
        ("bonus", "{{ chart.yields }}", "", "no section has yields$"),
        ("memory", "{{ claim.read }}", "{{ claim.raed }}", "has no attribute 'raed'"),
        ("text", '"lose", ', "", "no section has chen_cost, "),
        ("widget", ' id="split"', "", "0 places for #split"),
        ("widget", 'data-metric="cached"', 'data-metric="cashed"', "known of data-metric=cashed"),
        ("widget", 'id="replay"', 'id="tick"', "2 places for #tick"),
    ],
)
def test_a_page_whose_sections_do_not_fit_what_there_is_to_print_is_not_built(
    section: str, what: str, instead: str, told: str, tmp_path: Path
) -> None:
    sections = Path(shutil.copytree(SECTIONS, tmp_path / "sections"))
    file = sections / f"{section}.html"
    text = file.read_text(encoding="utf-8")
    assert built(sections) == INDEX
    assert what in text
    file.write_text(text.replace(what, instead), encoding="utf-8")
    with pytest.raises((ValueError, UndefinedError), match=told):
        built(sections)


def test_what_a_section_is_given_is_escaped_where_it_is_no_markup(tmp_path: Path) -> None:
    sections = Path(shutil.copytree(SECTIONS, tmp_path / "sections"))
    with (sections / "say.html").open("a", encoding="utf-8") as file:
        file.write('{{ "<&>" }} {{ emphasised("**<**") }}')
    assert "&lt;&amp;&gt; <b>&lt;</b>" in built(sections)
