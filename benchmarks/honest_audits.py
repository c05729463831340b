"""Alarms of whole audits on honest code: `python -m benchmarks.honest_audits [audits]`.

Twenty-nine kinds of output whose pair has exactly the claimed epsilon of 1, so that every alarm is false and no slack
hides one. Black-box audits of 1,000 runs, in which all is learned anew. One line a kind: alarms at .05 and .01, and
the chance of so many or more if the alarms had that rate. Ends with 1 if a chance is below .001.
"""

import datetime
import decimal
import enum
import fractions
import json
import sys
from collections import namedtuple

import numpy as np
from scipy.stats import binom

from audits import Settings, audit
from benchmarks.audit_verdicts import laws
from benchmarks.other_significance import epsilon_at
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
RUNS, LEVELS, SURE = 1_000, (0.05, 0.01), 1e-3
Point = namedtuple("Point", "value place")


class Side(enum.Enum):
    LEFT = 0
    RIGHT = 1


def row_by_row(changed):
    def run(x, r, n):
        return [changed(value, place) for value, place in zip(x + r.laplace(size=n), r.random(n), strict=True)]

    return run, (0.0, 1.0)


def coin(changed):
    def run(x, r, n):
        kept = r.random(n) < np.e / (1 + np.e)
        return [changed(bool(value)) for value in np.where(kept, x, 1 - x)]

    return run, (0, 1)


def failing(value):
    if value:
        return 1.0
    raise ValueError("no answer")


def raised(x, r):
    return failing(x ^ (r.random() > np.e / (1 + np.e)))


KINDS = {name: (function, pair) for name, (function, pair, _) in laws(1.0).items()} | {
    "records in mappings": row_by_row(lambda value, place: {"value": value, "place": place}),
    "JSON texts": row_by_row(lambda value, place: json.dumps({"value": round(value, 4), "place": bool(place > 0.5)})),
    "named tuples": row_by_row(Point),
    "decimals": row_by_row(lambda value, _: decimal.Decimal(f"{value:.5f}")),
    "fractions and times": row_by_row(
        lambda value, place: [fractions.Fraction(int(64 * value), 64), datetime.timedelta(hours=place)]
    ),
    "members of an enumeration": coin(Side),
    "lists whose length tells": coin(lambda told: [1.0] * (1 + told)),
    "exceptions": (raised, (0, 1)),
}


def main(audits=400):
    failed = 0
    print(f"| kind of output | audits | {' | '.join(f'alarms at {level} | chance' for level in LEVELS)} |")
    print("|---" * (2 + 2 * len(LEVELS)) + "|")
    totals = np.zeros(len(LEVELS), int)
    for name, (function, pair) in KINDS.items():
        alarms = np.zeros(len(LEVELS), int)
        for seed in range(audits):
            result = audit(
                function,
                neighbours=pair,
                claim=CLAIM,
                runs=RUNS,
                rng=np.random.default_rng([seed, 29]),
                significance=LEVELS[0],
                how=Settings(control_runs=0),
            )
            bounds = [result.epsilon_lower, *(epsilon_at(result, level) for level in LEVELS[1:])]
            alarms += np.array(bounds) > CLAIM.epsilon * (1 + 1e-9)
        chances = binom.sf(alarms - 1, audits, LEVELS)
        failed += int((chances < SURE).sum())
        totals += alarms
        cells = " | ".join(f"{count} | {chance:.3g}" for count, chance in zip(alarms, chances, strict=True))
        print(f"| {name} | {audits} | {cells} |", flush=True)
    number = audits * len(KINDS)
    print(f"{len(KINDS)} kinds, {number} audits; alarms:", ", ".join(f"{t / number:.4f}" for t in totals), "of them")
    print(f"{failed} cells with surely too many alarms")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
