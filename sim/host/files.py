"""Which Python files something needs: what it imports, what that imports, and so on.

The imports are read, not executed. What the page fetches before it starts, its preloads, and what
its memory snapshot holds compiled all follow from here, and so does what a bundle holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sim.host import PACKAGE, SITE
from sim.labs import Lab

START = "static.page"
"""The module that starts the page."""


def file_of(module: str, site: Path = SITE, package: Path = PACKAGE) -> Path | None:
    """The file of one of the project's modules; None for a folder without code, and for others'."""
    top, *rest = module.split(".")
    if top not in ("sim", "static"):
        return None
    inside = (package if top == "sim" else site / "static").joinpath(*rest)
    places = (
        (inside.with_suffix(".py"), inside / "__init__.py") if rest else (inside / "__init__.py",)
    )
    return next((place for place in places if place.is_file()), None)


@cache
def imported(source: str, inside_functions: bool = False) -> tuple[str, ...]:
    """Modules that a source may import, in its order, with the packages that hold them.

    What is imported inside a function counts only if asked for, and what only type checkers import
    never does.
    """
    found = []
    for node in _statements(ast.parse(source), inside_functions):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            found += [".".join(parts[: end + 1]) for end in range(len(parts))]
    return tuple(dict.fromkeys(found))


def _statements(node: ast.AST, inside_functions: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if function and not inside_functions:
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _statements(child, inside_functions)


def closure(
    *modules: str, site: Path = SITE, package: Path = PACKAGE, inside_functions: bool = False
) -> dict[str, Path]:
    """The files of these modules and of all that they import, by their names below the page.

    A file comes after those that it imports, so that each can be imported in a turn of its own.
    """
    found: dict[str, Path] = {}
    seen = set()

    def visit(module: str) -> None:
        file = file_of(module, site, package)
        if file is None or file in seen:
            return
        seen.add(file)
        parents = module.split(".")[:-1]
        needed = [".".join(parents[: end + 1]) for end in range(len(parents))]
        for name in [*needed, *imported(file.read_text(encoding="utf-8"), inside_functions)]:
            visit(name)
        top = package if module.split(".")[0] == "sim" else site / "static"
        found[f"{module.split('.')[0]}/{file.relative_to(top).as_posix()}"] = file

    for module in modules:
        visit(module)
    return found


def start_files(site: Path = SITE, package: Path = PACKAGE) -> dict[str, Path]:
    """Every Python file that is fetched before the page starts, by its name there."""
    return closure(START, site=site, package=package)


def lab_files(lab: Lab, site: Path = SITE, package: Path = PACKAGE) -> dict[str, Path]:
    """Every file that is fetched for a lab, once the page has started, by its name there.

    First what it reads; then what its view imports, up to the view; then what is imported inside
    functions.
    """
    started = start_files(site, package)
    read = {f"sim/labs/{name}": package / "labs" / name for name in lab.data}
    first = closure(lab.view, site=site, package=package)
    all_of_it = closure(lab.view, site=site, package=package, inside_functions=True)
    return {n: f for n, f in {**read, **first, **all_of_it}.items() if n not in started}
