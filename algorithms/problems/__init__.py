"""Problems to run algorithms on: bundled data sets and synthetic families, each a factory by name."""

from importlib import import_module
from typing import Any

_FACTORIES: dict[str, dict[str, str]] = {
    "health_insurance": {
        "rand_hie": "insurance plans for groups of patients, from the RAND Health Insurance Experiment",
    },
    "votes": {
        "anes96": "votes of groups by party and age, from the American National Election Study of 1996",
    },
    "synthetic": {
        "grid": "contexts and actions on a grid, rewards from a random kernel expansion",
        "zipf": "the grid problem with a few frequent contexts and many rare ones",
    },
    "affairs": {
        "affairs": "whether a respondent of a survey reported an affair, to be classified",
    },
    "travel_modes": {
        "modechoice": "travel by air, train, bus or car: 210 travellers' choices as duels",
    },
    "preferences": {
        "bradley_terry": "duels between options of given utilities, or of a family of instances",
        "preference_matrix": "duels with a given table of preferences",
        "sphere": "duels between options at random places of a sphere, for linear utilities",
        "circle": "duels between the points of a net of the unit circle, regret against the best point of all",
    },
    "preflib": {
        "preflib": "duels between the options of a PrefLib file of strict orders (.soc)",
    },
    "comparison_log": {
        "comparison_log": "duels fitted to a log of pairwise votes (model_a, model_b, winner, judge)",
    },
    "worst_case": {
        "audit_domain": "six cells on two directions, where a kernel bandit's worst case is attained exactly",
    },
    "linear_families": {
        "linear_rand_hie": "the insurance plans with linear features of patient and plan",
        "hard_family": "linear: two contexts and two actions whose gap fades with the horizon",
        "ill_conditioned": "linear: two features that all but coincide",
        "rare_direction": "linear: a direction that is hardly ever met",
        "random_atoms": "linear: features in random directions, well conditioned",
    },
    "linear_mixture": {
        "random_mixture": "a linear mixture of drawn transition kernels",
        "river_swim": "RiverSwim as a linear mixture of three kernels",
        "tabular_mixture": "a drawn tabular process as a linear mixture",
    },
    "linear_mdp": {
        "low_rank": "a drawn low-rank linear process",
        "delayed_low_rank": "a drawn low-rank linear process where play for the immediate reward fails",
        "river_swim_table": "RiverSwim as a linear process with one feature a state and action",
        "tabular_mdp": "a drawn tabular process as a linear process",
    },
    "walks": {
        "chain": "a chain that slips back, where play for the immediate reward returns to the start",
        "grid_world": "a walk on a small square to the far corner",
    },
    "hardest": {
        "hardest_duels": "duels: the instances of the lower bound, one a seed",
        "hardest_bandit": "one context: the instances of the lower bound, one a seed",
        "hardest_linear": "linear: the instances of the lower bound, one a seed",
        "hardest_process": "a linear process: the instances of the lower bound, one a seed",
        "hardest_mixture": "a linear mixture: the instances of the lower bound, one a seed",
    },
}
"""The factories of each module, with one line on what each problem is."""

NAMES: dict[str, str] = {name: line for lines in _FACTORIES.values() for name, line in lines.items()}
"""Every problem by name, with one line on what it is."""


def origin(name: str, *, has_path: bool = False) -> Any:
    """Return where the problem called `name` comes from, an `origins.Origin`; None of a plug-in's problem."""
    return import_module("algorithms.problems.origins").origin_of(name, has_path=has_path)


def load(name: str) -> Any:
    """Return the factory of the problem called `name`, importing only its module.

    Raises: KeyError: no such problem.
    """
    if name not in NAMES:
        raise KeyError(name)
    module = next(module for module, lines in _FACTORIES.items() if name in lines)
    return getattr(import_module(f"algorithms.problems.{module}"), name)
