"""CAPRI as one algorithm: its settings, declaration, run, audits and notes."""

from typing import ClassVar

from algorithms.capri.cases import cases_of
from algorithms.capri.checks import stated_conditions_of
from algorithms.capri.constants import constants_of, upper_bound_of
from algorithms.capri.declaration import declaration_of
from algorithms.capri.domain import information_gain_of
from algorithms.capri.notes import notes_of
from algorithms.capri.plan import plan_of
from algorithms.capri.replays import replays_of
from algorithms.capri.run import run, run_blind, run_without_noise
from algorithms.capri.settings import CapriSettings
from dpaudit.arguments import settled


@settled
class Capri(CapriSettings):
    """A kernel contextual bandit that eliminates actions in doubling epochs, private by one noisy sum an epoch.

    Parameters and errors: see `settings.CapriSettings`.
    Guarantee: with noise multiplier z, one record (a context and its reward) replaced by another changes the
    transcript at most as N(1/z, 1) differs from N(0, 1), at any number of epochs. Proof: fix the record's
    round in epoch r. All before r has the same law. Given it and the other users' actions, the release of r
    is normal with means at most 2 reward_bound scale apart (by joint convexity the user's own random action
    may be fixed). Given the transcript up to r, everything later reads records that the neighbours share.
    Source: Pavlovic, Salgia and Zhao (2025), Algorithm 1 and Theorem 4.1.

    >>> config = Capri(model="joint", epsilon=1, delta=1e-5, horizon=1000, calibration="paper")
    >>> round(config.plan().noise_multiplier, 6)
    51.077633
    """

    name: ClassVar[str] = "capri"

    plan = plan_of
    declaration = declaration_of
    conditions = stated_conditions_of
    run = run
    run_without_noise = run_without_noise
    run_blind = run_blind
    cases = cases_of
    notes = notes_of
    constants = constants_of
    regret_upper_bound = upper_bound_of
    information_gain = information_gain_of
    replays = replays_of
