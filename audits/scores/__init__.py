"""Audits of membership-inference scores that were computed elsewhere."""

from typing import TYPE_CHECKING

from dpaudit.runtime.exports import lazy_exports

if TYPE_CHECKING:
    from audits.scores.every_threshold import Band as Band
    from audits.scores.fixed_threshold import Rank as Rank
    from audits.scores.fixed_threshold import Split as Split
    from audits.scores.one_run import Guesses as Guesses
else:
    __getattr__, __dir__ = lazy_exports(__name__)
