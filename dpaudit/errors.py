"""The errors a user can meet, and the exit code each one ends the command line with.

    DPAuditError                 every error this package raises on purpose
    |-- ConfigError          2   a configuration, data file or output folder is not usable
    |-- DeclarationError     2   a declaration contradicts itself or the claim it is read under
    |-- UnsupportedError     2   well formed, but no engine, attack or format here covers it
    |-- CertificateError     2   a certificate is truncated, malformed or altered
    |-- LedgerError          2   a budget ledger is altered, missing or cannot be reached
    `-- InternalError        3   dpaudit contradicts itself: a defect of ours
        `-- EngineDisagreementError   brackets of two engines do not overlap

A bad argument to a Python function is a plain `ValueError`. "Not proved" is a verdict, never an error.
Each message names the value, the rule it breaks and the remedy.
"""

from typing import ClassVar


class DPAuditError(Exception):
    """Every error that dpaudit raises on purpose; `exit_code` is what the command line ends with.

    >>> DPAuditError.exit_code
    2
    """

    exit_code: ClassVar[int] = 2


class ConfigError(DPAuditError):
    """A configuration, data file or output folder is not usable.

    >>> issubclass(ConfigError, DPAuditError)
    True
    """


class DeclarationError(DPAuditError):
    """A declaration contradicts itself or the claim it is read under.

    >>> from dpaudit import Claim, Release, certify
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> try:
    ...     certify(Release(label="count", mechanism=noise), Claim(epsilon=1.0, neighbours="replace_one"))
    ... except DeclarationError as error:
    ...     print(str(error).partition(", but")[0])
    'count' states its sensitivity for neighbours='add_remove'
    """


class UnsupportedError(DPAuditError):
    """The request is well formed, but nothing here covers it.

    >>> UnsupportedError("No engine covers 'gram matrix'.").exit_code
    2
    """


class CertificateError(DPAuditError):
    """A certificate is truncated, malformed or altered.

    >>> from dpaudit import Certificate
    >>> try:
    ...     Certificate.from_json("{")
    ... except CertificateError as error:
    ...     print(error.exit_code)
    2
    """


class LedgerError(DPAuditError):
    """A budget ledger is altered, missing or cannot be reached, or is asked for what it does not hold.

    >>> from dpaudit.ledger import store_at
    >>> try:
    ...     store_at("no-such-file.db")
    ... except LedgerError as error:
    ...     print(error)
    no-such-file.db: there is no ledger; `dpaudit ledger open` makes one.
    """


class InternalError(DPAuditError):
    """dpaudit contradicts itself; this is a defect of dpaudit, not of its input.

    >>> InternalError.exit_code
    3
    """

    exit_code: ClassVar[int] = 3


class EngineDisagreementError(InternalError):
    """The brackets of two engines for the same quantity do not overlap.

    >>> from dpaudit import Bracket
    >>> try:
    ...     Bracket(lower=0, upper=1, engines=("a",)).intersect(Bracket(lower=2, upper=3, engines=("b",)))
    ... except EngineDisagreementError as error:
    ...     print(error.exit_code)
    3
    """
