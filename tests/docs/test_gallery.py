"""The gallery: every example draws its figure, says what it shows, and stands in the index of the site."""

import ast
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("svg")
ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_example_draws_a_figure_with_labelled_axes(script: Path) -> None:
    """A title, and a name on the axis that has a unit; the docstring tells the story in more than its first line."""
    import matplotlib.pyplot as plt

    with plt.style.context(script.with_name("gallery.mplstyle")):
        figure = runpy.run_path(str(script))["main"]()
    (axes,) = figure.axes
    assert axes.get_title(loc="left") or axes.get_title()
    assert axes.get_xlabel()
    plt.close(figure)
    story = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    assert len(story.splitlines()) >= 4


def test_there_are_examples() -> None:
    assert len(SCRIPTS) >= 6
