"""False-certification table of every bound: `python -m benchmarks.audit_coverage [replications]`, 10000 for all."""

import sys

import numpy as np

from audits.bounds.credible import credible_bound
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.bounds.joint import joint_bound, joint_gaussian_bound
from audits.coverage import bound_by_counts, bound_by_wealth, measure, scenarios

JUDGES = {
    "guessing": (bound_by_counts(guessing_bound), "exact"),
    "clopper_pearson": (bound_by_counts(error_rate_bound), "exact"),
    "joint": (bound_by_counts(joint_bound), "exact"),
    "e_process": (bound_by_wealth, "exact"),
    "gaussian": (bound_by_counts(gaussian_bound), "gaussian"),
    "gaussian_rates": (bound_by_counts(gaussian_rate_bound), "gaussian"),
    "joint_gaussian": (bound_by_counts(joint_gaussian_bound), "gaussian"),
    "credible": (bound_by_counts(credible_bound), "reported"),
}
SLOW = {"joint": 20, "joint_gaussian": 20, "credible": 5}


def main(replications: int = 1000) -> int:
    failed = 0
    print(f"{'bound':16} {'scenario':34} {'runs':>5} {'alpha':>5} {'false':>7} {'limit':>7} {'reach':>7}  verdict")
    for name, (judge, kind) in JUDGES.items():
        for place, scenario in enumerate(scenarios()):
            for runs in (20, 200, 2000):
                for significance in (0.01, 0.05):
                    rng = np.random.default_rng([place, runs, int(1000 * significance)])
                    number = max(50, replications // SLOW.get(name, 1))
                    found = measure(judge, scenario, runs, number, significance, rng)
                    covered = kind == "exact" or (kind == "gaussian" and scenario.gaussian)
                    wrong = covered and _surely_above(found.false, number, significance)
                    failed += wrong
                    verdict = "FAIL" if wrong else "ok" if covered else "reported"
                    print(
                        f"{name:16} {scenario.name:34} {runs:5d} {significance:5.2f} {found.false / number:7.4f} "
                        f"{found.limit:7.4f} {found.reach:7.3f}  {verdict}",
                        flush=True,
                    )
    return failed


def _surely_above(false: int, number: int, significance: float) -> bool:
    from scipy.stats import binom

    return bool(binom.sf(false - 1, number, significance) < 1e-3)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000) > 0)
