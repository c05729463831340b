"""Attacks and statistics: lower bounds on what an implementation really delivers.

Everything public is reachable from here and imported on first use, so that `import audits` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audits.attacks.classifier import learn_score as learn_score
    from audits.auditor import audit as audit
    from audits.auditor import audit_case as audit_case
    from audits.bounds.error_rates import error_rate_bound as error_rate_bound
    from audits.bounds.error_rates import error_rate_delta as error_rate_delta
    from audits.bounds.gaussian import gaussian_bound as gaussian_bound
    from audits.bounds.gaussian import gaussian_rate_bound as gaussian_rate_bound
    from audits.bounds.guessing import guessing_bound as guessing_bound
    from audits.planning import blind_delta as blind_delta
    from audits.planning import ceiling as ceiling
    from audits.planning import runs_needed as runs_needed

NAMES: dict[str, str] = {
    "guessing": "bound: right guesses of a fair coin, with abstention; exact for every mechanism",
    "clopper_pearson": "bound: both error rates of one threshold, joined by a union",
    "gaussian": "bound: accuracy of one threshold; exact for Gaussian claims, an assumption otherwise",
    "gaussian_rates": "bound: both error rates read as a Gaussian trade-off; assumption as for 'gaussian'",
    "learned_classifier": "attack: additive log odds over binned outputs, for outputs of any kind",
}
"""Every bound and attack by name, with one line on what it does."""

_HOMES: dict[str, tuple[str, ...]] = {
    "attacks.classifier": ("learn_score",),
    "auditor": ("audit", "audit_case"),
    "bounds.error_rates": ("error_rate_bound", "error_rate_delta"),
    "bounds.gaussian": ("gaussian_bound", "gaussian_rate_bound"),
    "bounds.guessing": ("guessing_bound",),
    "planning": ("blind_delta", "ceiling", "runs_needed"),
}
_HOME_OF = {name: home for home, held in _HOMES.items() for name in held}
_ENTRIES = {
    "guessing": "guessing_bound",
    "clopper_pearson": "error_rate_bound",
    "gaussian": "gaussian_bound",
    "gaussian_rates": "gaussian_rate_bound",
    "learned_classifier": "learn_score",
}


def load(name: str) -> Any:
    """Return the bound or the attack called `name`, importing only its module.

    Raises: KeyError: no such name.
    """
    return __getattr__(_ENTRIES[name])


def __getattr__(name: str) -> Any:
    """Return a public object, importing its module on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'audits' has no attribute {name!r}")
    return getattr(import_module(f"audits.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_HOME_OF)
