"""Problems to run algorithms on: bundled data sets and synthetic families, each a factory by name."""

from importlib import import_module
from typing import Any

NAMES: dict[str, str] = {
    "rand_hie": "insurance plans for groups of patients, from the RAND Health Insurance Experiment",
    "grid": "contexts and actions on a grid, rewards from a random kernel expansion",
    "zipf": "the grid problem with a few frequent contexts and many rare ones",
    "modechoice": "travel by air, train, bus or car: 210 travellers' choices as duels",
    "bradley_terry": "duels between options of given utilities, or of a family of instances",
    "preference_matrix": "duels with a given table of preferences",
    "sphere": "duels between options at random places of a sphere, for linear utilities",
    "preflib": "duels between the options of a PrefLib file of strict orders (.soc)",
    "comparison_log": "duels fitted to a log of pairwise votes (model_a, model_b, winner, judge)",
    "audit_domain": "six cells on two directions, where a kernel bandit's worst case is attained exactly",
}
"""Every problem by name, with one line on what it is."""

_HOMES = {
    "rand_hie": "algorithms.problems.health_insurance",
    "grid": "algorithms.problems.synthetic",
    "zipf": "algorithms.problems.synthetic",
    "modechoice": "algorithms.problems.travel_modes",
    "bradley_terry": "algorithms.problems.preferences",
    "preference_matrix": "algorithms.problems.preferences",
    "sphere": "algorithms.problems.preferences",
    "preflib": "algorithms.problems.preflib",
    "comparison_log": "algorithms.problems.comparison_log",
    "audit_domain": "algorithms.problems.worst_case",
}


def load(name: str) -> Any:
    """Return the factory of the problem called `name`, importing only its module.

    Raises: KeyError: no such problem.
    """
    return getattr(import_module(_HOMES[name]), name)
