"""dpaudit: certify, audit and report the privacy of differentially private algorithms.

Everything public is reachable from here and imported on first use, so that `import dpaudit` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.accountant import bracket_delta as bracket_delta
    from dpaudit.accountant import bracket_epsilon as bracket_epsilon
    from dpaudit.bracket import Bracket as Bracket
    from dpaudit.calibrate import smallest_noise as smallest_noise
    from dpaudit.case import AuditCase as AuditCase
    from dpaudit.certificate import Certificate as Certificate
    from dpaudit.certifier import certify as certify
    from dpaudit.claim import Claim as Claim
    from dpaudit.claim import Model as Model
    from dpaudit.claim import Neighbours as Neighbours
    from dpaudit.condition import Condition as Condition
    from dpaudit.declaration import Billboard as Billboard
    from dpaudit.declaration import Cells as Cells
    from dpaudit.declaration import Declaration as Declaration
    from dpaudit.declaration import Group as Group
    from dpaudit.declaration import Local as Local
    from dpaudit.declaration import Parallel as Parallel
    from dpaudit.declaration import PostProcess as PostProcess
    from dpaudit.declaration import Printed as Printed
    from dpaudit.declaration import Release as Release
    from dpaudit.declaration import Repeat as Repeat
    from dpaudit.declaration import Sequential as Sequential
    from dpaudit.declaration import Stated as Stated
    from dpaudit.declaration import Subsample as Subsample
    from dpaudit.errors import CertificateError as CertificateError
    from dpaudit.errors import ConfigError as ConfigError
    from dpaudit.errors import DeclarationError as DeclarationError
    from dpaudit.errors import DPAuditError as DPAuditError
    from dpaudit.errors import EngineDisagreementError as EngineDisagreementError
    from dpaudit.errors import InternalError as InternalError
    from dpaudit.errors import LedgerError as LedgerError
    from dpaudit.errors import UnsupportedError as UnsupportedError
    from dpaudit.evidence import AuditResult as AuditResult
    from dpaudit.evidence import Counts as Counts
    from dpaudit.evidence import LowerBound as LowerBound
    from dpaudit.evidence import Power as Power
    from dpaudit.filters import Filter as Filter
    from dpaudit.filters import Refusal as Refusal
    from dpaudit.filters import advanced_filter as advanced_filter
    from dpaudit.filters import basic_filter as basic_filter
    from dpaudit.filters import concentrated_filter as concentrated_filter
    from dpaudit.filters import gaussian_filter as gaussian_filter
    from dpaudit.filters import stated_by as stated_by
    from dpaudit.folding import fold as fold
    from dpaudit.losses import ApproximateLoss as ApproximateLoss
    from dpaudit.losses import ChoiceLoss as ChoiceLoss
    from dpaudit.losses import ComposedLoss as ComposedLoss
    from dpaudit.losses import Composition as Composition
    from dpaudit.losses import DiscreteLoss as DiscreteLoss
    from dpaudit.losses import GaussianLoss as GaussianLoss
    from dpaudit.losses import LaplaceLoss as LaplaceLoss
    from dpaudit.losses import Loss as Loss
    from dpaudit.losses import SampledGaussianLoss as SampledGaussianLoss
    from dpaudit.mechanism import Mechanism as Mechanism
    from dpaudit.normal_form import NormalForm as NormalForm
    from dpaudit.odometers import Odometer as Odometer
    from dpaudit.report import Report as Report
    from dpaudit.split import Split as Split
    from dpaudit.split import split_noise as split_noise
    from dpaudit.streams import Streams as Streams
    from dpaudit.system import System as System
    from dpaudit.trace import Finding as Finding
    from dpaudit.trace import Recorder as Recorder
    from dpaudit.trace import Released as Released
    from dpaudit.trace import admit as admit
    from dpaudit.training import Conformity as Conformity
    from dpaudit.training import Planted as Planted
    from dpaudit.training import Slots as Slots
    from dpaudit.training import Training as Training
    from dpaudit.training import Watch as Watch
    from dpaudit.training import conform as conform
    from dpaudit.training import gradient_canaries as gradient_canaries
    from dpaudit.training import plant as plant
    from dpaudit.transcript import Transcript as Transcript
    from dpaudit.verifier import Verification as Verification
    from dpaudit.verifier import verify as verify

_HOMES: dict[str, tuple[str, ...]] = {
    "accountant": ("bracket_delta", "bracket_epsilon"),
    "bracket": ("Bracket",),
    "calibrate": ("smallest_noise",),
    "case": ("AuditCase",),
    "certificate": ("Certificate",),
    "certifier": ("certify",),
    "claim": ("Claim", "Model", "Neighbours"),
    "condition": ("Condition",),
    "declaration": (
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
    "evidence": ("AuditResult", "Counts", "LowerBound", "Power"),
    "folding": ("fold",),
    "losses": (
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
    "normal_form": ("NormalForm",),
    "mechanism": ("Mechanism",),
    "report": ("Report",),
    "streams": ("Streams",),
    "system": ("System",),
    "trace": ("Finding", "Recorder", "Released", "admit"),
    "filters": (
        "Filter",
        "Refusal",
        "advanced_filter",
        "basic_filter",
        "concentrated_filter",
        "gaussian_filter",
        "stated_by",
    ),
    "odometers": ("Odometer",),
    "split": (
        "Split",
        "split_noise",
    ),
    "verifier": (
        "Verification",
        "verify",
    ),
    "training": ("Conformity", "Planted", "Slots", "Training", "Watch", "conform", "gradient_canaries", "plant"),
    "transcript": ("Transcript",),
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
