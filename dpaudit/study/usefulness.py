"""The findings of a study on one configuration, in the words that a report prints."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.model.claim import Claim
from dpaudit.study.document import SCHEMA
from dpaudit.study.front import Front, front_of, is_point
from dpaudit.study.row_words import a_round, ceiling, cells_of, dominating, interval, lost
from dpaudit.wording.numerals import at_least, exact, nearest, whole

VACUOUS = "At this horizon the method did no better than one that reads no data; usefulness was not shown."

UNDECIDED = (
    "At this horizon the study does not decide whether the method does better than one that reads no data; usefulness "
    "was not shown."
)

MORE_THAN_HALF = "That is more than half of the regret of uniform play; usefulness was not shown."

NEGLIGIBLE = 0.05
"""A gain of at most this share of the regret of uniform play, over the whole interval, counts as none."""

OTHER = "a study of another configuration"

Remark = Literal["not_shown", "dominated"]
"""What a study says against a setting: its usefulness was not shown, or another contender dominates it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usefulness:
    """What is known of the usefulness of one configuration.

    `sentences` are empty where nothing was assessed, and `why` says why. `rows` belong to a table with the columns of
    `HEAD`; the row of the present setting is marked. `short` is for a cover. `remarks` are what speaks against the
    setting, each with its sentence. `front` is what a figure draws; None where nothing was assessed.
    """

    sentences: tuple[str, ...] = ()
    short: str = ""
    why: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    caption: str = ""
    remarks: tuple[tuple[Remark, str], ...] = ()
    front: Front | None = None

    @property
    def assessed(self) -> bool:
        """Return whether there is something to say."""
        return bool(self.sentences)


HEAD = (
    *("Contender", "Claim", "Certified epsilon", "For one person", "Regret a round", "Interval"),
    *("Lower bound", "Best floor", "Ceiling"),
)
"""The columns of the table of a front."""


def usefulness_of(
    study: Mapping[str, Any], *, config: str, claim: Claim, unit: str, horizon: int, refuted: bool
) -> Usefulness:
    """Return what a study says of the configuration with this digest.

    Nothing is said unless configuration, delta, relation and unit match and the claim is not refuted. Of several
    horizons the configured one counts, else the largest below it.
    """
    if study.get("schema") != SCHEMA:
        return Usefulness(why="the file is no study of this version")
    if refuted:
        return Usefulness(why="the claim is refuted, and what it buys is not assessed")
    own = [row for row in study["rows"] if row["config"] == config and row["role"] == "private"]
    if not own:
        return Usefulness(why=OTHER)
    if study["delta"] != claim.delta or study["relation"] != claim.neighbours or own[0]["unit"] != unit:
        return Usefulness(why=f"{OTHER}: delta, relation or unit differ")
    return _of_rows(study, own, horizon)


def _of_rows(study: Mapping[str, Any], own: list[Mapping[str, Any]], horizon: int) -> Usefulness:
    """Return what the rows of a configuration say at a horizon."""
    listed = ", ".join(whole(row["T"]) for row in own)
    reached = [row for row in own if row["T"] <= horizon]
    if not reached:
        return Usefulness(why=f"a study of longer horizons only ({listed})")
    row = max(reached, key=lambda line: int(line["T"]))
    if row["remark"]:
        return Usefulness(why=f"the study has no point for it: {row['remark']}")
    shown, dominated = _sentences(study, row), _dominated(study, row)
    not_shown: tuple[tuple[Remark, str], ...] = () if row["visible"] == "yes" else (("not_shown", " ".join(shown)),)
    return Usefulness(
        sentences=(*shown, *dominated, *_lower_bound(row), *_other_horizon(row, horizon, listed)),
        short=f"{lost(row)} lost a round; uniform play {a_round(row, row['uniform'])} (simulated)"
        if row["visible"] == "yes"
        else "not shown at this horizon (simulated)",
        rows=tuple(_table_row(study, line, row) for line in study["rows"] if line["T"] == row["T"] and is_point(line)),
        caption=f"Privacy and usefulness of {study['name']} at T = {whole(row['T'])}: "
        f"delta {exact(study['delta'])}, {study['relation'].replace('_', '-')}, simulated users",
        remarks=(*not_shown, *(("dominated", sentence) for sentence in dominated)),
        front=front_of(study["rows"], str(study["problem"]["name"]), row["T"], row),
    )


def _sentences(study: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is shown of a setting, or that nothing is, as strong as its comparison and no stronger.

    "Did no better" needs a mean that is not below the best floor's, or an interval that leaves no room for a gain worth
    naming. An interval with 0 in it and much below 0 decides nothing. A gain that leaves more than half of the regret
    of uniform play is said in numbers, and that usefulness was not shown.
    """
    if row["visible"] == "no blind floor":
        return ("The study has no run of the method without data to compare with; usefulness was not shown.",)
    gap = row["minus_floor"]
    if row["visible"] == "no" and _end(gap, "upper") >= 0:
        alike = gap["mean"] >= 0 or _end(gap, "lower") >= -NEGLIGIBLE * row["uniform"]
        return (VACUOUS if alike else UNDECIDED,)
    quiet = ceiling(study, row)
    without = f", the same method without noise {quiet}" if quiet else ""
    told = f"{lost(row)} a round ({1 - study['alpha']:.0%} interval {interval(row)})"
    shown = (
        f"In simulation on {study['problem']['name']} with {whole(row['T'])} users, the certified setting lost {told}; "
        f"uniform play loses {a_round(row, row['uniform'])}{without}."
    )
    return (shown,) if row["visible"] == "yes" else (shown, MORE_THAN_HALF)


def _end(interval: Mapping[str, Any], name: str) -> float:
    """Return an end of an interval; infinite where it is not known."""
    value = interval[name]
    unknown = -math.inf if name == "lower" else math.inf
    return unknown if value is None else float(value)


def _dominated(study: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence on the contender that dominates a setting by most, if one does."""
    best = dominating(study, row)
    if best is None:
        return ()
    ends = [a_round(row, -float(best["difference"][end])) for end in ("upper", "lower")]
    return (
        f"At the same certified epsilon, {best['better']} (claim {exact(best['better_claim'])}) lost "
        f"{a_round(row, -best['difference']['mean'])} less a round "
        f"(interval of the difference {ends[0]} to {ends[1]}).",
    )


def _lower_bound(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence on what no method with the same guarantee can stay below, where that is known."""
    bound = row["lower_bound"]
    if bound is None:
        return ()
    least = (
        f"Every method with this certified epsilon loses at least {at_least(bound['regret'] / row['T'], 3)} a round on "
        f"the worst of {bound['instances']} instances ({bound['family']})"
    )
    if bound["ratio"] is None:
        return (f"{least}; this problem is not one of them.",)
    return (f"{least}; this setting lost {nearest(bound['ratio'], 3)} times as much on the worst of them.",)


def _other_horizon(row: Mapping[str, Any], horizon: int, listed: str) -> tuple[str, ...]:
    """Return a sentence where the configured horizon itself was not studied."""
    if row["T"] == horizon:
        return ()
    return (f"The configured horizon of {whole(horizon)} was not studied; the study's horizons are {listed}.",)


def _table_row(study: Mapping[str, Any], line: Mapping[str, Any], present: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one line of the table."""
    mark = " (this setting)" if line is present else ""
    floor = line["regret"]["mean"] - line["minus_floor"]["mean"]
    *cells, without_noise = cells_of(study, line)
    return (f"{line['label']}{mark}", *cells, f"{a_round(line, floor)} ({line['floor']})", without_noise)
