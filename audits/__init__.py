"""Attacks and statistics: lower bounds on what an implementation delivers.

Every public name is imported on first use, so that `import audits` costs little.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit.runtime.exports import lazy_exports

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

NAMES: dict[str, str] = {
    "guessing": "bound: right guesses of a fair coin, with abstention; exact for every mechanism",
    "e_process": "bound: an e-process against the claim; exact at any time, for audits that stop early",
    "clopper_pearson": "bound: both error rates of one threshold, joined by a union",
    "joint": "bound: both error rates of one threshold, tested together; that smaller epsilons fall too is not proved",
    "gaussian": "bound: accuracy of one threshold; exact for Gaussian claims, an assumption otherwise",
    "gaussian_rates": "bound: both error rates read as a Gaussian trade-off; assumption as for 'gaussian'",
    "joint_gaussian": "bound: both error rates tested together as a Gaussian trade-off; assumption as for 'gaussian'",
    "pairs": "bound on mu: in how many pairs the score with the record is larger; exact, nothing is chosen",
    "any_time_mu": "bound on mu that holds whenever runs stop: bets on cells of the score",
    "one_event": "bound on rho from the counts of one event; exact",
    "cells": "bound on a Renyi divergence from several cells of the score; exact",
    "one_run": "bound: right guesses of one run whose canaries are in by independent fair coins, added or removed",
    "one_run_gaussian": "bound: right guesses among the canaries of a single run, against a Gaussian trade-off",
    "one_run_orthogonal": "bound: right guesses among the canaries of one run that leak independently: an assumption",
    "rank": "bound: members above a score of the others whose rank was fixed beforehand; exact",
    "rank_gaussian": "bound: as 'rank', read as a Gaussian trade-off; assumption as for 'gaussian'",
    "one_run_trade_off": "bound: right guesses among the canaries of a single run, against any trade-off",
    "one_run_order": "bound: bets on the coins of a single run in the order of the scores; may stop at any canary",
    "witness": "bound: bets on a witness of the hockey-stick divergence, for leaks that raise delta",
    "credible": "bound: a Bayesian interval; credible, not a guarantee",
    "likelihood_ratio": "attack: the declared releases' own densities, leaf by leaf; the sharpest white-box score",
    "learned_classifier": "attack: additive log odds over binned outputs, for outputs of any kind",
    "learned_zones": "attack: averaged thresholds on one column, for few runs",
    "bit_features": "attack: mantissa and exponent bits, for leaks of floating-point noise",
    "model_losses": "attack: LiRA, RMIA and the loss on one model that any function trained, with shadow models",
    "record_losses": "attack: the loss of one record over many models, each trained with it by a fair coin",
    "training_run": "check: one training run: conformance, one step, the whole run with canaries",
    "watch_noise": "check: the law of a mechanism's outputs against its density, sequentially",
    "watch_sampling": "check: how a sampler draws batches or orders, against its declaration",
    "replay": "check: neighbours on one tape of noise; sensitivity, structure and undeclared reads of the data",
}
"""Every bound, attack and check by name, with one line on what it does."""

if TYPE_CHECKING:
    from audits.checks.noise_law import watch_noise as watch_noise
    from audits.checks.program_replay import replay_program as replay_program
    from audits.checks.sampler import watch_sampling as watch_sampling
    from audits.decision.power import ceiling as ceiling
    from audits.decision.power import runs_needed as runs_needed
    from audits.experiment.function_case import function_case as function_case
    from audits.experiment.settings import Settings as Settings
    from audits.procedures.anytime import continue_audit as continue_audit
    from audits.procedures.anytime import when_refuted as when_refuted
    from audits.procedures.audit import audit as audit
    from audits.procedures.whole_curve import audit_curve as audit_curve
    from audits.procedures.witness import refute as refute
    from audits.scores.scores_audit import audit_scores as audit_scores
    from audits.synthetic.synthesizer_audit import audit_synthesizer as audit_synthesizer
    from audits.synthetic.view import Synthetic as Synthetic
    from audits.training.model_audit import Models as Models
    from audits.training.model_audit import audit_model as audit_model
    from audits.training.record_audit import audit_record as audit_record
    from audits.training.training_audit import audit_training as audit_training
    from audits.training.watching_jax import watch_privatizer as watch_privatizer
    from audits.training.watching_opacus import watch_opacus as watch_opacus
    from audits.training.watching_trainer import watch_trainer as watch_trainer
else:
    __getattr__, __dir__ = lazy_exports(__name__)

_ENTRIES = {
    "guessing": "audits.bounds.guessing:guessing_bound",
    "e_process": "audits.bounds.e_process:e_process_bound",
    "clopper_pearson": "audits.bounds.error_rates:error_rate_bound",
    "joint": "audits.bounds.joint:joint_bound",
    "gaussian": "audits.bounds.gaussian:gaussian_bound",
    "gaussian_rates": "audits.bounds.gaussian:gaussian_rate_bound",
    "joint_gaussian": "audits.bounds.joint:joint_gaussian_bound",
    "pairs": "audits.bounds.pairs:pair_mu",
    "any_time_mu": "audits.bounds.mu_process:MuProcess",
    "one_event": "audits.bounds.one_event:event_rho",
    "cells": "audits.bounds.renyi_cells:cells_renyi",
    "one_run": "audits.bounds.one_run:one_run_bound",
    "one_run_gaussian": "audits.bounds.one_run_trade_off:one_run_gaussian_bound",
    "one_run_orthogonal": "audits.bounds.one_run:one_run_orthogonal_bound",
    "rank": "audits.bounds.rank:rank_bound",
    "rank_gaussian": "audits.bounds.rank:rank_gaussian_bound",
    "one_run_trade_off": "audits.bounds.one_run_trade_off:one_run_trade_off_bound",
    "one_run_order": "audits.bounds.one_run_order:one_run_order_bound",
    "witness": "audits.bounds.hockey_stick:witness_bound",
    "credible": "audits.bounds.credible:credible_bound",
    "likelihood_ratio": "audits.attacks.likelihood:LikelihoodRatio",
    "learned_classifier": "audits.attacks.classifier:learn_score",
    "learned_zones": "audits.attacks.thresholds:learn_thresholds",
    "bit_features": "audits.outputs.bits:bit_features",
    "model_losses": "audits.training.model_audit:audit_model",
    "record_losses": "audits.training.record_audit:audit_record",
    "training_run": "audits.training.training_audit:audit_training",
    "watch_noise": "audits.checks.noise_law:watch_noise",
    "watch_sampling": "audits.checks.sampler:watch_sampling",
    "replay": "audits.checks.paired_replay:replay_neighbours",
}


def load(name: str) -> Any:
    """Return the bound, attack or check called `name`, importing only its module.

    Raises: KeyError: no such name.
    """
    module, _, entry = _ENTRIES[name].partition(":")
    return getattr(import_module(module), entry)
