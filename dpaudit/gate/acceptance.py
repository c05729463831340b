"""Acceptance of the open issues of a check: entries of its baseline, with a reason and a last day."""

from dataclasses import replace
from datetime import date

from dpaudit.errors import ConfigError
from dpaudit.gate.baseline import Accepted
from dpaudit.gate.document import CheckDocument


def accept(document: CheckDocument, reason: str, expires: date, rule: str | None) -> CheckDocument:
    """Return the check with a baseline that accepts its open issues, or those of one rule, from its day on.

    Raises: ConfigError: no such issue, or only unusable configurations. ValueError: as for `require_term`.
    """
    wanted = [(issue, issue.terms) for issue in document.open if rule in (None, issue.rule)]
    added = tuple(
        Accepted(
            fingerprint=issue.fingerprint,
            rule=issue.rule,
            config=issue.config,
            subject=issue.subject,
            reason=reason,
            accepted=document.today,
            expires=expires,
            terms=terms,
        )
        for issue, terms in wanted
        if terms is not None  # an unusable configuration is never accepted
    )
    if not added:
        raise ConfigError(f"There is no open issue{f' of rule {rule}' if rule else ''} to accept.")
    return replace(document, baseline=document.baseline.with_entries(added))
