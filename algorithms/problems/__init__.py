"""Problems to run algorithms on: bundled data sets and synthetic families, each a factory by name."""

from importlib import import_module
from typing import Any

NAMES: dict[str, str] = {
    "rand_hie": "insurance plans for groups of patients, from the RAND Health Insurance Experiment",
    "anes96": "votes of groups by party and age, from the American National Election Study of 1996",
    "grid": "contexts and actions on a grid, rewards from a random kernel expansion",
    "zipf": "the grid problem with a few frequent contexts and many rare ones",
    "affairs": "whether a respondent of a survey reported an affair, to be classified",
    "modechoice": "travel by air, train, bus or car: 210 travellers' choices as duels",
    "bradley_terry": "duels between options of given utilities, or of a family of instances",
    "preference_matrix": "duels with a given table of preferences",
    "sphere": "duels between options at random places of a sphere, for linear utilities",
    "circle": "duels between the points of a net of the unit circle, regret against the best point of all",
    "preflib": "duels between the options of a PrefLib file of strict orders (.soc)",
    "comparison_log": "duels fitted to a log of pairwise votes (model_a, model_b, winner, judge)",
    "audit_domain": "six cells on two directions, where a kernel bandit's worst case is attained exactly",
    "linear_rand_hie": "the insurance plans with linear features of patient and plan",
    "hard_family": "linear: two contexts and two actions whose gap fades with the horizon",
    "ill_conditioned": "linear: two features that all but coincide",
    "rare_direction": "linear: a direction that is hardly ever met",
    "random_atoms": "linear: features in random directions, well conditioned",
    "random_mixture": "a linear mixture of drawn transition kernels",
    "river_swim": "RiverSwim as a linear mixture of three kernels",
    "tabular_mixture": "a drawn tabular process as a linear mixture",
    "low_rank": "a drawn low-rank linear process",
    "delayed_low_rank": "a drawn low-rank linear process where play for the immediate reward fails",
    "river_swim_table": "RiverSwim as a linear process with one feature a state and action",
    "tabular_mdp": "a drawn tabular process as a linear process",
    "chain": "a chain that slips back, where play for the immediate reward returns to the start",
    "grid_world": "a walk on a small square to the far corner",
    "hardest_duels": "duels: the instances of the lower bound, one a seed",
    "hardest_bandit": "one context: the instances of the lower bound, one a seed",
    "hardest_linear": "linear: the instances of the lower bound, one a seed",
    "hardest_process": "a linear process: the instances of the lower bound, one a seed",
    "hardest_mixture": "a linear mixture: the instances of the lower bound, one a seed",
}
"""Every problem by name, with one line on what it is."""

_HOMES = {
    "rand_hie": "algorithms.problems.health_insurance",
    "anes96": "algorithms.problems.votes",
    "grid": "algorithms.problems.synthetic",
    "zipf": "algorithms.problems.synthetic",
    "affairs": "algorithms.problems.affairs",
    "modechoice": "algorithms.problems.travel_modes",
    "bradley_terry": "algorithms.problems.preferences",
    "preference_matrix": "algorithms.problems.preferences",
    "sphere": "algorithms.problems.preferences",
    "circle": "algorithms.problems.preferences",
    "preflib": "algorithms.problems.preflib",
    "comparison_log": "algorithms.problems.comparison_log",
    "audit_domain": "algorithms.problems.worst_case",
    "linear_rand_hie": "algorithms.problems.linear_families",
    "hard_family": "algorithms.problems.linear_families",
    "ill_conditioned": "algorithms.problems.linear_families",
    "rare_direction": "algorithms.problems.linear_families",
    "random_atoms": "algorithms.problems.linear_families",
    "random_mixture": "algorithms.problems.linear_mixture",
    "river_swim": "algorithms.problems.linear_mixture",
    "tabular_mixture": "algorithms.problems.linear_mixture",
    "low_rank": "algorithms.problems.linear_mdp",
    "delayed_low_rank": "algorithms.problems.linear_mdp",
    "river_swim_table": "algorithms.problems.linear_mdp",
    "tabular_mdp": "algorithms.problems.linear_mdp",
    "chain": "algorithms.problems.walks",
    "grid_world": "algorithms.problems.walks",
    "hardest_duels": "algorithms.problems.hardest",
    "hardest_bandit": "algorithms.problems.hardest",
    "hardest_linear": "algorithms.problems.hardest",
    "hardest_process": "algorithms.problems.hardest",
    "hardest_mixture": "algorithms.problems.hardest",
}


def origin(name: str, *, has_path: bool = False) -> Any:
    """Return where the problem called `name` comes from, an `origins.Origin`; None of a plug-in's problem."""
    return import_module("algorithms.problems.origins").origin_of(name, has_path=has_path)


def load(name: str) -> Any:
    """Return the factory of the problem called `name`, importing only its module.

    Raises: KeyError: no such problem.
    """
    return getattr(import_module(_HOMES[name]), name)
