"""The figures of a study, drawn from its CSV tables alone: regret over time, the front, and exponents."""

import csv
import io
import math
import textwrap
from collections.abc import Callable, Iterable
from importlib.resources import as_file
from importlib.resources import files as files_of
from itertools import accumulate
from typing import Any

from dpaudit.study.front import bound_name

Line = dict[str, str]
"""One line of a CSV table by its head."""

_COLOURS = ("#0b6e99", "#c2410c", "#3f7d20", "#7a3e9d", "#a16207", "#be185d", "#4b5563", "#0f766e")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "h")
_INK, _QUIET = "#222222", "#777777"
_MOST_CURVES = 3
_WIDE = 300.0
"""A span of epsilon from which on only powers of ten are written."""

_DASHES: dict[str, tuple[Any, ...]] = {
    "ceiling": (
        *("--", (0, (7, 2, 1, 2)), (0, (7, 2, 1, 2, 1, 2)), (0, (12, 3)), (0, (3, 1.5))),
        *((0, (12, 2, 3, 2)), (0, (1, 1.2)), (0, (5, 1, 5, 4))),
    ),
    "floor": (":", (0, (1, 4)), (0, (3, 3)), (0, (1, 1)), (0, (4, 2, 1, 2))),
}


def figures_of(rows: str, exponents: str) -> dict[str, bytes]:
    """Return the files of all figures by name; `rows` and `exponents` are the texts of the tables.

    SVG and PNG hold title and caption; the PDF, for a paper, has neither.
    Guarantee: equal texts give equal bytes on one version of matplotlib.
    """
    import matplotlib as mpl

    lines, powers = _read(rows), _read(exponents)
    drawings: dict[str, Callable[[], Any]] = {
        "front": lambda: draw_front(lines),
        "regret_over_time": lambda: draw_regret(lines),
        "exponents": lambda: draw_exponents(powers, lines),
    }
    files: dict[str, bytes] = {}
    with as_file(files_of("dpaudit.study") / "figures.mplstyle") as style, mpl.rc_context(fname=style):
        for name, draw in drawings.items():
            if lines:
                figure = draw()
                files[f"{name}.svg"] = _saved(figure, "svg", {"Date": None, "Creator": None})
                files[f"{name}.png"] = _saved(figure, "png", {"Software": None})
                files[f"{name}.pdf"] = _saved(without_words(figure), "pdf", {"CreationDate": None, "Creator": None})
    return files


def draw_front(lines: list[Line]) -> Any:
    """Return the front at the largest horizon: regret a round against certified epsilon."""
    longest = max(int(line["T"]) for line in lines)
    figure, axes = _axes()
    here = [line for line in lines if int(line["T"]) == longest]
    _reference_lines(axes, here, longest)
    for label, look in _looks(lines).items():
        points = sorted(
            (line for line in here if line["contender"] == label and _has_point(line)),
            key=lambda line: float(line["epsilon"]),
        )
        if not points:
            continue
        x = [float(line["epsilon"]) for line in points]
        y = [_lost(line) / longest for line in points]
        reach = [
            [value - _end(point, _side(point, "lower"), longest) for value, point in zip(y, points, strict=True)],
            [_end(point, _side(point, "upper"), longest) - value for value, point in zip(y, points, strict=True)],
        ]
        hollow = points[0]["model"] == "local"
        axes.errorbar(
            x, y, yerr=reach, label=f"{label} ({points[0]['model']})", color=look[0], marker=look[1], markersize=6,
            markerfacecolor="white" if hollow else look[0], linewidth=1.2, elinewidth=0.9, capsize=2,
        )  # fmt: skip
        served = running_minimum(y)
        if served != y:
            axes.step(x, served, where="post", color=look[0], linestyle=(0, (2, 2)), linewidth=1.0, alpha=0.8)
        unseen = [(a, b) for a, b, p in zip(x, y, points, strict=True) if p["visible"] != "yes"]
        if unseen:
            axes.plot(*zip(*unseen, strict=True), linestyle="", marker="x", color=_INK, markersize=9, markeredgewidth=1)
    _lower_bounds(axes, here, longest)
    _upper_bounds(axes, here, longest, _looks(lines))
    axes.set(xscale="log", yscale=_scale(here), xlabel="certified epsilon (nats)", ylabel="expected regret a round")
    if _scale(here) == "log":
        axes.set_ylim(bottom=_floor_of(here) / longest)
    _plain_ticks(axes)
    axes.set_title(f"{lines[0]['study']}: what privacy costs at T = {longest:,}", loc="left", color=_INK)
    crossed = "Crossed: learning is not shown at this point."
    steps = "Dashed steps: the running minimum, as a certificate at a smaller epsilon serves a larger one."
    _finish(figure, axes, [*_caption(lines), f"{crossed} {steps}", *_bound_caption(here), *_proved(here)])
    return figure


def running_minimum(values: list[float]) -> list[float]:
    """Return the smallest value so far: a certificate at a smaller epsilon serves a larger one.

    >>> running_minimum([3.0, 1.0, 2.0])
    [3.0, 1.0, 1.0]
    """
    return list(accumulate(values, min))


def draw_regret(lines: list[Line]) -> Any:
    """Return regret over that of uniform play against the horizon, for at most three epsilons of a contender."""
    figure, axes = _axes()
    for label, look in _looks(lines).items():
        own = [line for line in lines if line["contender"] == label and line["share"]]
        claims = _some(sorted({line["claim_epsilon"] for line in own}, key=lambda text: float(text or 0)))
        for number, claim in enumerate(claims):
            curve = sorted((line for line in own if line["claim_epsilon"] == claim), key=lambda line: int(line["T"]))
            role, model = curve[0]["role"], curve[0]["model"]
            said = f"{label}, claim {claim}" if claim and role != "ceiling" else label
            axes.plot(
                [int(line["T"]) for line in curve],
                [max(float(line["share"]), 1e-9) for line in curve],
                color=_INK if role == "ceiling" else _QUIET if role == "floor" else look[0],
                linestyle="--" if role == "ceiling" else ":" if role == "floor" else "-",
                marker=look[1], markersize=5, linewidth=1.2, alpha=(0.55, 0.8, 1.0)[-len(claims) :][number],
                markerfacecolor="white" if model == "local" else None, label=said,
            )  # fmt: skip
    axes.axhline(1.0, color=_QUIET, linewidth=0.8)
    axes.axhline(0.5, color=_QUIET, linewidth=0.8, linestyle=(0, (1, 3)))
    shares = [float(line["share"]) for line in lines if line["share"]]
    axes.set(xscale="log", yscale="log" if shares and min(shares) > 0 and min(shares) < 0.3 else "linear")
    axes.set(xlabel="T, rounds or episodes", ylabel="regret over that of uniform play")
    axes.set_title(f"{lines[0]['study']}: share of the regret of uniform play", loc="left", color=_INK)
    _finish(figure, axes, [*_caption(lines), "Each T is a run of its own. Dotted level: a share of one half."])
    return figure


def draw_exponents(powers: list[Line], lines: list[Line]) -> Any:
    """Return the fitted powers with their intervals; a contender without one is not drawn."""
    figure, axes = _axes()
    fitted = [line for line in powers if line["slope"]]
    names = []
    ceilings = {line["contender"] for line in lines if line["role"] == "ceiling"}
    for place, line in enumerate(fitted):
        slope = float(line["slope"])
        ends = [float(line[end]) if line[end] else slope for end in ("lower", "upper")]
        colour = _COLOURS[0] if line["variable"] == "horizon" else _COLOURS[1]
        axes.plot(ends, [place, place], color=colour, linewidth=1.4)
        axes.plot([slope], [place], color=colour, marker="o", markersize=6, linestyle="")
        of = (
            f"claim {line['claim_epsilon']}"
            if line["claim_epsilon"] and line["contender"] not in ceilings
            else f"T = {int(line['T']):,}"
            if line["T"]
            else ""
        )
        names.append(f"{line['contender']} {of}\npower of {line['variable']} ({line['fit']})")
    if not fitted:
        axes.text(0.5, 0.5, "No exponent: no contender is in range.\nSee exponents.csv for the reasons.",
                  ha="center", va="center", transform=axes.transAxes, color=_QUIET)  # fmt: skip
    axes.set(yticks=range(len(names)), yticklabels=names, xlabel="fitted power, with its interval")
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axes.set_title(f"{lines[0]['study']}: exponents", loc="left", color=_INK)
    _finish(figure, axes, _caption(lines))
    return figure


def _reference_lines(axes: Any, lines: list[Line], longest: int) -> None:
    """Draw uniform and myopic play, floors and ceilings as horizontal lines, with their names at the right."""
    levels: list[tuple[str, str, float]] = [("floor", "uniform play", float(lines[0]["uniform"]))]
    if lines[0]["myopic"]:
        levels.append(("floor", "myopic play", float(lines[0]["myopic"])))
    for role in ("ceiling", "floor"):
        labels = dict.fromkeys(line["contender"] for line in lines if line["role"] == role)
        for label in labels:
            best = min(float(line["regret"]) for line in lines if line["contender"] == label)
            levels.append((role, label, best))
    used = dict.fromkeys(_DASHES, 0)
    for role, name, level in levels:
        style = _DASHES[role][used[role] % len(_DASHES[role])]
        used[role] += 1
        colour = _INK if role == "ceiling" else _QUIET
        axes.axhline(level / longest, color=colour, linestyle=style, linewidth=1.1, label=name)


def _lower_bounds(axes: Any, lines: list[Line], longest: int) -> None:
    """Draw what no method of a certified epsilon can stay below on the worst instance, a line for each trust model."""
    for number, model in enumerate(sorted({line["model"] for line in _bounded(lines)})):
        own = sorted(
            {(float(one["epsilon"]), float(one["lower_bound"])) for one in _bounded(lines) if one["model"] == model}
        )
        axes.plot(
            [epsilon for epsilon, _ in own], [regret / longest for _, regret in own], color=_INK, linewidth=2.2,
            alpha=0.45, linestyle="-" if number == 0 else (0, (4, 1)), marker="_", label=bound_name(model),
        )  # fmt: skip


def _upper_bounds(axes: Any, lines: list[Line], longest: int, looks: dict[str, tuple[str, str]]) -> None:
    """Draw what is proved of each contender, and the most that can be lost where that says no less."""
    stated = [line for line in lines if _has_point(line) and line["upper_bound"]]
    for label in dict.fromkeys(line["contender"] for line in stated if _speaks(line)):
        own = sorted(
            (float(line["epsilon"]), float(line["upper_bound"]) / longest)
            for line in stated
            if line["contender"] == label and _speaks(line)
        )
        axes.plot(
            *zip(*own, strict=True), color=looks[label][0], linewidth=1.6, linestyle=(0, (1, 1)), marker="_",
            label=f"{label}: proved upper bound",
        )  # fmt: skip
    if not all(_speaks(line) for line in stated):
        most = max(float(line["most_regret"]) for line in stated)
        axes.axhline(most / longest, color=_INK, linewidth=2.2, alpha=0.2, label="most that can be lost")


def _speaks(line: Line) -> bool:
    """Return whether what is proved of a contender is less than the most that can be lost."""
    return float(line["upper_bound"]) < float(line["most_regret"])


def _proved(lines: list[Line]) -> list[str]:
    """Return of which contenders what is proved is no less than the most that can be lost, and from when it is."""
    silent = [line for line in lines if _has_point(line) and line["upper_bound"] and not _speaks(line)]
    begins: dict[str, float] = {}
    for line in silent:
        begins[line["contender"]] = min(float(line["upper_from"] or "inf"), begins.get(line["contender"], math.inf))
    said = [f"{name} (less from T = 10^{log10:.3g} on)" if log10 < math.inf else name for name, log10 in begins.items()]
    return [f"Proved upper bounds that are no less than the most that can be lost: {', '.join(said)}."] if said else []


def _bound_caption(lines: list[Line]) -> list[str]:
    """Return what the lower bound speaks of, and the largest ratio where all of its instances were run."""
    bounded = _bounded(lines)
    if not bounded:
        return ["Lower bound on regret: unknown."]
    instances = " or ".join(sorted({line["instances"] for line in bounded}))
    said = f"Lower bound: every method of that epsilon loses as much on the worst of {instances} instances"
    ran = [line for line in bounded if line["worst_instance"]]
    if not ran:
        return [f"{said}; this problem is not one of them."]
    ratios = [float(line["worst_instance"]) / float(line["lower_bound"]) for line in ran]
    return [
        f"{said}, all run here. Points are means on the worst one, with intervals that hold for all instances "
        f"together: {min(ratios):.4g} to {max(ratios):.4g} times the bound, the most that any method could gain."
    ]


def _bounded(lines: list[Line]) -> list[Line]:
    """Return the points for which a lower bound above 0 is known."""
    return [line for line in lines if _has_point(line) and float(line["lower_bound"] or 0) > 0]


def _looks(lines: list[Line]) -> dict[str, tuple[str, str]]:
    """Return the colour and the marker of each contender, private ones first."""
    labels = dict.fromkeys(line["contender"] for role in ("private", "ceiling", "floor") for line in lines
                           if line["role"] == role)  # fmt: skip
    return {
        label: (_COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)])
        for number, label in enumerate(labels)
    }


def _has_point(line: Line) -> bool:
    """Return whether a line has a place on the axis."""
    return line["role"] == "private" and not line["remark"] and line["epsilon"] not in ("", "inf")


def _lost(line: Line) -> float:
    """Return the regret of a point: on the worst instance where all instances of the lower bound were run."""
    return float(line["worst_instance"] or line["regret"])


def _side(line: Line, end: str) -> str:
    """Return the column of an end of the interval of `_lost`."""
    return f"worst_{end}" if line["worst_instance"] else end


def _end(line: Line, name: str, longest: int) -> float:
    """Return an end of an interval a round: the mean where it is infinite, and 1e-300 in place of 0 and less."""
    value = line[name]
    end = _lost(line) if value in ("", "inf", "-inf") else float(value)
    return max(end / longest, 1e-300)


def _floor_of(lines: list[Line]) -> float:
    """Return where a logarithmic axis begins: at half of the smallest value; bars that reach 0 run out of it."""
    return 0.5 * min(_values(lines))


def _values(lines: list[Line]) -> list[float]:
    """Return all regrets, and the lower bounds on them."""
    bounds = [float(line["lower_bound"]) for line in _bounded(lines)]
    proved = [float(line["upper_bound"]) for line in lines if _has_point(line) and line["upper_bound"]]
    return [float(line["regret"]) for line in lines] + [_lost(line) for line in lines] + bounds + proved


def _short(value: float, place: int | None) -> str:
    """Return the text of a tick."""
    del place
    return f"{value:g}"


def _plain_ticks(axes: Any) -> None:
    """Write the ticks of a logarithmic axis of epsilon as plain numbers, three a decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_xlim()
    few = high / low > _WIDE
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _scale(lines: list[Line]) -> str:
    """Return the scale of regret: logarithmic where it spans more than a factor of 3."""
    values = _values(lines)
    return "log" if min(values) > 0 and max(values) > 3 * min(values) else "linear"


def _some(claims: list[str]) -> list[str]:
    """Return at most three of some claims: the ends and the middle."""
    if len(claims) <= _MOST_CURVES:
        return claims
    return [claims[0], claims[len(claims) // 2], claims[-1]]


def _caption(lines: list[Line]) -> list[str]:
    """Return what every caption says: problem, users, relation, delta and what the band is."""
    line = lines[0]
    each = "1 run" if line["runs"] == "1" else f"{line['runs']} runs"
    over = f"{line['problems']} problems, {each} each" if line["problems"] != "1" else each
    what = "problems" if line["problems"] != "1" else "runs"
    band = f"Bands: Student intervals over {what}, {1 - float(line['alpha']):.0%} each."
    model = "Filled: central or joint; hollow: local."
    people = [float(one["epsilon_person"]) for one in lines if _has_point(one) and one["epsilon_person"]]
    several = people != [float(one["epsilon"]) for one in lines if _has_point(one) and one["epsilon_person"]]
    person = f" For all units of one person epsilon is {min(people):.3g} to {max(people):.3g}." if several else ""
    return [
        f"Problem: {line['problem']} Users: {line['users']}; {over}.",
        f"Relation: {line['relation'].replace('_', '-')}; delta = {line['delta']}. {band} {model}{person}",
    ]


def _axes() -> tuple[Any, Any]:
    """Return an empty figure and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 5.4))
    return figure, figure.add_axes((0.1, 0.24, 0.54, 0.68))


_BELOW, _LINE = 0.115, 0.0265
"""What an axis takes below itself, and a line of the caption, as shares of the figure's height."""


def _finish(figure: Any, axes: Any, caption: Iterable[str]) -> None:
    """Put the legend beside the axes, and the caption below them, with room for all of its lines."""
    text = "\n".join(textwrap.fill(line, 128) for line in caption)
    bottom = max(0.24, _BELOW + _LINE * (text.count("\n") + 1))
    axes.set_position((0.1, bottom, 0.54, 0.92 - bottom))
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        wrapped = [textwrap.fill(label, 34) for label in labels]
        axes.legend(handles, wrapped, loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=8, handlelength=2.6)
    elif axes.get_yticklabels():
        axes.set_position((0.38, bottom, 0.58, 0.92 - bottom))
    figure.text(0.02, 0.02, text, fontsize=7.5, color=_QUIET, va="bottom")


def without_words(figure: Any) -> Any:
    """Return a figure without its title and its caption."""
    for text in tuple(figure.texts):
        text.remove()
    for axes in figure.axes:
        axes.set_title("", loc="left")
    return figure


def _saved(figure: Any, kind: str, metadata: dict[str, Any]) -> bytes:
    """Return a figure as the bytes of a file."""
    file = io.BytesIO()
    room: dict[str, Any] = {"bbox_inches": "tight"} if kind == "pdf" else {}
    figure.savefig(file, format=kind, metadata=metadata, dpi=120, **room)
    return file.getvalue()


def _read(text: str) -> list[Line]:
    """Return the lines of a CSV table."""
    return list(csv.DictReader(io.StringIO(text)))
