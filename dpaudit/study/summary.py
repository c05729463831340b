"""The page of a study: what privacy costs on its problem, in a few sentences and one table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.documents.document import Document, Paragraph, Picture, Table, document, items, under
from dpaudit.study.front import is_point
from dpaudit.study.row_words import a_round, ceiling, cells_of, claimed, dominating, lost
from dpaudit.wording.numerals import at_least, at_most, exact, nearest, whole

HEAD = (
    *("Contender", "Model", "Claim", "Certified epsilon", "For one person", "Regret a round", "Interval"),
    *("Lower bound", "Without noise", "Learning", "Dominated by"),
)
"""The columns of the table; a round is an episode where the problem has episodes."""


_FILES = (
    "regret_over_time.svg: every horizon",
    "exponents.svg: the fitted powers",
    "rows.csv: a line for each contender, epsilon and horizon",
    "cells.csv: a line for each problem",
    "contrasts.csv: the differences to floors and between contenders",
    "exponents.csv: the powers, or why there is none",
    "study.json: all of it, with tuning and versions",
)


def summary_of(study: Mapping[str, Any]) -> Document:
    """Return the page, from the document of a study alone; it speaks of the longest horizon.

    Every number is of a simulation. Certified epsilons are rounded up. A study without a row says so.
    """
    title = f"{study['name']}: what privacy costs"
    if not study["rows"]:
        none = Paragraph("No cell has a result; study.json has the errors.")
        return document(Paragraph(_setting(study)), none, title=title)
    longest = max(row["T"] for row in study["rows"])
    here = [row for row in study["rows"] if row["T"] == longest]
    points = [row for row in here if is_point(row)]
    said = (*_levels(study, here), *_first_shown(points), *_costs(study, points), *_lower_bounds(points))
    said = (*said, *_upper_bounds(points), *_gains(here))
    table = Table(tuple(_table_row(study, row) for row in points), head=HEAD, wrapped=True)
    outside = (f"{row['label']} (claim {claimed(row)}): {row['remark']}" for row in here if row["remark"])
    return document(
        Paragraph(_setting(study)),
        under(f"At T = {whole(longest)}", items(said), table, Paragraph(_WORDS if points else "")),
        under("Without a place on the axis", items(outside)),
        under("Figures and files", Picture("Regret against certified epsilon", file="front.svg"), items(_FILES)),
        title=title,
    )


_WORDS = (
    "The claim is the epsilon that a method was asked for, the certified epsilon what its noise is proved to give. "
    "Learning is shown where the regret is at most half of that of uniform play and below that of the same method "
    "without data. Every method with that certified epsilon loses the lower bound on the worst instance of its family, "
    "which is named above."
)


def _setting(study: Mapping[str, Any]) -> str:
    """Return the problem, the users, the runs and the unit of privacy."""
    problem, number = study["problem"], len(study["problems"])
    described = problem["description"] or problem["name"]
    runs = f"{study['runs']} run{'s' if study['runs'] > 1 else ''}"
    over = f"{number} problems of {runs} each, of which the first is described" if number > 1 else runs
    units = {row["unit"] for row in study["rows"] if row["unit"]}
    unit = f" Certificates protect {units.pop()}." if len(units) == 1 else ""
    most = problem["units_per_person"]
    person = f" One person has up to {most} of them." if most is not None and most > 1 else ""
    return (
        f"Problem: {described.rstrip('.')}. Users are simulated; {over}.{unit}{person} Neighbours: "
        f"{study['relation'].replace('_', '-')}, delta {exact(study['delta'])}; intervals at {1 - study['alpha']:.0%}."
    )


def _levels(study: Mapping[str, Any], here: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what uniform play, play for the immediate reward, the best ceiling and the floors lose."""
    first = here[0]
    said = [f"Uniform play loses {a_round(first, first['uniform'])} a round."]
    if first["myopic"] is not None:
        said.append(f"Play for the largest known immediate reward loses {a_round(first, first['myopic'])}.")
    ceilings = [row for row in here if row["role"] == "ceiling"]
    if ceilings:
        best = min(ceilings, key=lambda row: float(row["regret"]["mean"]))
        said.append(
            f"Of the methods without privacy {best['label']} loses the least: {lost(best)}{_chosen(study, best)}."
        )
    floors = (row for row in here if row["role"] == "floor")
    return [*said, *(f"The floor {row['label']} loses {lost(row)}." for row in floors)]


def _chosen(study: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return the settings of a ceiling that were chosen on other seeds."""
    for choice in study["tuning"]["chosen"]:
        if (choice["label"], choice["T"]) == (row["label"], row["T"]):
            settings = ", ".join(f"{key} = {value}" for key, value in sorted(choice["settings"].items()))
            return f" (chosen on other seeds: {settings})"
    return ""


def _first_shown(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the smallest certified epsilon at which learning is shown."""
    shown = [row for row in points if row["visible"] == "yes"]
    if not shown:
        return ["Learning is shown at no certified epsilon of this study."] if points else []
    least = min(shown, key=lambda row: float(row["epsilon"]))
    return [
        f"The smallest certified epsilon at which learning is shown is {at_most(least['epsilon'])}, by "
        f"{least['label']}, which loses {lost(least)}."
    ]


def _costs(study: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what each contender with several points loses at its smallest and at its largest certified epsilon."""
    said: list[str] = []
    for label in dict.fromkeys(row["label"] for row in points):
        own = sorted((row for row in points if row["label"] == label), key=lambda row: float(row["epsilon"]))
        if len(own) > 1:
            without = ceiling(study, own[0])
            quiet = f", without noise {without}" if without else ""
            ends = [f"{lost(row)} at certified epsilon {at_most(row['epsilon'])}" for row in (own[0], own[-1])]
            said.append(f"{label} loses {ends[0]}, {ends[1]}{quiet}.")
    return said


def _lower_bounds(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which instances the lower bounds speak of, and how far the worst of them is from its bound."""
    bounds = [row["lower_bound"] for row in points if row["lower_bound"]]
    said = [
        f"The lower bound speaks of the worst of {count} instances: {family}."
        for count, family in sorted({(bound["instances"], bound["family"]) for bound in bounds})
    ]
    for row in points:
        bound = row["lower_bound"]
        if bound and bound["ratio"] is not None:
            ends = " to ".join(nearest(float(bound["worst"][end]) / bound["regret"], 3) for end in ("lower", "upper"))
            said.append(
                f"{row['label']} at certified epsilon {at_most(row['epsilon'])} loses "
                f"{a_round(row, bound['worst']['mean'])} on the worst of them, {nearest(bound['ratio'], 3)} times the "
                f"bound (interval {ends})."
            )
    if any(bound["ratio"] is not None for bound in bounds):
        said.append(RATIO)
    return said


RATIO = (
    "The ratio is the largest factor by which any method with that guarantee could lose less on its worst instance. "
    "Where the best method lies between the bound and this one is not known."
)
"""What a ratio of measured regret and lower bound means."""


def _upper_bounds(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is proved of each contender's regret, one sentence for all of its points."""
    said: list[str] = []
    for label in dict.fromkeys(row["label"] for row in points):
        own = [row for row in points if row["label"] == label and row["upper_bound"]]
        spoken = [row for row in own if row["upper_bound"]["regret"] < row["upper_bound"]["most"]]
        if spoken:
            each = [at_most(row["upper_bound"]["regret"] / row["T"]) for row in spoken]
            at = ", ".join(
                f"{bound} at certified epsilon {at_most(row['epsilon'])}"
                for bound, row in zip(each, spoken, strict=True)
            )
            said.append(f"{label} is proved to lose at most {at} a round ({spoken[0]['upper_bound']['source']}).")
        elif own:
            begins = min(float(row["upper_bound"]["log10_from"] or math.inf) for row in own)
            when = f"below log10 T = {at_least(begins, 4)}" if math.isfinite(begins) else "at this T"
            source = own[0]["upper_bound"]["source"]
            said.append(
                f"The proved bound on the regret of {label} ({source}) is vacuous {when}: nobody can lose more."
            )
    unknown = [label for label in dict.fromkeys(row["label"] for row in points) if not _is_proved(points, label)]
    if unknown:
        said.append(f"No proof gives a number for: {', '.join(unknown)}.")
    return said


def _is_proved(points: Sequence[Mapping[str, Any]], label: str) -> bool:
    """Return whether an upper bound on the regret of a contender is known at some point."""
    return any(row["upper_bound"] for row in points if row["label"] == label)


def _gains(here: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return gamma_T of the contenders that have a kernel, one line for all that have the same."""
    labels: dict[tuple[float, float, float], dict[str, None]] = {}
    for row in here:
        if row["information_gain"]:
            ends = tuple(float(row["information_gain"][end]) for end in ("lower", "upper", "without_kernel"))
            labels.setdefault((ends[0], ends[1], ends[2]), {})[row["label"]] = None
    return [
        f"gamma_T is {at_least(low, 5)} to {at_most(high, 5)} nats for {', '.join(names)}; without a kernel it would "
        f"be {nearest(free, 5)}."
        for (low, high, free), names in labels.items()
    ]


def _table_row(study: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one line of the table."""
    over = dominating(study, row)
    learning = "shown" if row["visible"] == "yes" else "not shown"
    dominated_by = f"{over['better']} (claim {exact(over['better_claim'])})" if over else ""
    return (str(row["label"]), str(row["model"]), *cells_of(study, row), learning, dominated_by)
