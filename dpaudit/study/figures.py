"""The figures of a study, drawn from its CSV tables alone: regret over time, the front, and exponents."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpaudit.documents.typesetting import printed
from dpaudit.figures.figure import Figure
from dpaudit.figures.plot import Plot, Point, Series, Words
from dpaudit.figures.scale import Scale, reach
from dpaudit.study.captions import caption_of, of_bounds, of_proofs
from dpaudit.study.front import Row, front_of
from dpaudit.study.front_plot import DASHES, HUES, SHAPES, front_plot
from dpaudit.study.tables import read_rows
from dpaudit.wording.numerals import whole

_MOST_CURVES = 3
_VISIBLE = 0.3
"""A smaller share of the regret of uniform play makes the axis logarithmic."""


def figures_of(rows: str, exponents: str) -> dict[str, bytes]:
    """Return the files of all figures by name; `rows` and `exponents` are the texts of the tables.

    SVG and PNG hold title and caption; the PDF, for a paper, has neither.
    Guarantee: equal texts give equal bytes on one version of typst.
    """
    lines, powers = read_rows(rows), list(csv.DictReader(io.StringIO(exponents)))
    if not lines:
        return {}
    plots = {
        "front": study_front(lines),
        "regret_over_time": regret_plot(lines),
        "exponents": exponents_plot(powers, lines),
    }
    files: dict[str, bytes] = {}
    for name, plot in plots.items():
        figure = Figure(name=name, title=plot.title, description=" ".join(plot.caption), draw=plot.draw)
        bare = replace(figure, draw=replace(plot, title="", caption=()).draw)
        files[f"{name}.svg"] = figure.file().encode()
        files[f"{name}.png"] = printed(figure.file(), "png")
        files[f"{name}.pdf"] = printed(bare.file(), "pdf")
    return files


def study_front(rows: Sequence[Row]) -> Plot:
    """Return the front at the largest horizon: regret a round against certified epsilon."""
    longest, name = max(row["T"] for row in rows), rows[0]["study"]["name"]
    front = front_of(rows, name, longest)
    steps = "Dashed steps: the running minimum, as a certificate at a smaller epsilon serves a larger one."
    here = [row for row in rows if row["T"] == longest]
    caption = (*caption_of(rows), steps, *of_bounds(here), *of_proofs(here))
    return front_plot(front, f"{name}: what privacy costs at T = {whole(longest)}", caption)


def regret_plot(rows: Sequence[Row]) -> Plot:
    """Return regret over that of uniform play against the horizon, for at most three epsilons of a contender."""
    shown = [row for row in rows if row["share"] is not None]
    labels = dict.fromkeys(row["label"] for role in ("private", "ceiling", "floor") for row in rows
                           if row["role"] == role)  # fmt: skip
    curves = [series for number, label in enumerate(labels) for series in _curves(shown, label, number)]
    horizons, shares = [row["T"] for row in rows], [float(row["share"]) for row in shown]
    low, high = reach(shares) if shares and 0 < min(shares) < _VISIBLE else (0.0, 1.3 * max([1.0, *shares]))
    across = Scale(low=min(horizons) / 1.3, high=max(horizons) * 1.3, name="T, rounds or episodes (logarithmic)")
    shares_of_uniform = ((1.0, "chance"), (0.5, "chance"))
    levels = (Series(points=((across.low, y), (across.high, y)), line=style) for y, style in shares_of_uniform)
    return Plot(
        across=across,
        up=Scale(low=low, high=max(high, 1.1), name="regret over that of uniform play"),
        layers=(*levels, *curves),
        title=f"{rows[0]['study']['name']}: share of the regret of uniform play",
        caption=(*caption_of(rows), "Each T is a run of its own. Dotted levels: shares of one and of one half."),
    )


def _curves(rows: Sequence[Row], label: str, number: int) -> list[Series]:
    """Return the curves of one contender, that of the largest claim strongest."""
    own = [row for row in rows if row["label"] == label]
    claims = _some(sorted({row["claim"] for row in own}, key=lambda claim: claim or 0.0))
    curves: list[Series] = []
    for fade, claim in enumerate(claims, start=_MOST_CURVES - len(claims)):
        curve = sorted((row for row in own if row["claim"] == claim), key=lambda row: int(row["T"]))
        private, hollow = curve[0]["role"] == "private", " empty" if curve[0]["model"] == "local" else ""
        look = f"hue{number % HUES}" if private else "other"
        points: tuple[Point, ...] = tuple((row["T"], row["share"]) for row in curve)
        curves.append(
            Series(
                points=points,
                line=f"front {look} fade{fade}" if private else f"level {curve[0]['role']} dash{number % DASHES}",
                mark=(number % SHAPES, f"mark {look}{hollow}"),
                name=f"{label}, claim {claim:g}" if claim is not None and curve[0]["role"] != "ceiling" else str(label),
            )
        )
    return curves


def _some(claims: list[Any]) -> list[Any]:
    """Return at most three of some claims: the ends and the middle."""
    return claims if len(claims) <= _MOST_CURVES else [claims[0], claims[len(claims) // 2], claims[-1]]


def exponents_plot(powers: Sequence[Mapping[str, str]], rows: Sequence[Row]) -> Plot:
    """Return the fitted powers with their intervals; a contender without one is not drawn."""
    ceilings = {row["label"] for row in rows if row["role"] == "ceiling"}
    fitted = [line for line in powers if line["slope"]]
    ends = [[float(line[end] or line["slope"]) for end in ("lower", "upper")] for line in fitted]
    least, largest = min((low for low, _ in ends), default=0.0), max((high for _, high in ends), default=1.0)
    across = Scale(low=min(0.0, 1.1 * least), high=max(0.1, 1.1 * largest), name="fitted power, with its interval")
    layers: list[Series | Words] = []
    for line_index, (line, (low, high)) in enumerate(zip(fitted, ends, strict=True)):
        y, slope = len(fitted) - line_index - 0.75, float(line["slope"])
        hue = f"hue{0 if line['variable'] == 'horizon' else 1}"
        layers.append(Series(points=((low, y), (high, y)), line=f"front {hue}"))
        layers.append(Series(points=((slope, y),), mark=(0, f"mark {hue}")))
        layers.append(Words(at=(across.low, y + 0.15), text=_fit(line, ceilings)))
    none = Words(at=(across.low, 0.5), text="No exponent: no contender is in range. See exponents.csv for the reasons.")
    return Plot(
        across=across,
        up=Scale(low=0.0, high=max(1.0, float(len(fitted))), marks=((0.0, ""),)),
        layers=tuple(layers or [none]),
        height=max(60.0, 44.0 * len(fitted)),
        title=f"{rows[0]['study']['name']}: exponents",
        caption=caption_of(rows),
    )


def _fit(line: Mapping[str, str], ceilings: set[str]) -> str:
    """Return whose power of what was fitted."""
    of = f", T = {int(line['T']):,}" if line["T"] else ""
    if line["claim_epsilon"] and line["contender"] not in ceilings:
        of = f", claim {line['claim_epsilon']}"
    return f"{line['contender']}{of}: power of {line['variable']} ({line['fit']})"
