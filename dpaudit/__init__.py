"""dpaudit: certify, audit and report the privacy of differentially private algorithms.

Every public name is imported on first use, so that `import dpaudit` costs little.
"""

from typing import TYPE_CHECKING

from dpaudit.runtime.exports import lazy_exports

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
    from dpaudit.certification.certificate import Certificate as Certificate
    from dpaudit.certification.training_curve import training_curve as training_curve
    from dpaudit.certification.training_curve import training_epsilon as training_epsilon
    from dpaudit.certification.training_curve import training_noise as training_noise
    from dpaudit.certification.verdict import certify as certify
    from dpaudit.engines.single import meets as meets
    from dpaudit.errors import DPAuditError as DPAuditError
    from dpaudit.errors import UnsupportedError as UnsupportedError
    from dpaudit.model.audit_result import AuditResult as AuditResult
    from dpaudit.model.case import AuditCase as AuditCase
    from dpaudit.model.claim import Claim as Claim
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
    from dpaudit.model.mechanism import Mechanism as Mechanism
    from dpaudit.model.streams import Streams as Streams
    from dpaudit.model.trace import Recorder as Recorder
    from dpaudit.model.transcript import Transcript as Transcript
    from dpaudit.verifier import verify as verify
else:
    __getattr__, __dir__ = lazy_exports(__name__)
