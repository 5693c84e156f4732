"""One scene as a SCORM 1.2 package: a page that a course platform plays, and that tells its
gradebook what a prediction is worth.

The runtime is inside, or the page shows a simulator that is hosted elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import quoteattr
from zlib import crc32

from sim.host import PACKAGE, SITE
from sim.host.bundle import LIST, listed, page_files
from sim.labs import BY_NAME, of_a_lab
from sim.labs.share import TITLE, page_address
from sim.marks import PALETTES
from sim.markup import Markup, escaped, quoted, tag
from sim.params import Params
from sim.question import FAR_OFF, SPOT_ON
from sim.scene import light_or_dark, picture
from sim.session import opened
from sim.settings import link, query, shown
from sim.story import summary
from sim.view import LOCKS, NAMES, View, asked, changed, pointed_out, with_lab_keys

MANIFEST, PAGE, SCRIPT, PICTURE = "imsmanifest.xml", "scorm.html", "scorm.js", "scene.svg"
"""The files of a package that are its own."""

HERE = "./index.html"
"""The simulator inside a package, as its page sees it."""

RULE = (
    f"Your first prediction counts. Within {100 * SPOT_ON:.0f} % of the result it is worth 100 "
    f"points, less the further off it is, none from {100 * FAR_OFF:.0f} % on. “Just show me” is "
    "worth none."
)
"""How a prediction is graded, for those who are to make it."""

STYLE = """
body { max-width: 1150px; margin: 0 auto; padding: 8px 12px 12px }
body { font: 15px/1.45 system-ui, sans-serif }
h1 { margin: 0 0 4px; font-size: 18px }
p { max-width: 75ch; margin: 0 }
#told { position: sticky; top: 0; z-index: 2; max-width: none; padding: 6px 0; background: Canvas }
bonus-token { display: block; margin: 6px 0 0 }
img { width: 100% }
button { font: inherit }
"""


@dataclass(frozen=True)
class Scene:
    """The scene of a package, and where its simulator is."""

    params: Params
    view: View
    keys: Mapping[str, str]
    """Settings of labs, as they were written."""
    address: str = ""
    """Of a simulator that is hosted elsewhere; none is inside the package."""

    @property
    def to_scene(self) -> str:
        """The link to the scene alone, for the package's own page."""
        return link(self.address or HERE, self.params, self.view, self.keys)


def read(text: str, hosted: str | None = None) -> Scene:
    """The scene that a link, or what follows its ?, leads to; of a simulator at `hosted`.

    Raises ValueError, in words for who wrote it, where something would have to be mended.
    """
    search, _, fragment = text.strip().partition("#")
    keys = asked(search.partition("?")[2] if "?" in search else search, fragment)
    for name in keys:
        if name not in NAMES and not of_a_lab(name):
            (told,) = pointed_out([name]) or [
                f"{shown(name)} is no key; a scene is k=12&ask=speedup"
            ]
            raise ValueError(f"--scene: {told}")
    params, view, complaints = changed(Params(), View(), keys)
    if complaints:
        raise ValueError(f"--scene: {complaints[0].partition(';')[0]}")
    address = "" if hosted is None else page_address(hosted)
    parts = urlsplit(address)
    if hosted is not None and not (parts.scheme in ("http", "https") and parts.hostname):
        raise ValueError(
            f"--hosted {hosted}: not the address of a page, as https://example.org/ is"
        )
    return Scene(params, replace(view, embed=False), dict(with_lab_keys((), keys)), address)


def contents(scene: Scene) -> dict[str, bytes]:
    """Every file of a package by its path there. Raises BundleError."""
    found = {} if scene.address else page_files()
    page, drawn = _page(scene)
    found[PAGE] = page.encode()
    found[SCRIPT] = (PACKAGE / "host" / SCRIPT).read_bytes()
    found["LICENSE"] = (SITE / "LICENSE").read_bytes()
    if drawn:
        found[PICTURE] = drawn.encode()
    found[MANIFEST] = manifest(scene, sorted([*found, LIST])).encode()
    return listed(found)


def _page(scene: Scene) -> tuple[str, str]:
    """The page of a package, and the picture that it shows until its simulator is there."""
    session, _ = opened(query(scene.params, scene.view, scene.keys))
    lab, theme = BY_NAME.get(scene.view.lab), scene.view.theme
    question = None if lab else session.prediction.question
    drawn = ""
    inside = Markup(lab.title if lab else "")
    if not lab:
        drawn = picture(session.run, session.scene, PALETTES[light_or_dark(theme)])
        words = summary(session.run, session.view.tick)
        inside = tag("img", src=PICTURE, alt=words)
    view = scene.view
    if question:  # on a page of its own the result would be had without a prediction
        view = replace(view, lock=tuple(name for name in LOCKS if name in (*view.lock, "share")))
    else:
        inside = tag("a", inside, href=scene.to_scene, target="_blank")
    attributes = query(scene.params, view, scene.keys)
    held = tag("bonus-token", inside, start="auto", **attributes)
    page = PAGE_TEXT.format(
        asks=" data-asks" if question else "",
        schemes="light dark" if theme == "auto" else theme,
        title=escaped(TITLE),
        style=STYLE,
        element=quoted((scene.address or HERE).rpartition("/")[0] + "/static/embed.js"),
        rule=tag("p", RULE) if question else "",
        held=held,
    )
    return page, drawn


PAGE_TEXT = f"""\
<!DOCTYPE html>
<html lang="en"{{asks}}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="{{schemes}}">
<title>{{title}}</title>
<style>{{style}}</style>
<script defer src="{SCRIPT}"></script>
<script async src="{{element}}"></script>
</head>
<body>
<main>
<h1>{{title}}</h1>
{{rule}}
<p id="told" role="status"></p>
{{held}}
</main>
</body>
</html>
"""


def manifest(scene: Scene, names: list[str]) -> str:
    """The manifest of a package with these files: one course of one page."""
    files = "\n".join(f"      <file href={quoteattr(quote(name))}/>" for name in names)
    identifier = f"bonus-token-{crc32(scene.to_scene.encode()):08x}"
    return MANIFEST_TEXT.format(identifier=identifier, title=escaped(TITLE), files=files)


MANIFEST_TEXT = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="{{identifier}}" version="1.2"
    xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
    xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
  <metadata>
    <schema>ADL SCORM</schema>
    <schemaversion>1.2</schemaversion>
  </metadata>
  <organizations default="course">
    <organization identifier="course">
      <title>{{title}}</title>
      <item identifier="scene" identifierref="page">
        <title>{{title}}</title>
      </item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="page" type="webcontent" adlcp:scormtype="sco" href="{PAGE}">
{{files}}
    </resource>
  </resources>
</manifest>
"""
