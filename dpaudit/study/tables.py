"""The tables of a study as CSV: cells, contrasts and exponents, ordered by key; numbers in their shortest form."""

import csv
import io
import math
from collections.abc import Iterable, Sequence

from dpaudit.study.rows import Row
from dpaudit.study.running import Outcome

CELLS = (
    *("contender", "algorithm", "role", "model", "claim_epsilon", "epsilon", "epsilon_person", "units_per_person"),
    *("delta", "relation", "unit", "T", "problem", "gap_factor", "runs", "regret_mean", "regret_sd", "share", "lost"),
    *("certificate", "config", "remark"),
)
ROWS = (
    *("contender", "algorithm", "role", "model", "claim_epsilon", "epsilon", "epsilon_person", "T", "samples"),
    *("regret", "se", "lower", "upper", "per_round", "share", "lost", "uniform", "myopic"),
    *("floor", "minus_floor", "floor_lower", "floor_upper", "visible", "remark"),
    *("lower_bound", "instances", "worst_instance", "worst_lower", "worst_upper"),
    *("upper_bound", "most_regret", "upper_from", "gain_lower", "gain_upper"),
    *("study", "problem", "problems", "runs", "users", "relation", "delta", "alpha"),
)
CONTRASTS = (
    *("kind", "T", "first", "first_claim", "first_epsilon", "second", "second_claim", "second_epsilon"),
    *("difference", "se", "lower", "upper"),
)
EXPONENTS = (
    *(
        "contender",
        "claim_epsilon",
        "variable",
        "fit",
        "T",
        "slope",
        "lower",
        "upper",
        "points",
        "root",
        "offset",
        "why",
    ),
)


def number(value: float | int | None) -> str:
    """Return a number with ten digits at most; nothing for NaN and None, "inf" for infinity.

    >>> number(0.1), number(1e7), number(10**17), number(float("nan"))
    ('0.1', '10000000', '100000000000000000', '')
    """
    if isinstance(value, int):
        return str(value)
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10g}"


def cells_csv(outcome: Outcome) -> str:
    """Return one line for each cell; cells without a result have their error in the last column."""
    study, settings = outcome.study, outcome.study.settings
    rows = {(row.label, row.epsilon, row.horizon): row for row in outcome.rows}
    lines: list[list[str]] = []
    for cell in (*outcome.measured, *outcome.blind):
        key, contender = cell.cell, study.contender(cell.cell.label)
        label, role = (f"{key.label} without data", "floor") if key.blind else (key.label, contender.role)
        row = None if key.blind else rows.get((key.label, key.epsilon, key.horizon))
        held = row.certified if row else None
        spread = _deviation(cell.regret)
        lines.append(
            [
                *(label, contender.name, role, held.model if held else "", number(key.epsilon)),
                *((number(held.epsilon), number(held.person), number(held.units)) if held else ("", "", "")),
                *(number(settings.delta), settings.neighbours, held.unit if held else "", number(key.horizon)),
                *(number(key.problem), number(key.gap_factor), number(len(cell.regret)), number(cell.mean)),
                *(number(spread), number(_ratio(cell.mean, cell.uniform * 1.0)), number(cell.lost)),
                *(held.digest if held else "", row.config if row else "", cell.error or (held.why if held else "")),
            ]
        )
    return _written(CELLS, lines)


def rows_csv(outcome: Outcome, problem: str) -> str:
    """Return one line for each contender, epsilon and horizon, with its interval and its best floor.

    The last columns say what every caption must: `problem` in words, problems, runs, users, relation, delta and alpha.
    """
    settings = outcome.study.settings
    common = [
        *(settings.name, problem, number(len(settings.problems)), number(settings.runs), "simulated"),
        *(settings.neighbours, number(settings.delta), number(settings.alpha)),
    ]
    floors = {id(line.row): line for line in outcome.floors}
    lines: list[list[str]] = []
    for row in outcome.rows:
        held, against = row.certified, floors.get(id(row))
        gap = against.difference if against else None
        lines.append(
            [
                *(row.label, row.name, row.role, held.model, number(row.epsilon), _epsilon(row), number(held.person)),
                *(number(row.horizon), number(len(row.samples)), number(row.regret.mean), number(row.regret.error)),
                *(number(row.regret.lower), number(row.regret.upper), number(row.regret.mean / row.horizon)),
                *(number(row.share), number(row.lost), number(_mean(row.uniform)), number(_mean(row.myopic))),
                *(
                    (against.floor, number(gap.mean), number(gap.lower), number(gap.upper))
                    if against and gap
                    else [""] * 4
                ),
                *(against.visible if against else "", held.why if row.role == "private" else ""),
                *((number(row.bound.value), number(row.bound.instances)) if row.bound else ("", "")),
                *map(number, (row.worst.mean, row.worst.lower, row.worst.upper) if row.worst else (None,) * 3),
                *map(number, (row.upper.value, row.upper.most, row.upper.log10) if row.upper else (None,) * 3),
                *map(number, row.gain[:2] if row.gain else (None, None)),
                *common,
            ]
        )
    return _written(ROWS, lines)


def contrasts_csv(outcome: Outcome) -> str:
    """Return one line for each private row against its best floor, and one for each case of dominance."""
    lines: list[list[str]] = []
    for line in outcome.floors:
        gap = line.difference
        lines.append(
            [
                *("floor", number(line.row.horizon), line.row.label, number(line.row.epsilon), _epsilon(line.row)),
                *(line.floor, "", "", number(gap.mean), number(gap.error), number(gap.lower), number(gap.upper)),
            ]
        )
    for pair in outcome.dominated:
        gap, better, worse = pair.difference, pair.better, pair.worse
        lines.append(
            [
                *("dominates", number(better.horizon), better.label, number(better.epsilon), _epsilon(better)),
                *(worse.label, number(worse.epsilon), _epsilon(worse)),
                *(number(gap.mean), number(gap.error), number(gap.lower), number(gap.upper)),
            ]
        )
    return _written(CONTRASTS, lines)


def exponents_csv(outcome: Outcome) -> str:
    """Return one line for each exponent, also those that there is not, with the reason."""
    return _written(
        EXPONENTS,
        [
            [
                *(line.label, number(line.epsilon), line.variable, line.fit, number(line.horizon)),
                *(number(line.slope), number(line.lower), number(line.upper)),
                *(" ".join(map(number, line.points)), number(line.root), number(line.offset), line.why),
            ]
            for line in outcome.exponents
        ],
    )


def seconds_csv(outcome: Outcome) -> str:
    """Return how long each cell took; the one table that differs from run to run."""
    cells = [(cell.cell, cell.seconds) for cell in (*outcome.tuned, *outcome.measured, *outcome.blind)]
    lines = [
        [cell.label, number(cell.epsilon), number(cell.horizon), number(cell.problem), number(seconds)]
        for cell, seconds in cells
    ]
    return _written(("contender", "claim_epsilon", "T", "problem", "seconds"), lines)


def _epsilon(row: Row) -> str:
    """Return the certified epsilon of a row; nothing where there is none."""
    return number(row.certified.epsilon) if row.role == "private" and row.certified.model else ""


def _mean(values: Sequence[float]) -> float:
    """Return the mean of some values."""
    return sum(values) / len(values)


def _ratio(value: float, whole: float) -> float:
    """Return value / whole; NaN where whole is 0."""
    return value / whole if whole else math.nan


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation; NaN of fewer than two values."""
    if len(values) < 2:
        return math.nan
    mean = _mean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _written(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table as CSV with a head."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return file.getvalue()
