"""DP-EBS as one algorithm: its settings, declaration, run, audits and notes."""

from typing import ClassVar

from algorithms.dp_ebs.cases import cases_of
from algorithms.dp_ebs.constants import constants_of, upper_bound_of
from algorithms.dp_ebs.declaration import declaration_of, printed_declaration_of
from algorithms.dp_ebs.noise.calibrated import tree_of
from algorithms.dp_ebs.notes import notes_of
from algorithms.dp_ebs.plan import plan_of
from algorithms.dp_ebs.replays import replays_of
from algorithms.dp_ebs.run import run, run_blind, run_without_noise
from algorithms.dp_ebs.settings import DpEbsSettings
from dpaudit.arguments import settled


@settled
class DpEbs(DpEbsSettings):
    """A dueling bandit that removes options by noisy running counts of their wins.

    Every round one person is shown two options and says which one wins; the option on the left has played
    least so far, the one on the right is drawn from those left.

    Parameters and errors: see `settings.DpEbsSettings`.
    Guarantee: one answer replaced by its opposite changes the outputs of all counters, and so every duel and
    the final choice, by at most the loss of the declaration. Proof: fix a sequence of duels; the answer then enters
    known positions of one counter (R1, R2) or two (R3), and shifts known nodes by 1. The bound holds for every output,
    so it holds for duels picked by outputs. R0 and R4 have no such guarantee, and are refuted.
    Source: Saha and Asi (2024), Algorithm 1 and Lemma 2.

    >>> config = DpEbs(epsilon=1, horizon=100_000, arms=5)
    >>> config.tree().levels, config.tree().squared_nodes
    (17, 33)
    """

    name: ClassVar[str] = "dp_ebs"

    plan = plan_of
    tree = tree_of
    declaration = declaration_of
    printed_declaration = printed_declaration_of
    run = run
    run_without_noise = run_without_noise
    run_blind = run_blind
    cases = cases_of
    notes = notes_of
    constants = constants_of
    regret_upper_bound = upper_bound_of
    replays = replays_of
