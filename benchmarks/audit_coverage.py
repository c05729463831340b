"""False-certification table of every bound: `python -m benchmarks.audit_coverage [replications]`.

10000 for the whole matrix, about two hours on one core; a second number is for slow bounds on more than 20 runs. One
line a cell, then the worst cell of each bound.
"""

import sys
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from audits.bounds.credible import credible_bound
from audits.bounds.e_process import EProcess
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.bounds.joint import joint_p_value
from audits.bounds.trade_offs import GaussianTradeOff, PrivateTradeOff
from audits.decision.events import count_guesses
from benchmarks.coverage.harness import Measured, Scenario, bound_by_counts, measure_all
from benchmarks.coverage.one_run import JUDGES_OF_ONE_RUN, canary_scenarios, crowded
from benchmarks.coverage.scenarios import scenarios

SIGNIFICANCES = (0.01, 0.05)


def cached(bound):
    """The same counts have the same bound, and few counts are many replications."""
    return bound_by_counts(lru_cache(maxsize=200_000)(bound))


@lru_cache(maxsize=200_000)
def _p_value(counts, curve, parameter, delta, significance):
    trade_off = GaussianTradeOff(mu=parameter) if curve else PrivateTradeOff.of(parameter, delta)
    return joint_p_value(counts, trade_off, significance)


def joint(gaussian):
    """Whether the truth itself is refuted, which is what a bound above it means; a bisection would add nothing."""

    def judge(scenario, scores, labels, significance):
        counts = count_guesses(scenario.event, scores, labels)
        truth = _mu(scenario) if gaussian else scenario.epsilon
        refuted = _p_value(counts, gaussian, truth, scenario.delta, significance) < significance
        return scenario.epsilon + 1 if refuted else 0.0

    return judge


def _mu(scenario):
    return 1.0 if scenario.epsilon > 0 else 0.0


def wealth(scenario, scores, labels, significance):
    """The anytime-valid bound at its best moment; one process serves both significances."""
    if _last.get("scores") is not scores:
        _last.update(scores=scores, process=EProcess.fresh(scenario.delta).extended(scores, labels))
    return _last["process"].lower(significance)


_last: dict = {}
JUDGES = {
    "guessing": (cached(guessing_bound), "exact"),
    "clopper_pearson": (cached(error_rate_bound), "exact"),
    "joint": (joint(gaussian=False), "exact"),
    "e_process": (wealth, "exact"),
    "gaussian": (cached(gaussian_bound), "gaussian"),
    "gaussian_rates": (cached(gaussian_rate_bound), "gaussian"),
    "joint_gaussian": (joint(gaussian=True), "gaussian"),
    **JUDGES_OF_ONE_RUN,
    "credible": (cached(credible_bound), "reported"),
}


def main(replications: int = 1000, of_the_costly: int | None = None) -> int:
    found: list[Cell] = []
    print(f"{'scenario':34} {'bound':16} {'runs':>5} {'alpha':>5} {'of':>6} {'false':>7} {'limit':>7} {'reach':>7}")
    independent = [(scenario, JUDGES) for scenario in scenarios()]
    together = [(scenario, JUDGES_OF_ONE_RUN) for scenario in canary_scenarios()]
    for place, (scenario, judges) in enumerate((*independent, *together)):
        for runs in (20, 200, 2000):
            for number, names in _groups(scenario, judges, runs, replications, of_the_costly).items():
                judged = {name: judges[name][0] for name in names}
                rng = np.random.default_rng([place, runs])
                table = measure_all(judged, scenario, runs, number, SIGNIFICANCES, rng)
                cells = [
                    Cell(scenario, runs, name, judges[name][1], significance, measured)
                    for (name, significance), measured in table.items()
                ]
                found.extend(cells)
                print("\n".join(map(str, cells)), flush=True)
    summary(found)
    failed = sum(cell.wrong for cell in found)
    print(f"{failed} failed")
    return failed


class Cell(NamedTuple):
    """What one bound did in one scenario."""

    scenario: Scenario
    runs: int
    bound: str
    kind: str
    significance: float
    measured: Measured

    @property
    def rate(self) -> float:
        return self.measured.false / self.measured.replications

    @property
    def covered(self) -> bool:
        return _covered(self.kind, self.scenario)

    @property
    def wrong(self) -> bool:
        """Whether a promise was surely broken: so many false bounds would be rarer than one in a thousand."""
        sure = binom.sf(self.measured.false - 1, self.measured.replications, self.significance) < 1e-3
        return self.covered and bool(sure)

    @property
    def shown(self) -> bool:
        """Whether even the upper limit of the rate keeps the promise."""
        return self.measured.limit <= self.significance

    def __str__(self) -> str:
        tight = "" if self.shown or not self.covered else " (limit above alpha: on the boundary)"
        verdict = "FAIL" if self.wrong else f"ok{tight}" if self.covered else "reported"
        return (
            f"{self.scenario.name:34} {self.bound:16} {self.runs:5d} {self.significance:5.2f} "
            f"{self.measured.replications:6d} {self.rate:7.4f} {self.measured.limit:7.4f} "
            f"{self.measured.reach:7.3f}  {verdict}"
        )


def summary(found: list[Cell]) -> None:
    """Print each bound's worst cells, as a table for the page of measurements."""
    print("\n| bound | significance | cells | false at worst | where | surely too many | limit at most alpha |")
    print("|---|---|---|---|---|---|---|")
    promised = [cell for cell in found if cell.covered]
    for place in dict.fromkeys((cell.bound, cell.significance) for cell in promised):
        cells = [cell for cell in promised if (cell.bound, cell.significance) == place]
        worst = max(cells, key=lambda cell: cell.rate)
        print(
            f"| {place[0]} | {place[1]} | {len(cells)} | {worst.rate:.2%} | {worst.scenario.name}, {worst.runs} runs | "
            f"{sum(cell.wrong for cell in cells)} | {sum(cell.shown for cell in cells)} |"
        )


def _groups(scenario, judges, runs, replications, of_the_costly):
    """Names by the number of replications: fewer where nothing is promised, and for slow bounds on many runs."""
    groups: dict[int, list[str]] = {}
    for name, (_, kind) in judges.items():
        number = replications
        slow = name in COSTLY or (scenario.sample is crowded and runs > 200)
        if runs > 20 and slow and of_the_costly is not None:
            number = min(replications, of_the_costly)
        if not _covered(kind, scenario):
            number = max(50, number // 20)
        groups.setdefault(number, []).append(name)
    return groups


COSTLY = ("joint", "joint_gaussian", "e_process", "credible", "one_run")


def _covered(kind, scenario):
    """Whether a bound promises anything here; what is only credible, or assumes more, is reported from fewer."""
    return kind == "exact" or (kind == "gaussian" and scenario.gaussian)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
