"""Attacks and statistics: lower bounds on what an implementation delivers.

Every public name is imported on first use, so that `import audits` costs little.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit import lazy_exports

__all__ = [
    "NAMES",
    "Band",
    "Carried",
    "ChunkStore",
    "Conformance",
    "CurveAudit",
    "CurveProcess",
    "EProcess",
    "Execution",
    "GaussianTradeOff",
    "Guesses",
    "LikelihoodRatio",
    "ModelAudit",
    "PriorEvidence",
    "PrivateTradeOff",
    "ProgramLines",
    "Rank",
    "Refutation",
    "SoftmaxTraining",
    "Split",
    "Tape",
    "TrainingAudit",
    "accountant_curve",
    "address_of",
    "area_under_roc",
    "audit",
    "audit_anytime",
    "audit_case",
    "audit_curve",
    "audit_model",
    "audit_rates",
    "audit_record",
    "audit_scores",
    "audit_sequentially",
    "audit_training",
    "awkward_pairs",
    "bit_features",
    "blind_delta",
    "ceiling",
    "continue_audit",
    "coverage_of",
    "credible_bound",
    "declared_case",
    "e_process_bound",
    "each_model",
    "error_rate_bound",
    "error_rate_delta",
    "function_case",
    "gaussian_bound",
    "gaussian_rate_bound",
    "guessing_bound",
    "joint_bound",
    "joint_gaussian_bound",
    "joint_p_value",
    "judge",
    "learn_score",
    "learn_thresholds",
    "learn_zones",
    "load",
    "local_level",
    "loss_scores",
    "offline_scores",
    "one_run_bound",
    "one_run_gaussian_bound",
    "one_run_guesses",
    "one_run_mu",
    "one_run_order_bound",
    "one_run_orthogonal_bound",
    "one_run_refutes",
    "one_run_trade_off_bound",
    "online_scores",
    "rank_bound",
    "rank_gaussian_bound",
    "rank_mu",
    "rank_p_value",
    "recheck",
    "refute",
    "relative_scores",
    "replay_neighbours",
    "replay_program",
    "runs_needed",
    "search_neighbours",
    "shuffled_case",
    "watch_noise",
    "watch_opacus",
    "watch_privatizer",
    "watch_sampling",
    "witness_bound",
    "witness_delta",
]

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

EXPORTS: dict[str, str] = {
    "Band": "audits.scores.every_threshold",
    "Carried": "audits.procedures.prior_evidence",
    "ChunkStore": "audits.experiment.chunk_store",
    "Conformance": "audits.checks.noise_law",
    "CurveAudit": "audits.procedures.whole_curve",
    "CurveProcess": "audits.bounds.curve_process",
    "EProcess": "audits.bounds.e_process",
    "Execution": "audits.experiment.execution",
    "GaussianTradeOff": "audits.bounds.trade_offs",
    "Guesses": "audits.scores.one_run",
    "LikelihoodRatio": "audits.attacks.likelihood",
    "ModelAudit": "audits.training.model_audit",
    "PriorEvidence": "audits.procedures.prior_evidence",
    "PrivateTradeOff": "audits.bounds.trade_offs",
    "ProgramLines": "audits.checks.case_coverage",
    "Rank": "audits.scores.fixed_rank",
    "Refutation": "audits.procedures.witness",
    "SoftmaxTraining": "audits.training.softmax",
    "Split": "audits.scores.fixed_threshold",
    "Tape": "audits.checks.tape",
    "TrainingAudit": "audits.training.training_audit",
    "accountant_curve": "audits.bounds.joint",
    "address_of": "audits.experiment.identity",
    "area_under_roc": "audits.bounds.area",
    "audit": "audits.procedures.fixed_size",
    "audit_anytime": "audits.procedures.anytime",
    "audit_case": "audits.procedures.fixed_size",
    "audit_curve": "audits.procedures.whole_curve",
    "audit_model": "audits.training.model_audit",
    "audit_rates": "audits.scores.learned",
    "audit_record": "audits.training.record_audit",
    "audit_scores": "audits.scores.scores_audit",
    "audit_sequentially": "audits.procedures.anytime",
    "audit_training": "audits.training.training_audit",
    "awkward_pairs": "audits.experiment.neighbours",
    "bit_features": "audits.outputs.bits",
    "blind_delta": "audits.decision.power",
    "ceiling": "audits.decision.power",
    "continue_audit": "audits.procedures.anytime",
    "coverage_of": "audits.checks.case_coverage",
    "credible_bound": "audits.bounds.credible",
    "declared_case": "audits.attacks.likelihood",
    "e_process_bound": "audits.bounds.e_process",
    "each_model": "audits.training.each_model",
    "error_rate_bound": "audits.bounds.error_rates",
    "error_rate_delta": "audits.bounds.error_rates",
    "function_case": "audits.experiment.function_case",
    "gaussian_bound": "audits.bounds.gaussian",
    "gaussian_rate_bound": "audits.bounds.gaussian",
    "guessing_bound": "audits.bounds.guessing",
    "joint_bound": "audits.bounds.joint",
    "joint_gaussian_bound": "audits.bounds.joint",
    "joint_p_value": "audits.bounds.joint",
    "judge": "audits.training.training_audit",
    "learn_score": "audits.attacks.classifier",
    "learn_thresholds": "audits.attacks.thresholds",
    "learn_zones": "audits.attacks.thresholds",
    "local_level": "audits.bounds.band",
    "loss_scores": "audits.attacks.membership_scores",
    "offline_scores": "audits.attacks.membership_scores",
    "one_run_bound": "audits.bounds.one_run",
    "one_run_gaussian_bound": "audits.bounds.one_run",
    "one_run_guesses": "audits.bounds.one_run",
    "one_run_mu": "audits.bounds.one_run_trade_off",
    "one_run_order_bound": "audits.bounds.one_run_order",
    "one_run_orthogonal_bound": "audits.bounds.one_run",
    "one_run_refutes": "audits.bounds.one_run_trade_off",
    "one_run_trade_off_bound": "audits.bounds.one_run_trade_off",
    "online_scores": "audits.attacks.membership_scores",
    "rank_bound": "audits.bounds.rank",
    "rank_gaussian_bound": "audits.bounds.rank",
    "rank_mu": "audits.bounds.rank",
    "rank_p_value": "audits.bounds.rank",
    "recheck": "audits.procedures.witness",
    "refute": "audits.procedures.witness",
    "relative_scores": "audits.attacks.membership_scores",
    "replay_neighbours": "audits.checks.paired_replay",
    "replay_program": "audits.checks.program_replay",
    "runs_needed": "audits.decision.power",
    "search_neighbours": "audits.procedures.neighbour_search",
    "shuffled_case": "audits.attacks.shuffled",
    "watch_noise": "audits.checks.noise_law",
    "watch_opacus": "audits.training.watching_opacus",
    "watch_privatizer": "audits.training.watching_jax",
    "watch_sampling": "audits.checks.sampler",
    "witness_bound": "audits.bounds.hockey_stick",
    "witness_delta": "audits.bounds.hockey_stick",
}
"""Every public name that is imported on first use, with the module that defines it."""

if TYPE_CHECKING:
    from audits.attacks.classifier import learn_score as learn_score
    from audits.attacks.likelihood import LikelihoodRatio as LikelihoodRatio
    from audits.attacks.likelihood import declared_case as declared_case
    from audits.attacks.membership_scores import loss_scores as loss_scores
    from audits.attacks.membership_scores import offline_scores as offline_scores
    from audits.attacks.membership_scores import online_scores as online_scores
    from audits.attacks.membership_scores import relative_scores as relative_scores
    from audits.attacks.shuffled import shuffled_case as shuffled_case
    from audits.attacks.thresholds import learn_thresholds as learn_thresholds
    from audits.attacks.thresholds import learn_zones as learn_zones
    from audits.bounds.area import area_under_roc as area_under_roc
    from audits.bounds.band import local_level as local_level
    from audits.bounds.credible import credible_bound as credible_bound
    from audits.bounds.curve_process import CurveProcess as CurveProcess
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
    from audits.bounds.one_run_order import one_run_order_bound as one_run_order_bound
    from audits.bounds.one_run_trade_off import one_run_mu as one_run_mu
    from audits.bounds.one_run_trade_off import one_run_refutes as one_run_refutes
    from audits.bounds.one_run_trade_off import one_run_trade_off_bound as one_run_trade_off_bound
    from audits.bounds.rank import rank_bound as rank_bound
    from audits.bounds.rank import rank_gaussian_bound as rank_gaussian_bound
    from audits.bounds.rank import rank_mu as rank_mu
    from audits.bounds.rank import rank_p_value as rank_p_value
    from audits.bounds.trade_offs import GaussianTradeOff as GaussianTradeOff
    from audits.bounds.trade_offs import PrivateTradeOff as PrivateTradeOff
    from audits.checks.case_coverage import ProgramLines as ProgramLines
    from audits.checks.case_coverage import coverage_of as coverage_of
    from audits.checks.noise_law import Conformance as Conformance
    from audits.checks.noise_law import watch_noise as watch_noise
    from audits.checks.paired_replay import replay_neighbours as replay_neighbours
    from audits.checks.program_replay import replay_program as replay_program
    from audits.checks.sampler import watch_sampling as watch_sampling
    from audits.checks.tape import Tape as Tape
    from audits.decision.power import blind_delta as blind_delta
    from audits.decision.power import ceiling as ceiling
    from audits.decision.power import runs_needed as runs_needed
    from audits.experiment.chunk_store import ChunkStore as ChunkStore
    from audits.experiment.execution import Execution as Execution
    from audits.experiment.function_case import function_case as function_case
    from audits.experiment.identity import address_of as address_of
    from audits.experiment.neighbours import awkward_pairs as awkward_pairs
    from audits.outputs.bits import bit_features as bit_features
    from audits.procedures.anytime import audit_anytime as audit_anytime
    from audits.procedures.anytime import audit_sequentially as audit_sequentially
    from audits.procedures.anytime import continue_audit as continue_audit
    from audits.procedures.fixed_size import audit as audit
    from audits.procedures.fixed_size import audit_case as audit_case
    from audits.procedures.neighbour_search import search_neighbours as search_neighbours
    from audits.procedures.prior_evidence import Carried as Carried
    from audits.procedures.prior_evidence import PriorEvidence as PriorEvidence
    from audits.procedures.whole_curve import CurveAudit as CurveAudit
    from audits.procedures.whole_curve import audit_curve as audit_curve
    from audits.procedures.witness import Refutation as Refutation
    from audits.procedures.witness import recheck as recheck
    from audits.procedures.witness import refute as refute
    from audits.scores.every_threshold import Band as Band
    from audits.scores.fixed_rank import Rank as Rank
    from audits.scores.fixed_threshold import Split as Split
    from audits.scores.learned import audit_rates as audit_rates
    from audits.scores.one_run import Guesses as Guesses
    from audits.scores.scores_audit import audit_scores as audit_scores
    from audits.training.each_model import each_model as each_model
    from audits.training.model_audit import ModelAudit as ModelAudit
    from audits.training.model_audit import audit_model as audit_model
    from audits.training.record_audit import audit_record as audit_record
    from audits.training.softmax import SoftmaxTraining as SoftmaxTraining
    from audits.training.training_audit import TrainingAudit as TrainingAudit
    from audits.training.training_audit import audit_training as audit_training
    from audits.training.training_audit import judge as judge
    from audits.training.watching_jax import watch_privatizer as watch_privatizer
    from audits.training.watching_opacus import watch_opacus as watch_opacus
else:
    __getattr__, __dir__ = lazy_exports(__name__, EXPORTS)

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
    "rank": "rank_bound",
    "rank_gaussian": "rank_gaussian_bound",
    "one_run_trade_off": "one_run_trade_off_bound",
    "one_run_order": "one_run_order_bound",
    "witness": "witness_bound",
    "credible": "credible_bound",
    "likelihood_ratio": "LikelihoodRatio",
    "learned_classifier": "learn_score",
    "learned_zones": "learn_thresholds",
    "bit_features": "bit_features",
    "model_losses": "audit_model",
    "record_losses": "audit_record",
    "training_run": "audit_training",
    "watch_noise": "watch_noise",
    "watch_sampling": "watch_sampling",
    "replay": "replay_neighbours",
}


def load(name: str) -> Any:
    """Return the bound, attack or check called `name`, importing only its module.

    Raises: KeyError: no such name.
    """
    entry = _ENTRIES[name]
    return getattr(import_module(EXPORTS[entry]), entry)
