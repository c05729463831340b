"""The tables of a study as CSV, ordered by key; numbers in their shortest form.

Rows, contrasts and exponents are read from the document of the study, cells from the outcome.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping
from statistics import stdev
from typing import Any

from dpaudit.study.running import Outcome


def _columns(text: str) -> dict[str, tuple[str, ...]]:
    """Return the columns that a text lists, `name=path` each, with the keys of the path; the name where it has none.

    >>> _columns("role se=regret.error")
    {'role': ('role',), 'se': ('regret', 'error')}
    """
    named = (word.partition("=") for word in text.split())
    return {name: tuple((path or name).split(".")) for name, _, path in named}


CELLS = _columns(
    """
    contender algorithm role model=certified.model claim_epsilon=cell.epsilon epsilon=certified.epsilon
    epsilon_person=certified.person units_per_person=certified.units delta=settings.delta relation=settings.neighbours
    unit=certified.unit T=cell.horizon problem=cell.problem gap_factor=cell.gap_factor runs regret_mean regret_sd share
    lost certificate=certified.digest config=row.config remark
    """
)
_ROWS = _columns(
    """
    contender=label algorithm role model claim_epsilon=claim epsilon epsilon_person=person_epsilon T
    samples=regret.count regret=regret.mean se=regret.error lower=regret.lower upper=regret.upper per_round
    share lost uniform myopic floor minus_floor=minus_floor.mean floor_lower=minus_floor.lower
    floor_upper=minus_floor.upper visible remark lower_bound=lower_bound.regret instances=lower_bound.instances
    worst_instance=lower_bound.worst.mean worst_lower=lower_bound.worst.lower worst_upper=lower_bound.worst.upper
    upper_bound=upper_bound.regret most_regret=upper_bound.most upper_from=upper_bound.log10_from
    gain_lower=information_gain.lower gain_upper=information_gain.upper
    study=study.name problem=study.described problems=study.count runs=study.runs users=study.users
    relation=study.relation delta=study.delta alpha=study.alpha
    """
)
_CONTRASTS = _columns(
    """
    kind T first=first.label first_claim=first.claim first_epsilon=first.epsilon second=second.label
    second_claim=second.claim second_epsilon=second.epsilon difference=gap.mean se=gap.error lower=gap.lower
    upper=gap.upper
    """
)
_SECONDS = _columns("contender=cell.label claim_epsilon=cell.epsilon T=cell.horizon problem=cell.problem seconds")
_EXPONENTS = _columns(
    "contender=label claim_epsilon=epsilon variable fit T=horizon slope lower upper points root offset why"
)


def number(value: float | int | str | None) -> str:
    """Return a number with ten digits at most; nothing for NaN and None, "inf" for infinity, a text as it is.

    >>> number(0.1), number(1e7), number(10**17), number(float("nan"))
    ('0.1', '10000000', '100000000000000000', '')
    """
    if isinstance(value, int | str):
        return str(value)
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10g}"


def cells_csv(outcome: Outcome) -> str:
    """Return one line for each cell; cells without a result have their error in the last column."""
    study, settings = outcome.study, outcome.study.settings
    rows = {row.key: row for row in outcome.rows}
    lines: list[dict[str, Any]] = []
    for cell in (*outcome.measured, *outcome.blind):
        key, contender = cell.cell, study.contender(cell.cell.label)
        label, role = (f"{key.label} without data", "floor") if key.blind else (key.label, contender.role)
        row = None if key.blind else rows.get(key.key)
        certified = row and row.certified
        sources = {"cell": key, "certified": certified, "row": row, "settings": settings, "lost": cell.lost}
        measured = {
            "runs": len(cell.regret),
            "regret_mean": cell.mean,
            "regret_sd": stdev(cell.regret) if len(cell.regret) > 1 else math.nan,
            "share": cell.mean / cell.uniform if cell.uniform else math.nan,
            "remark": cell.error or (certified.why if certified else ""),
        }
        lines.append({"contender": label, "algorithm": contender.name, "role": role} | sources | measured)
    return _from(CELLS, lines)


def rows_csv(study: Mapping[str, Any], problem: str) -> str:
    """Return one line for each contender, epsilon and horizon of a study's document, with its interval and best floor.

    The last columns say what every caption must: `problem` in words, problems, runs, users, relation, delta and alpha.
    """
    common = {**study, "described": problem, "count": len(study["problems"]), "users": study["problem"]["users"]}
    rows = ({**row, "per_round": row["regret"]["mean"] / row["T"], "study": common} for row in study["rows"])
    return _from(_ROWS, rows)


def read_rows(text: str) -> list[dict[str, Any]]:
    r"""Return the rows of the table that `rows_csv` wrote, in the form of a study's document; an empty cell is None.

    >>> (row,) = read_rows("T,regret,se,lower_bound\n10,2.5,,\n")
    >>> row["T"], row["regret"], row["lower_bound"]
    (10, {'mean': 2.5}, None)
    """
    return [_row(line) for line in csv.DictReader(io.StringIO(text))]


def _row(line: Mapping[str, str]) -> dict[str, Any]:
    """Return one line of the table with its keys nested."""
    row: dict[str, Any] = {path[0]: None for path in _ROWS.values()}
    for name, (*above, key) in _ROWS.items():
        level = row
        if line.get(name):
            for outer in above:
                level[outer] = level.get(outer) or {}
                level = level[outer]
            level[key] = _value(line[name])
    return row


def _value(text: str) -> float | str:
    """Return the number that a cell holds, or its text."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def contrasts_csv(study: Mapping[str, Any]) -> str:
    """Return one line for each private row against its best floor, and one for each case of dominance."""
    rows_by_key = {(row["label"], row["claim"], row["T"]): row for row in study["rows"]}
    floors = (
        {"kind": "floor", "T": row["T"], "first": row, "second": {"label": row["floor"]}, "gap": row["minus_floor"]}
        for row in study["rows"]
        if row["floor"] is not None
    )
    dominance = (
        {
            "kind": "dominates",
            "T": pair["T"],
            "first": rows_by_key[pair["better"], pair["better_claim"], pair["T"]],
            "second": rows_by_key[pair["worse"], pair["worse_claim"], pair["T"]],
            "gap": pair["difference"],
        }
        for pair in study["dominance"]
    )
    return _from(_CONTRASTS, (*floors, *dominance))


def exponents_csv(study: Mapping[str, Any]) -> str:
    """Return one line for each exponent, also those that there is not, with the reason."""
    return _from(_EXPONENTS, ({**line, "points": " ".join(map(number, line["points"]))} for line in study["exponents"]))


def seconds_csv(outcome: Outcome) -> str:
    """Return how long each cell took; the one table that differs from run to run."""
    return _from(_SECONDS, (*outcome.tuned, *outcome.measured, *outcome.blind))


def _from(columns: Mapping[str, tuple[str, ...]], rows: Iterable[Any]) -> str:
    """Return a table as CSV with a head; a cell is empty where a row has nothing at its path."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([number(_at(row, path)) for path in columns.values()] for row in rows)
    return file.getvalue()


def _at(row: Any, path: tuple[str, ...]) -> Any:
    """Return what lies at a path; None where some part of it is absent."""
    for key in path:
        row = row and (row.get(key) if isinstance(row, Mapping) else getattr(row, key))
    return row
