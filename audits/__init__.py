"""Attacks and statistics: lower bounds on the epsilon of an implementation.

Every public name is an attribute of this package; its module is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audits.attacks.bits import bit_features as bit_features
    from audits.attacks.classifier import learn_score as learn_score
    from audits.attacks.likelihood import LikelihoodRatio as LikelihoodRatio
    from audits.attacks.likelihood import declared_case as declared_case
    from audits.attacks.thresholds import learn_thresholds as learn_thresholds
    from audits.attacks.thresholds import learn_zones as learn_zones
    from audits.bounds.credible import credible_bound as credible_bound
    from audits.bounds.e_process import EProcess as EProcess
    from audits.bounds.e_process import e_process_bound as e_process_bound
    from audits.bounds.error_rates import error_rate_bound as error_rate_bound
    from audits.bounds.error_rates import error_rate_delta as error_rate_delta
    from audits.bounds.gaussian import gaussian_bound as gaussian_bound
    from audits.bounds.gaussian import gaussian_rate_bound as gaussian_rate_bound
    from audits.bounds.guessing import guessing_bound as guessing_bound
    from audits.bounds.hockey_stick import witness_bound as witness_bound
    from audits.bounds.hockey_stick import witness_delta as witness_delta
    from audits.bounds.joint import accountant_curve as accountant_curve
    from audits.bounds.joint import joint_bound as joint_bound
    from audits.bounds.joint import joint_gaussian_bound as joint_gaussian_bound
    from audits.bounds.joint import joint_p_value as joint_p_value
    from audits.bounds.one_run import one_run_bound as one_run_bound
    from audits.bounds.one_run import one_run_gaussian_bound as one_run_gaussian_bound
    from audits.bounds.one_run import one_run_guesses as one_run_guesses
    from audits.bounds.one_run import one_run_orthogonal_bound as one_run_orthogonal_bound
    from audits.checks.noise_law import Conformance as Conformance
    from audits.checks.noise_law import watch_noise as watch_noise
    from audits.checks.paired_replay import replay_neighbours as replay_neighbours
    from audits.checks.tape import Tape as Tape
    from audits.decision.power import blind_delta as blind_delta
    from audits.decision.power import ceiling as ceiling
    from audits.decision.power import runs_needed as runs_needed
    from audits.experiment.chunk_store import ChunkStore as ChunkStore
    from audits.experiment.execution import Execution as Execution
    from audits.experiment.neighbours import awkward_pairs as awkward_pairs
    from audits.procedures.anytime import audit_anytime as audit_anytime
    from audits.procedures.anytime import audit_sequentially as audit_sequentially
    from audits.procedures.anytime import continue_audit as continue_audit
    from audits.procedures.fixed_size import audit as audit
    from audits.procedures.fixed_size import audit_case as audit_case
    from audits.procedures.neighbour_search import search_neighbours as search_neighbours
    from audits.procedures.prior_evidence import Carried as Carried
    from audits.procedures.prior_evidence import PriorEvidence as PriorEvidence
    from audits.procedures.witness import Refutation as Refutation
    from audits.procedures.witness import recheck as recheck
    from audits.procedures.witness import refute as refute
    from audits.training.training_audit import TrainingAudit as TrainingAudit
    from audits.training.training_audit import audit_training as audit_training
    from audits.training.training_audit import judge as judge

NAMES: dict[str, str] = {
    "guessing": "bound: right guesses of a fair coin, with abstention; exact for every mechanism",
    "e_process": "bound: an e-process against the claim; exact at any time, for audits that stop early",
    "clopper_pearson": "bound: both error rates of one threshold, joined by a union",
    "joint": "bound: both error rates of one threshold, tested together; exact",
    "gaussian": "bound: accuracy of one threshold; exact for Gaussian claims, an assumption otherwise",
    "gaussian_rates": "bound: both error rates read as a Gaussian trade-off; assumption as for 'gaussian'",
    "joint_gaussian": "bound: both error rates tested together as a Gaussian trade-off; assumption as for 'gaussian'",
    "one_run": "bound: right guesses among the canaries of a single run",
    "one_run_gaussian": "bound: right guesses among the canaries of a single run, against a Gaussian trade-off",
    "one_run_orthogonal": "bound: right guesses among the canaries of one run that leak independently: an assumption",
    "witness": "bound: bets on a witness of the hockey-stick divergence, for leaks that raise delta",
    "credible": "bound: a Bayesian interval; credible, not a guarantee",
    "likelihood_ratio": "attack: the declared releases' own densities, leaf by leaf; the sharpest white-box score",
    "learned_classifier": "attack: additive log odds over binned outputs, for outputs of any kind",
    "learned_zones": "attack: averaged thresholds on one column, for few runs",
    "bit_features": "attack: mantissa and exponent bits, for leaks of floating-point noise",
    "training_run": "check: one training run: conformance, one step, the whole run with canaries",
    "watch_noise": "check: the law of a mechanism's outputs against its density, sequentially",
    "replay": "check: neighbours on one tape of noise; sensitivity, structure and undeclared reads of the data",
}
"""Every bound, attack and check by name, with one line on what it does."""

_HOMES: dict[str, tuple[str, ...]] = {
    "attacks.bits": ("bit_features",),
    "attacks.classifier": ("learn_score",),
    "attacks.likelihood": (
        "LikelihoodRatio",
        "declared_case",
    ),
    "attacks.thresholds": (
        "learn_thresholds",
        "learn_zones",
    ),
    "procedures.fixed_size": (
        "audit",
        "audit_case",
    ),
    "bounds.credible": ("credible_bound",),
    "bounds.e_process": (
        "EProcess",
        "e_process_bound",
    ),
    "bounds.error_rates": (
        "error_rate_bound",
        "error_rate_delta",
    ),
    "bounds.gaussian": (
        "gaussian_bound",
        "gaussian_rate_bound",
    ),
    "bounds.guessing": ("guessing_bound",),
    "bounds.hockey_stick": (
        "witness_bound",
        "witness_delta",
    ),
    "bounds.joint": (
        "accountant_curve",
        "joint_bound",
        "joint_gaussian_bound",
        "joint_p_value",
    ),
    "bounds.one_run": (
        "one_run_bound",
        "one_run_gaussian_bound",
        "one_run_guesses",
        "one_run_orthogonal_bound",
    ),
    "procedures.prior_evidence": (
        "Carried",
        "PriorEvidence",
    ),
    "checks.noise_law": (
        "Conformance",
        "watch_noise",
    ),
    "training.training_audit": (
        "TrainingAudit",
        "audit_training",
        "judge",
    ),
    "experiment.neighbours": ("awkward_pairs",),
    "decision.power": (
        "blind_delta",
        "ceiling",
        "runs_needed",
    ),
    "procedures.witness": (
        "Refutation",
        "recheck",
        "refute",
    ),
    "checks.paired_replay": ("replay_neighbours",),
    "checks.tape": ("Tape",),
    "procedures.neighbour_search": ("search_neighbours",),
    "procedures.anytime": (
        "audit_anytime",
        "audit_sequentially",
        "continue_audit",
    ),
    "experiment.chunk_store": ("ChunkStore",),
    "experiment.execution": ("Execution",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ENTRIES = {
    "guessing": "guessing_bound",
    "e_process": "e_process_bound",
    "clopper_pearson": "error_rate_bound",
    "joint": "joint_bound",
    "gaussian": "gaussian_bound",
    "gaussian_rates": "gaussian_rate_bound",
    "joint_gaussian": "joint_gaussian_bound",
    "one_run": "one_run_bound",
    "one_run_gaussian": "one_run_gaussian_bound",
    "one_run_orthogonal": "one_run_orthogonal_bound",
    "witness": "witness_bound",
    "credible": "credible_bound",
    "likelihood_ratio": "LikelihoodRatio",
    "learned_classifier": "learn_score",
    "learned_zones": "learn_thresholds",
    "bit_features": "bit_features",
    "training_run": "audit_training",
    "watch_noise": "watch_noise",
    "replay": "replay_neighbours",
}


def load(name: str) -> Any:
    """Return the bound, attack or check called `name`, importing only its module.

    Raises: KeyError: no such name.
    """
    return __getattr__(_ENTRIES[name])


def __getattr__(name: str) -> Any:
    """Return a public object, importing its module on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'audits' has no attribute {name!r}")
    return getattr(import_module(f"audits.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_HOME_OF)
