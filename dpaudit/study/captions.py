"""The sentences below the figures of a study, from the rows of its table."""

import math
from collections.abc import Sequence

from dpaudit.study.front import Row, is_point
from dpaudit.wording.numerals import exact, nearest


def caption_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return what every caption says: problem, users, relation, delta and what the bars are."""
    study = rows[0]["study"]
    each = "1 run" if study["runs"] == 1 else f"{study['runs']} runs"
    several = study["count"] != 1
    over, what = (f"{study['count']} problems, {each} each", "problems") if several else (each, "runs")
    band = f"Bars: Student intervals over {what}, {1 - study['alpha']:.0%} each."
    person_rows = [row for row in rows if is_point(row) and row["person_epsilon"] is not None]
    people = [float(row["person_epsilon"]) for row in person_rows]
    differ = people != [row["epsilon"] for row in person_rows]
    person = f" For all units of one person epsilon is {min(people):.3g} to {max(people):.3g}." if differ else ""
    return (
        f"Problem: {study['described']} Users: {study['users']}; {over}.",
        f"Neighbours: {study['relation'].replace('_', '-')}; delta = {exact(study['delta'])}. {band} Filled marks: "
        f"central or joint; hollow: local.{person}",
    )


def of_bounds(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return what the lower bound speaks of, and the largest ratio where all of its instances were run."""
    bounds = [row["lower_bound"] for row in rows if is_point(row) and (row["lower_bound"] or {}).get("regret")]
    if not bounds:
        return ("Lower bound on regret: unknown.",)
    instances = " or ".join(sorted({str(bound["instances"]) for bound in bounds}))
    said = f"Lower bound: every method of that epsilon loses as much on the worst of {instances} instances"
    ratios = [bound["worst"]["mean"] / bound["regret"] for bound in bounds if bound.get("worst")]
    if not ratios:
        return (f"{said}; this problem is not one of them.",)
    return (
        f"{said}, all run here. Points are means on the worst one, with intervals that hold for all instances "
        f"together: {nearest(min(ratios))} to {nearest(max(ratios))} times the bound, the most that any method could "
        "gain.",
    )


def of_proofs(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return of which contenders what is proved is no less than the most that can be lost, and from when it is."""
    begins: dict[str, float] = {}
    for row in rows:
        proved = row["upper_bound"] or {}
        if is_point(row) and proved.get("regret") is not None and proved["regret"] >= proved["most"]:
            start = math.inf if proved.get("log10_from") is None else proved["log10_from"]
            begins[row["label"]] = min(start, begins.get(row["label"], math.inf))
    said = [
        f"{name} (less from log10 T = {log10:.3g} on)" if log10 < math.inf else name for name, log10 in begins.items()
    ]
    return (f"Proved upper bounds that are no less than the most that can be lost: {', '.join(said)}.",) if said else ()
