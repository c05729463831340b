"""Notebooks kept as text: percent scripts whose outputs stand below their cells as `# Out:` lines.

VS Code, PyCharm, Spyder and Jupytext open them as notebooks. `python docs/site/notebooks.py` runs them and writes the
outputs anew; a test runs them and compares.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "notebooks"
_MARKDOWN, _CODE, _OUT = "# %% [markdown]", "# %%", "# Out: "


class Cell(NamedTuple):
    """One cell: its mark, and its lines without the mark and without outputs."""

    mark: str
    lines: tuple[str, ...]


def cells(text: str) -> Iterator[Cell]:
    """Yield the cells of a percent script; outputs are left out."""
    mark, lines = "", list[str]()
    for line in text.splitlines():
        if line in (_MARKDOWN, _CODE):
            if mark:
                yield Cell(mark, _trimmed(lines))
            mark, lines = line, []
        elif not line.startswith(_OUT.rstrip()):
            lines.append(line)
    yield Cell(mark, _trimmed(lines))


def _trimmed(lines: list[str]) -> tuple[str, ...]:
    """Return lines without empty ones at either end."""
    return tuple("\n".join(lines).strip("\n").split("\n"))


def outputs(text: str) -> list[tuple[Cell, list[str]]]:
    """Return each cell with the lines of the value of its last expression, run in one namespace from top to bottom."""
    names: dict[str, Any] = {"__name__": "notebook"}
    return [(cell, _run("\n".join(cell.lines), names) if cell.mark == _CODE else []) for cell in cells(text)]


def _run(code: str, names: dict[str, Any]) -> list[str]:
    """Run one cell and return the lines of its last expression's value; none where it has none."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - the project's own example
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None  # noqa: S307
    text = value if isinstance(value, str) else repr(value)
    return [] if value is None else [line.rstrip() for line in text.splitlines()]


def written(text: str) -> str:
    """Return the script with its outputs written anew."""
    parts = [
        "\n".join([cell.mark, *cell.lines, *(f"{_OUT}{line}".rstrip() for line in out)]) for cell, out in outputs(text)
    ]
    return "\n\n".join(parts) + "\n"


def page(text: str) -> str:
    """Return the script as a page of the site, with the outputs that stand in it."""
    parts: list[str] = []
    for block in f"\n{text}".split("\n# %%")[1:]:
        head, _, body = block.partition("\n")
        lines = body.strip("\n").splitlines()
        if head.strip() == "[markdown]":
            parts.append("\n".join(line.removeprefix("#").removeprefix(" ") for line in lines))
            continue
        code = "\n".join(line for line in lines if not line.startswith(_OUT))
        out = "\n".join(line.removeprefix(_OUT) for line in lines if line.startswith(_OUT))
        parts.append(f"```python\n{code}\n```" + (f"\n\n```text\n{out}\n```" if out else ""))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for script in sorted(FOLDER.glob("*.py")):
        script.write_text(written(script.read_text(encoding="utf-8")), encoding="utf-8")
