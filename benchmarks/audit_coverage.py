"""False-certification table of every bound: `python -m benchmarks.audit_coverage [replications]`.

10000 for the whole matrix, about two hours on one core; a second number is for slow bounds on more than 20 runs.
"""

import sys
from functools import lru_cache

import numpy as np

from audits.bounds.credible import credible_bound
from audits.bounds.e_process import EProcess
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.bounds.hockey_stick import witness_bound
from audits.bounds.joint import gaussian_curve, joint_p_value, private_curve
from audits.coverage import bound_by_counts, measure_all, scenarios
from audits.events import count_guesses
from audits.single_run import JUDGES_OF_ONE_RUN, canary_scenarios, crowded

SIGNIFICANCES = (0.01, 0.05)


def cached(bound):
    """The same counts have the same bound, and few counts are many replications."""
    return bound_by_counts(lru_cache(maxsize=200_000)(bound))


@lru_cache(maxsize=200_000)
def _p_value(counts, curve, parameter, delta, significance):
    return joint_p_value(counts, gaussian_curve(parameter) if curve else private_curve(parameter, delta), significance)


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


def witness(scenario, scores, labels, significance):
    """The scenario's guesses as a witness, an abstention as one half."""
    guess = np.where(scores >= scenario.event.high, 1.0, np.where(scores <= scenario.event.low, 0.0, 0.5))
    return witness_bound(guess[~labels], guess[labels], scenario.delta, significance).epsilon


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
    "witness": (witness, "exact"),
    "gaussian": (cached(gaussian_bound), "gaussian"),
    "gaussian_rates": (cached(gaussian_rate_bound), "gaussian"),
    "joint_gaussian": (joint(gaussian=True), "gaussian"),
    **JUDGES_OF_ONE_RUN,
    "credible": (cached(credible_bound), "reported"),
}


def main(replications: int = 1000, of_the_costly: int | None = None) -> int:
    failed = 0
    print(f"{'scenario':34} {'bound':16} {'runs':>5} {'alpha':>5} {'of':>6} {'false':>7} {'limit':>7} {'reach':>7}")
    independent = [(scenario, JUDGES) for scenario in scenarios()]
    together = [(scenario, JUDGES_OF_ONE_RUN) for scenario in canary_scenarios()]
    for place, (scenario, judges) in enumerate((*independent, *together)):
        for runs in (20, 200, 2000):
            for number, names in _groups(scenario, judges, runs, replications, of_the_costly).items():
                judged = {name: judges[name][0] for name in names}
                rng = np.random.default_rng([place, runs])
                table = measure_all(judged, scenario, runs, number, SIGNIFICANCES, rng)
                failed += sum(_printed(scenario, runs, judges, *row) for row in table.items())
    print(f"{failed} failed")
    return failed


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


COSTLY = ("joint", "joint_gaussian", "e_process", "witness", "credible", "one_run")


def _covered(kind, scenario):
    """Whether a bound promises anything here; what is only credible, or assumes more, is reported from fewer."""
    return kind == "exact" or (kind == "gaussian" and scenario.gaussian)


def _printed(scenario, runs, judges, place, found):
    name, significance = place
    covered = _covered(judges[name][1], scenario)
    wrong = covered and _surely_above(found.false, found.replications, significance)
    tight = "" if found.limit <= significance or not covered else " (limit above alpha: on the boundary)"
    verdict = "FAIL" if wrong else f"ok{tight}" if covered else "reported"
    print(
        f"{scenario.name:34} {name:16} {runs:5d} {significance:5.2f} {found.replications:6d} "
        f"{found.false / found.replications:7.4f} "
        f"{found.limit:7.4f} {found.reach:7.3f}  {verdict}",
        flush=True,
    )
    return wrong


def _surely_above(false: int, number: int, significance: float) -> bool:
    from scipy.stats import binom

    return bool(binom.sf(false - 1, number, significance) < 1e-3)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
