"""What a sound installation shows: each check with its status and the remedy where it fails."""

import platform
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Literal

from dpaudit.runtime.installation import installation_summary
from dpaudit.runtime.package_guard import require_packages, root
from dpaudit.runtime.provenance import distribution_version, source_digest

Status = Literal["ok", "absent", "failed"]

_DISTRIBUTIONS = ("dpaudit", "numpy", "scipy", "dp-accounting", "typer", "pydantic", "jinja2", "statsmodels", "joblib")
_EXTRAS = {"pytest": "the pytest plugin", "opacus": "auditing DP-SGD by Opacus", "flint": "faster verified accounting"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One thing that was looked at: what, how it is, and a sentence."""

    what: str
    status: Status
    says: str


def examine() -> tuple[Symptom, ...]:
    """Return what was looked at, in order; a check that raises has failed."""
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("python", _python),
        ("packages", _packages),
        ("installation", installation_summary),
        ("versions", _versions),
        ("sqlite", lambda: f"{sqlite3.sqlite_version}, used for evidence and resumed audits"),
        ("engines", _engines),
        ("verifier", _verifier),
        ("auditor", _auditor),
    )
    held = (_looked_at(what, check) for what, check in checks)
    return (*held, *(_extra(module, why) for module, why in _EXTRAS.items()), *_plugins())


def _looked_at(what: str, check: Callable[[], str]) -> Symptom:
    """Return how one check ended."""
    try:
        return Symptom(what=what, status="ok", says=check())
    except Exception as error:  # a broken installation may raise anything
        return Symptom(what=what, status="failed", says=" ".join(f"{type(error).__name__}: {error}".split()))


def _python() -> str:
    """Return which Python runs."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an installation may be forced onto an older one
        raise RuntimeError(f"Python {platform.python_version()}; 3.11 or later is needed.")
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}"


def _packages() -> str:
    """Return where the four packages lie, once they lie beside each other."""
    require_packages()
    return f"the four packages lie in {root()}, source {source_digest()[:12]}"


def _versions() -> str:
    """Return the versions of what dpaudit stands on."""
    return ", ".join(f"{name} {distribution_version(name)}" for name in _DISTRIBUTIONS)


def _engines() -> str:
    """Return that the accountant brackets a value known in closed form."""
    from dpaudit.accounting.accountant import bracket_delta
    from dpaudit.accounting.fold import fold
    from dpaudit.model.declaration import Release

    gaussian = import_module("mechanisms.gaussian").Gaussian
    noise = gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    found, known = bracket_delta(fold(Release(label="x", mechanism=noise), "replace_one"), 1.0), 0.12693673750664397
    if not found.lower - 1e-12 <= known <= found.upper + 1e-12 or found.upper - found.lower > 1e-6:
        raise RuntimeError(f"delta of a Gaussian at epsilon 1 is {known}, the engines say {found.lower}-{found.upper}.")
    return "delta of a Gaussian at epsilon 1 agrees with its closed form (Balle and Wang 2018)"


def _verifier() -> str:
    """Return that a certificate is accepted by the independent verifier."""
    from dpaudit.certification.verdict import certify
    from dpaudit.model.claim import Claim
    from dpaudit.model.declaration import Release
    from dpaudit.verifier import verify

    laplace = import_module("mechanisms.laplace").Laplace
    noise = laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    claim = Claim(epsilon=1.0, neighbours="replace_one")
    if not verify(certify(Release(label="x", mechanism=noise), claim).to_json()).accepted:
        raise RuntimeError("the verifier rejects a certificate of this very installation.")
    return "a certificate of this installation is accepted"


def _auditor() -> str:
    """Return that the auditor catches half the noise and spares the right one; seeds are fixed."""
    import numpy as np

    from dpaudit.model.case import AuditCase
    from dpaudit.model.claim import Claim

    def verdict(scale: float) -> str:
        case = AuditCase(
            name="laplace",
            view="output",
            description="",
            neighbours=(0.0, 1.0),
            relation="replace_one",
            run=lambda data, rng, n_runs: data + rng.laplace(0.0, scale, n_runs),
            score=lambda x: 2 * (np.abs(x) - np.abs(x - 1)),
        )
        audit, claim = import_module("audits").audit_sequentially, Claim(epsilon=1.0, neighbours="replace_one")
        return str(audit(case, claim, runs=5_000, rng=np.random.default_rng(1), significance=1e-6).verdict)

    verdicts = [verdict(1.0), verdict(0.5)]
    if verdicts != ["consistent", "violation"]:
        raise RuntimeError(f"correct noise was called {verdicts[0]}, half the noise {verdicts[1]}.")
    return "spares correct noise and catches half of it"


def _extra(module: str, why: str) -> Symptom:
    """Return whether something optional is there."""
    found = find_spec(module) is not None
    return Symptom(what=module, status="ok" if found else "absent", says=f"optional, for {why}")


def _plugins() -> tuple[Symptom, ...]:
    """Return whether each plug-in can be loaded."""
    groups = ("mechanisms", "algorithms", "audits", "problems")
    points = [point for kind in groups for point in entry_points(group=f"dpaudit.{kind}")]

    def loaded(name: str, load: Callable[[], object]) -> Symptom:
        return _looked_at(f"plug-in {name}", lambda: f"loaded {load()}")

    return tuple(loaded(point.name, point.load) for point in points)
