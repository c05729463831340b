"""dpaudit: certify, audit and report the privacy of differentially private algorithms.

Every public name is imported on first use, so that `import dpaudit` costs little.
"""

from typing import TYPE_CHECKING

from dpaudit.runtime.exports import lazy_exports as lazy_exports

__all__ = [
    "Allocate",
    "AllocatedLoss",
    "ApproximateLoss",
    "AuditCase",
    "AuditResult",
    "AverageLoss",
    "Billboard",
    "Bracket",
    "Cells",
    "Certificate",
    "CertificateError",
    "ChoiceLoss",
    "Claim",
    "ComposedLoss",
    "Composition",
    "Condition",
    "ConfigError",
    "Conformity",
    "Counts",
    "DPAuditError",
    "Declaration",
    "DeclarationError",
    "DiscreteLoss",
    "DrawnBatches",
    "EngineDisagreementError",
    "Filter",
    "Finding",
    "GaussianLoss",
    "Group",
    "InternalError",
    "LaplaceLoss",
    "LedgerError",
    "Local",
    "Loss",
    "LowerBound",
    "Mechanism",
    "MixtureLoss",
    "Model",
    "Neighbours",
    "NormalForm",
    "Odometer",
    "Parallel",
    "Planted",
    "PostProcess",
    "Power",
    "PowerKind",
    "Printed",
    "Recorder",
    "Refusal",
    "Release",
    "Released",
    "Repeat",
    "Report",
    "SampledGaussianLoss",
    "SampledLoss",
    "Sequential",
    "Shuffle",
    "Slots",
    "Split",
    "Stated",
    "StitchedLoss",
    "Streams",
    "Subsample",
    "System",
    "Training",
    "Transcript",
    "UnsupportedError",
    "Verification",
    "Watch",
    "admit",
    "advanced_filter",
    "basic_filter",
    "bracket_delta",
    "bracket_epsilon",
    "certify",
    "concentrated_filter",
    "conform",
    "conform_batches",
    "conform_orders",
    "content_address",
    "epsilon_one_way",
    "files_read",
    "find_plugin",
    "fold",
    "from_history",
    "from_state_dict",
    "gaussian_filter",
    "gradient_canaries",
    "lazy_exports",
    "meets",
    "plant",
    "renyi_filter",
    "smallest_holding",
    "smallest_noise",
    "split_noise",
    "stated_by",
    "training_curve",
    "training_epsilon",
    "training_noise",
    "verify",
]

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

EXPORTS: dict[str, str] = {
    "Allocate": "dpaudit.model.declaration",
    "AllocatedLoss": "dpaudit.model.losses",
    "ApproximateLoss": "dpaudit.model.losses",
    "AuditCase": "dpaudit.model.case",
    "AuditResult": "dpaudit.model.audit_result",
    "AverageLoss": "dpaudit.model.losses",
    "Billboard": "dpaudit.model.declaration",
    "Bracket": "dpaudit.model.bracket",
    "Cells": "dpaudit.model.declaration",
    "Certificate": "dpaudit.certification.certificate",
    "CertificateError": "dpaudit.errors",
    "ChoiceLoss": "dpaudit.model.losses",
    "Claim": "dpaudit.model.claim",
    "ComposedLoss": "dpaudit.model.losses",
    "Composition": "dpaudit.model.losses",
    "Condition": "dpaudit.model.condition",
    "ConfigError": "dpaudit.errors",
    "Conformity": "dpaudit.training",
    "Counts": "dpaudit.model.audit_result",
    "DPAuditError": "dpaudit.errors",
    "Declaration": "dpaudit.model.declaration",
    "DeclarationError": "dpaudit.errors",
    "DiscreteLoss": "dpaudit.model.losses",
    "DrawnBatches": "dpaudit.training",
    "EngineDisagreementError": "dpaudit.errors",
    "Filter": "dpaudit.budgets.filters",
    "Finding": "dpaudit.model.trace",
    "GaussianLoss": "dpaudit.model.losses",
    "Group": "dpaudit.model.declaration",
    "InternalError": "dpaudit.errors",
    "LaplaceLoss": "dpaudit.model.losses",
    "LedgerError": "dpaudit.errors",
    "Local": "dpaudit.model.declaration",
    "Loss": "dpaudit.model.losses",
    "LowerBound": "dpaudit.model.audit_result",
    "Mechanism": "dpaudit.model.mechanism",
    "MixtureLoss": "dpaudit.model.losses",
    "Model": "dpaudit.model.claim",
    "Neighbours": "dpaudit.model.claim",
    "NormalForm": "dpaudit.accounting.normal_form",
    "Odometer": "dpaudit.budgets.odometers",
    "Parallel": "dpaudit.model.declaration",
    "Planted": "dpaudit.training",
    "PostProcess": "dpaudit.model.declaration",
    "Power": "dpaudit.model.audit_result",
    "PowerKind": "dpaudit.model.audit_result",
    "Printed": "dpaudit.model.declaration",
    "Recorder": "dpaudit.model.trace",
    "Refusal": "dpaudit.budgets.filters",
    "Release": "dpaudit.model.declaration",
    "Released": "dpaudit.model.trace",
    "Repeat": "dpaudit.model.declaration",
    "Report": "dpaudit.report",
    "SampledGaussianLoss": "dpaudit.model.losses",
    "SampledLoss": "dpaudit.model.losses",
    "Sequential": "dpaudit.model.declaration",
    "Shuffle": "dpaudit.model.declaration",
    "Slots": "dpaudit.training",
    "Split": "dpaudit.accounting.noise_split",
    "Stated": "dpaudit.model.declaration",
    "StitchedLoss": "dpaudit.model.losses",
    "Streams": "dpaudit.model.streams",
    "Subsample": "dpaudit.model.declaration",
    "System": "dpaudit.model.system",
    "Training": "dpaudit.training",
    "Transcript": "dpaudit.model.transcript",
    "UnsupportedError": "dpaudit.errors",
    "Verification": "dpaudit.verifier",
    "Watch": "dpaudit.training",
    "admit": "dpaudit.model.trace",
    "advanced_filter": "dpaudit.budgets.filters",
    "basic_filter": "dpaudit.budgets.filters",
    "bracket_delta": "dpaudit.accounting.accountant",
    "bracket_epsilon": "dpaudit.accounting.accountant",
    "certify": "dpaudit.certification.verdict",
    "concentrated_filter": "dpaudit.budgets.filters",
    "conform": "dpaudit.training",
    "conform_batches": "dpaudit.training",
    "conform_orders": "dpaudit.training",
    "content_address": "dpaudit.runtime.content_address",
    "epsilon_one_way": "dpaudit.accounting.one_direction",
    "files_read": "dpaudit.runtime.files_read",
    "find_plugin": "dpaudit.runtime.plugins",
    "fold": "dpaudit.accounting.fold",
    "from_history": "dpaudit.interchange.opacus_history",
    "from_state_dict": "dpaudit.interchange.opacus_history",
    "gaussian_filter": "dpaudit.budgets.filters",
    "gradient_canaries": "dpaudit.training",
    "meets": "dpaudit.engines.single",
    "plant": "dpaudit.training",
    "renyi_filter": "dpaudit.budgets.filters",
    "smallest_holding": "dpaudit.accounting.calibration",
    "training_curve": "dpaudit.certification.training_curve",
    "training_epsilon": "dpaudit.certification.training_curve",
    "training_noise": "dpaudit.certification.training_curve",
    "smallest_noise": "dpaudit.accounting.calibration",
    "split_noise": "dpaudit.accounting.noise_split",
    "stated_by": "dpaudit.budgets.filters",
    "verify": "dpaudit.verifier",
}
"""Every public name that is imported on first use, with the module that defines it."""

if TYPE_CHECKING:
    from dpaudit.accounting.accountant import bracket_delta as bracket_delta
    from dpaudit.accounting.accountant import bracket_epsilon as bracket_epsilon
    from dpaudit.accounting.calibration import smallest_holding as smallest_holding
    from dpaudit.accounting.calibration import smallest_noise as smallest_noise
    from dpaudit.accounting.fold import fold as fold
    from dpaudit.accounting.noise_split import Split as Split
    from dpaudit.accounting.noise_split import split_noise as split_noise
    from dpaudit.accounting.normal_form import NormalForm as NormalForm
    from dpaudit.accounting.one_direction import epsilon_one_way as epsilon_one_way
    from dpaudit.budgets.filters import Filter as Filter
    from dpaudit.budgets.filters import Refusal as Refusal
    from dpaudit.budgets.filters import advanced_filter as advanced_filter
    from dpaudit.budgets.filters import basic_filter as basic_filter
    from dpaudit.budgets.filters import concentrated_filter as concentrated_filter
    from dpaudit.budgets.filters import gaussian_filter as gaussian_filter
    from dpaudit.budgets.filters import renyi_filter as renyi_filter
    from dpaudit.budgets.filters import stated_by as stated_by
    from dpaudit.budgets.odometers import Odometer as Odometer
    from dpaudit.certification.certificate import Certificate as Certificate
    from dpaudit.certification.training_curve import training_curve as training_curve
    from dpaudit.certification.training_curve import training_epsilon as training_epsilon
    from dpaudit.certification.training_curve import training_noise as training_noise
    from dpaudit.certification.verdict import certify as certify
    from dpaudit.engines.single import meets as meets
    from dpaudit.errors import CertificateError as CertificateError
    from dpaudit.errors import ConfigError as ConfigError
    from dpaudit.errors import DeclarationError as DeclarationError
    from dpaudit.errors import DPAuditError as DPAuditError
    from dpaudit.errors import EngineDisagreementError as EngineDisagreementError
    from dpaudit.errors import InternalError as InternalError
    from dpaudit.errors import LedgerError as LedgerError
    from dpaudit.errors import UnsupportedError as UnsupportedError
    from dpaudit.interchange.opacus_history import from_history as from_history
    from dpaudit.interchange.opacus_history import from_state_dict as from_state_dict
    from dpaudit.model.audit_result import AuditResult as AuditResult
    from dpaudit.model.audit_result import Counts as Counts
    from dpaudit.model.audit_result import LowerBound as LowerBound
    from dpaudit.model.audit_result import Power as Power
    from dpaudit.model.audit_result import PowerKind as PowerKind
    from dpaudit.model.bracket import Bracket as Bracket
    from dpaudit.model.case import AuditCase as AuditCase
    from dpaudit.model.claim import Claim as Claim
    from dpaudit.model.claim import Model as Model
    from dpaudit.model.claim import Neighbours as Neighbours
    from dpaudit.model.condition import Condition as Condition
    from dpaudit.model.declaration import Allocate as Allocate
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
    from dpaudit.model.declaration import Shuffle as Shuffle
    from dpaudit.model.declaration import Stated as Stated
    from dpaudit.model.declaration import Subsample as Subsample
    from dpaudit.model.losses import AllocatedLoss as AllocatedLoss
    from dpaudit.model.losses import ApproximateLoss as ApproximateLoss
    from dpaudit.model.losses import AverageLoss as AverageLoss
    from dpaudit.model.losses import ChoiceLoss as ChoiceLoss
    from dpaudit.model.losses import ComposedLoss as ComposedLoss
    from dpaudit.model.losses import Composition as Composition
    from dpaudit.model.losses import DiscreteLoss as DiscreteLoss
    from dpaudit.model.losses import GaussianLoss as GaussianLoss
    from dpaudit.model.losses import LaplaceLoss as LaplaceLoss
    from dpaudit.model.losses import Loss as Loss
    from dpaudit.model.losses import MixtureLoss as MixtureLoss
    from dpaudit.model.losses import SampledGaussianLoss as SampledGaussianLoss
    from dpaudit.model.losses import SampledLoss as SampledLoss
    from dpaudit.model.losses import StitchedLoss as StitchedLoss
    from dpaudit.model.mechanism import Mechanism as Mechanism
    from dpaudit.model.streams import Streams as Streams
    from dpaudit.model.system import System as System
    from dpaudit.model.trace import Finding as Finding
    from dpaudit.model.trace import Recorder as Recorder
    from dpaudit.model.trace import Released as Released
    from dpaudit.model.trace import admit as admit
    from dpaudit.model.transcript import Transcript as Transcript
    from dpaudit.report import Report as Report
    from dpaudit.runtime.content_address import content_address as content_address
    from dpaudit.runtime.files_read import files_read as files_read
    from dpaudit.runtime.plugins import find_plugin as find_plugin
    from dpaudit.training import Conformity as Conformity
    from dpaudit.training import DrawnBatches as DrawnBatches
    from dpaudit.training import Planted as Planted
    from dpaudit.training import Slots as Slots
    from dpaudit.training import Training as Training
    from dpaudit.training import Watch as Watch
    from dpaudit.training import conform as conform
    from dpaudit.training import conform_batches as conform_batches
    from dpaudit.training import conform_orders as conform_orders
    from dpaudit.training import gradient_canaries as gradient_canaries
    from dpaudit.training import plant as plant
    from dpaudit.verifier import Verification as Verification
    from dpaudit.verifier import verify as verify
else:
    __getattr__, __dir__ = lazy_exports(__name__, EXPORTS)
