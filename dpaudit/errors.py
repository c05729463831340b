"""The errors a user can meet, and the exit code each one ends the command line with.

    DPAuditError                 every error this package raises on purpose
    |-- ConfigError          2   a configuration, data file or output folder is not usable
    |   `-- Fault            2   one value read from a file does not fit, with its path inside the file
    |-- DeclarationError     2   a declaration contradicts itself or the claim it is read under
    |-- UnsupportedError     2   well formed, but no engine, attack or format here covers it
    |   `-- NoEpsilonError   2   bounds in another measure have no epsilon
    |-- OutputError          2   audited code returns outputs of another number than runs were asked for
    |-- CertificateError     2   a certificate is truncated, malformed or altered
    |-- LedgerError          2   a budget ledger is altered, missing or cannot be reached
    `-- InternalError        3   dpaudit contradicts itself: a defect of ours
        `-- EngineDisagreementError   brackets of two engines do not overlap

A bad argument to a Python function is a plain `ValueError`. "Not proved" is a verdict, never an error.
Each message names the value, the rule it breaks and the remedy.
"""

from copy import copy
from typing import ClassVar, Self

KeyPath = tuple[str | int, ...]
"""The keys and list places from the root of a file to one of its values."""


class DPAuditError(Exception):
    """Every error that dpaudit raises on purpose; `exit_code` is what the command line ends with.

    `file` and `line` say where the cause stands, where that is known; as text the error starts with them.

    >>> DPAuditError.exit_code
    2
    >>> str(DPAuditError("no such key").at("a.toml", 3))
    'a.toml:3: no such key'
    """

    exit_code: ClassVar[int] = 2
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.file else self.message

    @property
    def message(self) -> str:
        """Return what is wrong, without file and line."""
        return str(self.args[-1]) if self.args else ""

    def at(self, file: str, line: int) -> Self:
        """Return the same error, caused by a line of a file."""
        located = copy(self)
        located.file, located.line = file, line
        return located


class ConfigError(DPAuditError):
    """A configuration, data file or output folder is not usable.

    >>> issubclass(ConfigError, DPAuditError)
    True
    """


class Fault(ConfigError):  # noqa: N818 - the word of the field: a fault in the input
    """One value read from a file does not fit: `where` is its path inside the file, `message` says what is wrong.

    Whoever knows the file adds its name and line by `at`; a path to nothing is that of the file as a whole.

    >>> Fault(("claim", "epsilon"), "Expected epsilon=-1 to be positive.").where
    ('claim', 'epsilon')
    """

    def __init__(self, where: KeyPath, message: str) -> None:
        super().__init__(where, message)

    @property
    def where(self) -> KeyPath:
        """Return the path of the value inside its file."""
        return self.args[0]

    def inside(self, *where: str | int) -> "Fault":
        """Return the same fault, seen from outside the table at `where`."""
        return Fault((*where, *self.where), self.message)


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


class NoEpsilonError(UnsupportedError, AttributeError):
    """Bounds in another measure have no epsilon and no delta; `hasattr` answers false.

    >>> issubclass(NoEpsilonError, UnsupportedError)
    True
    """


class OutputError(DPAuditError, ValueError):
    """Audited code returns outputs that are not those of the runs it was asked for.

    >>> issubclass(OutputError, ValueError), OutputError.exit_code
    (True, 2)
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

    >>> from dpaudit.model.bracket import Bracket
    >>> try:
    ...     Bracket(lower=0, upper=1, engines=("a",)).intersect(Bracket(lower=2, upper=3, engines=("b",)))
    ... except EngineDisagreementError as error:
    ...     print(error.exit_code)
    3
    """
