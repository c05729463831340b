"""dpaudit: certify, audit and report the privacy of differentially private algorithms.

Every public name is imported on first use, so that `import dpaudit` costs little.
"""

from typing import TYPE_CHECKING

from dpaudit.runtime.exports import lazy_exports as lazy_exports

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

if TYPE_CHECKING:
    from dpaudit.accounting.accountant import bracket_delta as bracket_delta
    from dpaudit.accounting.accountant import bracket_epsilon as bracket_epsilon
    from dpaudit.accounting.calibration import smallest_holding as smallest_holding
    from dpaudit.accounting.calibration import smallest_noise as smallest_noise
    from dpaudit.accounting.curves.implied import implied_claim as implied_claim
    from dpaudit.accounting.fold import fold as fold
    from dpaudit.accounting.normal_form import NormalForm as NormalForm
    from dpaudit.budgets.filters import Filter as Filter
    from dpaudit.budgets.filters import Refusal as Refusal
    from dpaudit.budgets.filters import advanced_filter as advanced_filter
    from dpaudit.budgets.filters import basic_filter as basic_filter
    from dpaudit.budgets.filters import concentrated_filter as concentrated_filter
    from dpaudit.budgets.filters import gaussian_filter as gaussian_filter
    from dpaudit.budgets.filters import renyi_filter as renyi_filter
    from dpaudit.budgets.odometers import Odometer as Odometer
    from dpaudit.certification.certificate import Certificate as Certificate
    from dpaudit.certification.training_curve import training_curve as training_curve
    from dpaudit.certification.training_curve import training_epsilon as training_epsilon
    from dpaudit.certification.training_curve import training_noise as training_noise
    from dpaudit.certification.verdict import certify as certify
    from dpaudit.configuration.audit_plan import AuditPlan as AuditPlan
    from dpaudit.engines.single import meets as meets
    from dpaudit.errors import CertificateError as CertificateError
    from dpaudit.errors import ConfigError as ConfigError
    from dpaudit.errors import DeclarationError as DeclarationError
    from dpaudit.errors import DPAuditError as DPAuditError
    from dpaudit.errors import EngineDisagreementError as EngineDisagreementError
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
    from dpaudit.model.declaration import BestOf as BestOf
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
    from dpaudit.model.deployment import System as System
    from dpaudit.model.losses import ApproximateLoss as ApproximateLoss
    from dpaudit.model.losses import ChoiceLoss as ChoiceLoss
    from dpaudit.model.losses import ComposedLoss as ComposedLoss
    from dpaudit.model.losses import Composition as Composition
    from dpaudit.model.losses import DiscreteLoss as DiscreteLoss
    from dpaudit.model.losses import GaussianLoss as GaussianLoss
    from dpaudit.model.losses import LaplaceLoss as LaplaceLoss
    from dpaudit.model.losses import Loss as Loss
    from dpaudit.model.losses import SampledGaussianLoss as SampledGaussianLoss
    from dpaudit.model.losses import SampledLoss as SampledLoss
    from dpaudit.model.measures.claims import MuClaim as MuClaim
    from dpaudit.model.measures.claims import ProfileClaim as ProfileClaim
    from dpaudit.model.measures.claims import RenyiClaim as RenyiClaim
    from dpaudit.model.measures.claims import RhoClaim as RhoClaim
    from dpaudit.model.mechanism import Mechanism as Mechanism
    from dpaudit.model.streams import Streams as Streams
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
    __getattr__, __dir__ = lazy_exports(__name__)
