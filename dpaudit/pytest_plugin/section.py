"""The section of the terminal summary: a line for each check, worst first, then what holds for the whole suite."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpaudit.pytest_plugin.settings import Settings
from dpaudit.wording.verdicts import verdict_label

Properties = list[tuple[str, object]]

_ORDER = (
    *("violation", "other noise", "refuted", "not_proved", "stated", "inconclusive"),
    *("more_noise", "noise", "not_refuted", "consistent", "certified"),
)
_FIELD = re.compile(r"dp\.(\d+)\.(\w+)")


def section_lines(reports: list[tuple[str, Properties]], settings: Settings) -> list[tuple[str, tuple[str, ...]]]:
    """Return the section's lines, each with its style; nothing where no check was told."""
    rows = [(test, row) for test, properties in reports for row in outcomes(properties)]
    if not rows:
        return []
    rows.sort(key=lambda entry: _rank(entry[1]["verdict"]))
    lines = [line for test, row in rows for line in _row(test, row)]
    counts = Counter(_word(row).lower() for _, row in rows)
    summary = ", ".join(f"{number} {word}" for word, number in counts.items())
    return [*lines, ("", ()), (f"{summary}.", ("bold",)), (_kept(settings), ()), *_suite(rows, settings)]


def _suite(rows: list[tuple[str, dict[str, str]]], settings: Settings) -> list[tuple[str, tuple[str, ...]]]:
    """Return what holds for the whole suite; nothing with a file of evidence, whose budget is the suite's already."""
    if settings.evidence:
        return []
    drawn = [(test, row) for test, row in rows if "significance" in row]
    accusations = [
        Accusation(name=f"{row['check']} [{test}]", probability=float(row["probability"]))
        for test, row in drawn
        if "probability" in row
    ]
    return [(suite_line(accusations, max(settings.suite_size, len(drawn)), settings.significance), ())] if drawn else []


def outcomes(properties: Iterable[tuple[str, object]]) -> list[dict[str, str]]:
    """Return the checks of one test, field by field, from its properties.

    >>> outcomes([("dp.1.check", "sums"), ("dp.1.verdict", "certified"), ("other", 1)])
    [{'check': 'sums', 'verdict': 'certified'}]
    """
    checks: dict[int, dict[str, str]] = {}
    for name, value in properties:
        if match := _FIELD.fullmatch(name):
            checks.setdefault(int(match.group(1)), {})[match.group(2)] = str(value)
    return [checks[number] for number in sorted(checks)]


def _row(test: str, row: dict[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the lines of one check: verdict and name, and below them what it says."""
    style = ("red",) if _rank(row["verdict"]) <= _rank("not_proved") else ("yellow",)
    style = ("green",) if _rank(row["verdict"]) > _rank("inconclusive") else style
    so_far = f" (with {row['before']} runs before)" if "before" in row else ""
    seed = f"; seed {row['seed']}, {row['runs']} runs{so_far}" if "seed" in row else ""
    says = " ".join(f"{row.get('says', '').rstrip('.')}{seed}".split())
    return [(f"{_word(row):24}{row['check']}  [{test}]", style), (f"{'':24}{says}", ())]


def _word(row: dict[str, str]) -> str:
    """Return a verdict as it is shown, with the caveats of a certificate; one that another plugin told, as it is."""
    verdict = row["verdict"]
    return row.get("word") or (verdict_label(verdict) if verdict in _ORDER else verdict.upper())


def _rank(verdict: str) -> int:
    """Return how bad a verdict is, 0 for the worst."""
    return _ORDER.index(verdict) if verdict in _ORDER else 0


def _kept(settings: Settings) -> str:
    """Return what the significance is a probability of."""
    level = f"with probability at most {settings.significance:g}"
    if settings.evidence:
        shared = f"for every run that shares {settings.evidence}"
        return f"Profile {settings.profile}. Correct code is flagged {level}, {shared}."
    return (
        f"Profile {settings.profile}. Each test flags correct code {level}, "
        "with fixed seeds: the same code gives the same result."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Accusation:
    """One check that failed, and the smallest significance at which its evidence fails it."""

    name: str
    probability: float


def standing(accusations: Sequence[Accusation], checks: int, significance: float) -> tuple[Accusation, ...]:
    """Return the accusations that stand at `significance` for `checks` checks together, by Holm's rule.

    Guarantee: if every check that is correct fails at its own level with at most that probability, then some correct
    check is returned with probability at most `significance`, however the checks depend on each other.
    Source: Holm (1979).

    >>> [one.name for one in standing([Accusation(name="a", probability=1e-6)], checks=100, significance=0.001)]
    ['a']
    """
    stands: list[Accusation] = []
    for smaller, accusation in enumerate(sorted(accusations, key=lambda flagged: flagged.probability)):
        if accusation.probability > significance / max(1, checks - smaller):
            break
        stands.append(accusation)
    return tuple(stands)


def suite_line(accusations: Sequence[Accusation], checks: int, significance: float) -> str:
    """Return what the suite as a whole says, in one sentence."""
    stands = standing(accusations, checks, significance)
    if not accusations:
        return f"Nothing is flagged in a suite of {checks} checks."
    names = f" ({', '.join(flagged.name for flagged in stands)})" if stands else ""
    return (
        f"Findings: {len(accusations)}. Significant for the whole suite of {checks} checks, at {significance:g} for "
        f"all of them together: {len(stands)}{names}."
    )
