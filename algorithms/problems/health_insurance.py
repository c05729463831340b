"""Insurance plans for groups of patients: a bandit simulated from the RAND Health Insurance Experiment.

The experiment (1974 to 1982) assigned families at random to plans that differ in coinsurance, the share of
the bill that the patient pays. The table distributed with statsmodels holds 20,190 person-years.

* A context is a group of patients: how many chronic diseases (three levels of `disea`, cut at 7 and 14), and
  whether the person has a physical limitation (`physlm` of at least one half) or rates their health as fair
  or poor. The cuts are fixed here and read no data: six groups.
* An action is a plan, by its coinsurance rate: 0, 25, 50, 95 or 100 %, from `lncoins` = ln(percent + 1).
* The reward weighs the use of care against the risk that a plan leaves with the patient. With v outpatient
  visits (`mdvis`), u = min(v, 20) / 20 and coinsurance c, the burden is u + 4 (c u)^2, and the reward is
  1 - 2 min(1, burden), in [-1, 1]. The first term is the care that insurance induces, the second, quadratic
  in what the patient pays, is a risk premium (Zeckhauser, 1970); so high coinsurance suits those who need
  little care and harms those who need much.

What a simulation from logged data can show: plans were assigned at random, so cell means estimate what a
plan would have led to, but a person was seen under one plan only. The bandit therefore runs against a
*simulated* patient, who draws +1 or -1 with the cell's mean reward; that mean is shrunk to its group's, as
if the group contributed `prior_rows` further rows. Nothing here says what the algorithm would have done to
the real patients. And the unit is one person-year: the same person appears in up to five years, so that the
guarantee for a person is that of a group of five records and weaker than the one for a record.
"""

from pathlib import Path

import numpy as np

from algorithms.problems.kernel_bandit import KernelBandit
from algorithms.problems.tables import bundled_table, read_columns
from dpaudit.checks import Positive, positive
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array

COLUMNS = ("mdvis", "lncoins", "physlm", "disea", "hlthf", "hlthp")
"""The columns of the table that are read."""

MOST_YEARS = 5
"""The most years for which the experiment observed one person; a file of the user's own may hold more."""

_COINSURANCE = np.array([0.0, 0.25, 0.5, 0.95, 1.0])
_DISEASE_CUTS = (7.0, 14.0)
_VISIT_CAP = 20.0
_RISK_WEIGHT = 4.0
_MOST_NAMED = 3
"""So many cells without rows are named, more are counted."""


def rand_hie(*, path: Path | None = None, prior_rows: Positive = 50.0) -> KernelBandit:
    """Return the plan-choice problem; `path` takes a CSV file with the same columns in place of the bundled one.

    Parameters: `prior_rows`, the number of rows of the overall mean that are added to each cell.

    Raises:
        ConfigError: a file that is unreadable, lacks a column, is truncated, holds something that is not a
            number, or names a coinsurance rate that the experiment did not have.
        ValueError: prior_rows not positive.

    >>> rand_hie().mean_reward.shape
    (6, 5)
    """
    source = path if path is not None else bundled_table("randhie", "randhie.csv")
    table = read_columns(source, COLUMNS)
    contexts, actions = _groups(table), _plans(source, table["lncoins"])
    mean = _cell_means(_rewards(table, actions), contexts, actions, positive("prior_rows", prior_rows))
    disease, frail = np.meshgrid([0.0, 0.5, 1.0], [0.0, 1.0], indexing="ij")
    return KernelBandit(
        name="rand_hie",
        description=f"Insurance plans for six groups of patients; {len(contexts)} person-years of {source.name}"
        f"{_empty_words(contexts, actions)}.",
        contexts=np.column_stack([disease.ravel(), frail.ravel()]),
        actions=_COINSURANCE[:, None],
        context_probabilities=np.bincount(contexts, minlength=6) / len(contexts),
        mean_reward=mean,
        units_per_person=MOST_YEARS if path is None else None,
    )


def _empty_words(contexts: Array, plans: Array) -> str:
    """Return which cells no row fell into; their means are those of their groups."""
    rows = np.zeros((6, len(_COINSURANCE)), dtype=np.int64)
    np.add.at(rows, (contexts, plans), 1)
    cells = [f"group {group + 1} at {_COINSURANCE[plan]:.0%}" for group, plan in np.argwhere(rows == 0)]
    if len(cells) > _MOST_NAMED:
        return f", none in {len(cells)} of {rows.size} cells"
    return f", none in {', '.join(cells)}" if cells else ""


def _groups(table: dict[str, Array]) -> Array:
    """Return each row's context, 2 * (level of disease) + (limited or in fair or poor health)."""
    level = np.digitize(table["disea"], _DISEASE_CUTS)
    frail = (table["physlm"] >= 0.5) | (table["hlthf"] + table["hlthp"] > 0)
    return 2 * level + frail


def _plans(source: Path, logs: Array) -> Array:
    """Return each row's action, the plan whose coinsurance rate `logs` states."""
    distance = np.abs(logs[:, None] - np.log1p(100 * _COINSURANCE))
    stray = np.flatnonzero(distance.min(axis=1) > 1e-3)
    if stray.size:
        raise ConfigError(
            f"{source}, data row {stray[0] + 1}, column 'lncoins': {logs[stray[0]]:g} is none of the experiment's "
            "plans; expected ln(percent + 1) for 0, 25, 50, 95 or 100 per cent."
        )
    return distance.argmin(axis=1)


def _rewards(table: dict[str, Array], plans: Array) -> Array:
    """Return each row's reward, in [-1, 1]."""
    use = np.clip(table["mdvis"], 0, _VISIT_CAP) / _VISIT_CAP
    burden = use + _RISK_WEIGHT * (_COINSURANCE[plans] * use) ** 2
    return 1 - 2 * np.minimum(1, burden)


def _cell_means(rewards: Array, contexts: Array, plans: Array, prior_rows: float) -> Array:
    """Return the mean reward of every cell, shrunk to its context's, or to the overall mean where that is empty."""
    overall = rewards.mean()
    rows, totals = np.zeros((6, len(_COINSURANCE))), np.zeros((6, len(_COINSURANCE)))
    np.add.at(rows, (contexts, plans), 1)
    np.add.at(totals, (contexts, plans), rewards)
    in_context = rows.sum(axis=1)
    context_mean = np.where(in_context > 0, totals.sum(axis=1) / np.maximum(in_context, 1), overall)
    return (totals + prior_rows * context_mean[:, None]) / (rows + prior_rows)
