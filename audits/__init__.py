"""Attacks and statistics: lower bounds on what an implementation delivers.

Every public name is imported on first use, so that `import audits` costs little.
"""

from typing import TYPE_CHECKING, Any

from dpaudit.runtime.exports import lazy_exports
from dpaudit.runtime.tables import entry_at, table_of

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

_TABLE = table_of("audits", "names.toml")

NAMES: dict[str, str] = {name: row["words"] for name, row in _TABLE.items()}
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


def load(name: str) -> Any:
    """Return the bound, attack or check called `name`, importing only its module.

    Raises: KeyError: no such name.
    """
    return entry_at(_TABLE[name]["entry"])
