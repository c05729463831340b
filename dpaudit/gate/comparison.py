"""The comparison of two reports: each change with its direction, and all of them as a document."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.documents.document import Document, Mark, Table, document, judged
from dpaudit.errors import ConfigError
from dpaudit.wording.measures import numbers_by_name
from dpaudit.wording.verdicts import Tone

Direction = Literal["worse", "better", "other"]

_VERDICTS = ("certified", "stated", "not_proved", "refuted")
_AUDITS = ("consistent", "not_refuted", "inconclusive", "violation")
_STATUSES = ("checked", "assumed", "violated")
_TOLERANCE = 1e-6
_SMALLEST = 1e-300  # what is smaller is shown as this, which bounds it from above


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference: its subject, the values before and after, and its direction."""

    what: str
    before: str
    after: str
    direction: Direction


def compare(before: dict[str, Any], after: dict[str, Any]) -> tuple[Change, ...]:
    """Return the changes between two reports in plain data, worst first.

    Worse are: a graver verdict; a claim, a certified epsilon or a certified delta that grew by more than a millionth;
    a condition less looked at; a new finding; an audit that is gone or ends graver. Another unit, relation or model
    is a change that nobody can rank, and so is a lower bound that moved.
    Raises: ConfigError: the data is no report.
    """
    try:
        earlier, later = before["certificate"], after["certificate"]
        changes = [
            *_certificates(earlier, later),
            *_conditions(earlier, later),
            *_audits(_attacks(before), _attacks(after)),
        ]
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        lacking = [which for which, data in (("first", before), ("second", after)) if "certificate" not in data]
        what = f"the {lacking[0]} file is no report" if lacking else repr(error)
        raise ConfigError(f"Expected two report.json files as `dpaudit report` writes them: {what}.") from None
    order: tuple[Direction, ...] = ("worse", "other", "better")
    return tuple(sorted(changes, key=lambda change: order.index(change.direction)))


def _certificates(earlier: dict[str, Any], later: dict[str, Any]) -> list[Change]:
    """Return the changes of claim, verdict, numbers and findings."""
    rows = _ranked("certificate", earlier["verdict"], later["verdict"], _VERDICTS)
    rows += _numbers("claimed", earlier["claim"], later["claim"])
    for name in ("unit", "neighbours", "model"):
        rows += _plain(name, earlier["claim"][name], later["claim"][name])
    if "effort" in earlier.keys() & later.keys():  # reports of older versions do not say it
        rows += _plain("effort", earlier["effort"], later["effort"])
    rows += _numbers("certified", earlier["tight"], later["tight"])
    old, new = ({f"{finding['rule']} {finding['where']}" for finding in side["findings"]} for side in (earlier, later))
    rows += [Change(what=name, before="not found", after="found", direction="worse") for name in sorted(new - old)]
    rows += [Change(what=name, before="found", after="not found", direction="better") for name in sorted(old - new)]
    return rows


def _conditions(earlier: dict[str, Any], later: dict[str, Any]) -> list[Change]:
    """Return the changes of the side-conditions; a new condition that is not checked is worse."""
    before, after = (_by_identity(side["conditions"], _identity) for side in (earlier, later))
    rows: list[Change] = []
    for identity in sorted({*before, *after}):
        text = (after if identity in after else before)[identity]["text"]
        old, new = (side[identity]["status"] if identity in side else "no condition" for side in (before, after))
        if identity in before and identity in after:
            rows += _ranked(text, old, new, _STATUSES)
        else:
            grave = identity in after and new != "checked"
            rows.append(Change(what=text, before=old, after=new, direction="worse" if grave else "other"))
    return rows


def _identity(condition: dict[str, Any]) -> tuple[str, ...]:
    """Return the identity of a condition: its kind and its subject."""
    return condition["kind"], *condition["about"]


def _by_identity(
    rows: list[dict[str, Any]], identity: Callable[[dict[str, Any]], tuple[str, ...]]
) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return rows by their identity; those that share one are numbered in their order, and none hides another."""
    seen: Counter[tuple[str, ...]] = Counter()
    named: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        own = identity(row)
        seen[own] += 1
        named[own if seen[own] == 1 else (*own, f"({seen[own]})")] = row
    return named


def _attacks(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the audits of a report, those of scores by the name of their file."""
    return [*report["audits"], *(row["result"] | {"name": row["file"]} for row in report.get("scores", ()))]


def _audits(earlier: list[dict[str, Any]], later: list[dict[str, Any]]) -> list[Change]:
    """Return the changes of the audits, by name."""
    before, after = (_by_identity(side, lambda audit: (audit["name"],)) for side in (earlier, later))
    rows: list[Change] = []
    for name in sorted({*before, *after}):
        what = f"audit '{' '.join(name)}'"
        if name not in after:
            rows.append(Change(what=what, before=before[name]["verdict"], after="not run", direction="worse"))
        elif name not in before:
            grave: Direction = "worse" if after[name]["verdict"] == "violation" else "better"
            rows.append(Change(what=what, before="not run", after=after[name]["verdict"], direction=grave))
        else:
            rows += _ranked(what, before[name]["verdict"], after[name]["verdict"], _AUDITS)
            lower = (_shown(side[name]["epsilon_lower"]) for side in (before, after))
            rows += _plain(f"{what}: epsilon at least", *lower)
    return rows


def _ranked(what: str, before: str, after: str, order: tuple[str, ...]) -> list[Change]:
    """Return the change between two words of `order`, which goes from best to worst; nothing for equal ones."""
    direction: Direction = "worse" if order.index(after) > order.index(before) else "better"
    return [Change(what=what, before=before, after=after, direction=direction)] if before != after else []


def _numbers(which: str, earlier: dict[str, Any], later: dict[str, Any]) -> list[Change]:
    """Return the changes of the numbers of two claims or proofs, of which more is worse.

    A relative change below a millionth is none; of a number that stands on one side alone no order is known.
    """
    before, after = numbers_by_name(earlier), numbers_by_name(later)
    rows: list[Change] = []
    for name in {**before, **after}:
        old, new = (_shown(side[name]) if name in side else "none" for side in (before, after))
        if name not in before or name not in after:
            rows += _plain(f"{which} {name}", old, new)
        elif not math.isclose(before[name], after[name], rel_tol=_TOLERANCE, abs_tol=_SMALLEST):
            direction: Direction = "worse" if after[name] > before[name] else "better"
            rows.append(Change(what=f"{which} {name}", before=old, after=new, direction=direction))
    return rows


def _plain(what: str, before: str, after: str) -> list[Change]:
    """Return the change of a value without an order; nothing for equal ones."""
    return [Change(what=what, before=str(before), after=str(after), direction="other")] if before != after else []


def _shown(value: float | str) -> str:
    """Return a number with six digits. Raises: ValueError: NaN, which is below and above nothing."""
    if math.isnan(number := float(value)):
        raise ValueError("expected a number, found NaN")
    return f"{max(number, _SMALLEST) if number > 0 else number:.6g}"


_TONES: dict[Direction, Tone] = {"worse": "bad", "other": "open", "better": "good"}


def changes_document(changes: tuple[Change, ...]) -> Document:
    """Return the differences of two reports, each with its direction."""
    worse = sum(change.direction == "worse" for change in changes)
    unchanged = f"{len(changes)} changes, none for the worse." if changes else "No change."
    sentence = f"{worse} of {len(changes)} changes are for the worse." if worse else unchanged
    rows = tuple(
        (Mark(change.direction, _TONES[change.direction]), change.what, change.before, change.after)
        for change in changes
    )
    return document(
        judged("FINDING" if worse else "PASS", sentence),
        Table(rows, head=("", "what", "before", "after"), wrapped=True),
        title="What changed between two reports",
    )
