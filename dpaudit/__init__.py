"""dpaudit: certify, audit and report the privacy of differentially private algorithms.

Everything public is reachable from here and imported on first use, so that `import dpaudit` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.accounting.accountant import bracket_delta as bracket_delta
    from dpaudit.accounting.accountant import bracket_epsilon as bracket_epsilon
    from dpaudit.accounting.calibration import smallest_noise as smallest_noise
    from dpaudit.accounting.fold import fold as fold
    from dpaudit.accounting.noise_split import Split as Split
    from dpaudit.accounting.noise_split import split_noise as split_noise
    from dpaudit.accounting.normal_form import NormalForm as NormalForm
    from dpaudit.budgets.filters import Filter as Filter
    from dpaudit.budgets.filters import Refusal as Refusal
    from dpaudit.budgets.filters import advanced_filter as advanced_filter
    from dpaudit.budgets.filters import basic_filter as basic_filter
    from dpaudit.budgets.filters import concentrated_filter as concentrated_filter
    from dpaudit.budgets.filters import gaussian_filter as gaussian_filter
    from dpaudit.budgets.filters import stated_by as stated_by
    from dpaudit.budgets.odometers import Odometer as Odometer
    from dpaudit.certification.certificate import Certificate as Certificate
    from dpaudit.certification.verdict import certify as certify
    from dpaudit.errors import CertificateError as CertificateError
    from dpaudit.errors import ConfigError as ConfigError
    from dpaudit.errors import DeclarationError as DeclarationError
    from dpaudit.errors import DPAuditError as DPAuditError
    from dpaudit.errors import EngineDisagreementError as EngineDisagreementError
    from dpaudit.errors import InternalError as InternalError
    from dpaudit.errors import LedgerError as LedgerError
    from dpaudit.errors import UnsupportedError as UnsupportedError
    from dpaudit.model.audit_result import AuditResult as AuditResult
    from dpaudit.model.audit_result import Counts as Counts
    from dpaudit.model.audit_result import LowerBound as LowerBound
    from dpaudit.model.audit_result import Power as Power
    from dpaudit.model.bracket import Bracket as Bracket
    from dpaudit.model.case import AuditCase as AuditCase
    from dpaudit.model.claim import Claim as Claim
    from dpaudit.model.claim import Model as Model
    from dpaudit.model.claim import Neighbours as Neighbours
    from dpaudit.model.condition import Condition as Condition
    from dpaudit.model.declaration import Billboard as Billboard
    from dpaudit.model.declaration import Cells as Cells
    from dpaudit.model.declaration import Declaration as Declaration
    from dpaudit.model.declaration import Group as Group
    from dpaudit.model.declaration import Local as Local
    from dpaudit.model.declaration import Parallel as Parallel
    from dpaudit.model.declaration import PostProcess as PostProcess
    from dpaudit.model.declaration import Printed as Printed
    from dpaudit.model.declaration import Release as Release
    from dpaudit.model.declaration import Repeat as Repeat
    from dpaudit.model.declaration import Sequential as Sequential
    from dpaudit.model.declaration import Stated as Stated
    from dpaudit.model.declaration import Subsample as Subsample
    from dpaudit.model.losses import ApproximateLoss as ApproximateLoss
    from dpaudit.model.losses import ChoiceLoss as ChoiceLoss
    from dpaudit.model.losses import ComposedLoss as ComposedLoss
    from dpaudit.model.losses import Composition as Composition
    from dpaudit.model.losses import DiscreteLoss as DiscreteLoss
    from dpaudit.model.losses import GaussianLoss as GaussianLoss
    from dpaudit.model.losses import LaplaceLoss as LaplaceLoss
    from dpaudit.model.losses import Loss as Loss
    from dpaudit.model.losses import SampledGaussianLoss as SampledGaussianLoss
    from dpaudit.model.mechanism import Mechanism as Mechanism
    from dpaudit.model.streams import Streams as Streams
    from dpaudit.model.system import System as System
    from dpaudit.model.trace import Finding as Finding
    from dpaudit.model.trace import Recorder as Recorder
    from dpaudit.model.trace import Released as Released
    from dpaudit.model.trace import admit as admit
    from dpaudit.model.transcript import Transcript as Transcript
    from dpaudit.report import Report as Report
    from dpaudit.training import Conformity as Conformity
    from dpaudit.training import Planted as Planted
    from dpaudit.training import Slots as Slots
    from dpaudit.training import Training as Training
    from dpaudit.training import Watch as Watch
    from dpaudit.training import conform as conform
    from dpaudit.training import gradient_canaries as gradient_canaries
    from dpaudit.training import plant as plant
    from dpaudit.verifier import Verification as Verification
    from dpaudit.verifier import verify as verify

_HOMES: dict[str, tuple[str, ...]] = {
    "accounting.accountant": ("bracket_delta", "bracket_epsilon"),
    "model.bracket": ("Bracket",),
    "accounting.calibration": ("smallest_noise",),
    "model.case": ("AuditCase",),
    "certification.certificate": ("Certificate",),
    "certification.verdict": ("certify",),
    "model.claim": ("Claim", "Model", "Neighbours"),
    "model.condition": ("Condition",),
    "model.declaration": (
        "Billboard",
        "Cells",
        "Declaration",
        "Group",
        "Local",
        "Parallel",
        "PostProcess",
        "Printed",
        "Release",
        "Repeat",
        "Sequential",
        "Stated",
        "Subsample",
    ),
    "errors": (
        "CertificateError",
        "ConfigError",
        "DPAuditError",
        "DeclarationError",
        "EngineDisagreementError",
        "InternalError",
        "LedgerError",
        "UnsupportedError",
    ),
    "model.audit_result": ("AuditResult", "Counts", "LowerBound", "Power"),
    "accounting.fold": ("fold",),
    "model.losses": (
        "ApproximateLoss",
        "ChoiceLoss",
        "ComposedLoss",
        "Composition",
        "DiscreteLoss",
        "GaussianLoss",
        "LaplaceLoss",
        "Loss",
        "SampledGaussianLoss",
    ),
    "accounting.normal_form": ("NormalForm",),
    "model.mechanism": ("Mechanism",),
    "report": ("Report",),
    "model.streams": ("Streams",),
    "model.system": ("System",),
    "model.trace": ("Finding", "Recorder", "Released", "admit"),
    "budgets.filters": (
        "Filter",
        "Refusal",
        "advanced_filter",
        "basic_filter",
        "concentrated_filter",
        "gaussian_filter",
        "stated_by",
    ),
    "budgets.odometers": ("Odometer",),
    "accounting.noise_split": (
        "Split",
        "split_noise",
    ),
    "verifier": (
        "Verification",
        "verify",
    ),
    "training": ("Conformity", "Planted", "Slots", "Training", "Watch", "conform", "gradient_canaries", "plant"),
    "model.transcript": ("Transcript",),
}
_HOME_OF = {name: home for home, held in _HOMES.items() for name in held}


def __getattr__(name: str) -> Any:
    """Return a public object, importing its module on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    return getattr(import_module(f"dpaudit.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_HOME_OF)
