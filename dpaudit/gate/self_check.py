"""Checks of an installation: packages, versions, engines, verifier, auditor, plug-ins."""

import platform
import sqlite3
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec

import numpy as np

from dpaudit.accounting.accountant import bracket_delta
from dpaudit.accounting.fold import fold
from dpaudit.certification.verdict import certify
from dpaudit.gate.checks import Check
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Release
from dpaudit.runtime.installation import installation_summary
from dpaudit.runtime.package_guard import require_packages, root
from dpaudit.runtime.plugins import load_package
from dpaudit.runtime.provenance import distribution_version, source_digest
from dpaudit.verifier import verify

_DISTRIBUTIONS = ("dpaudit", "numpy", "scipy", "dp-accounting", "typer", "typst", "statsmodels", "joblib")
_EXTRAS = {"pytest": "the pytest plugin", "opacus": "auditing DP-SGD by Opacus"}


def check_installation() -> tuple[Check, ...]:
    """Return all checks in order; a check that raises has failed."""
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
    results = (_result_of(what, check) for what, check in checks)
    return (*results, *(_extra(module, why) for module, why in _EXTRAS.items()), *_plugins())


def _result_of(what: str, check: Callable[[], str]) -> Check:
    """Return the result of one check."""
    try:
        return Check(what=what, status="ok", says=check())
    except Exception as error:  # a broken installation may raise anything
        return Check(what=what, status="failed", says=" ".join(f"{type(error).__name__}: {error}".split()))


def _python() -> str:
    """Return which Python runs."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an installation may be forced onto an older one
        raise RuntimeError(f"Python {platform.python_version()}; 3.11 or later is needed.")
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}"


def _packages() -> str:
    """Return the folder of the four packages after a test that they lie beside each other."""
    require_packages()
    return f"the four packages lie in {root()}, source {source_digest()[:12]}"


def _versions() -> str:
    """Return the versions of the distributions that dpaudit needs."""
    return ", ".join(f"{name} {distribution_version(name)}" for name in _DISTRIBUTIONS)


def _engines() -> str:
    """Return a sentence if the accountant brackets a value that is known in closed form."""
    gaussian = load_package("mechanisms.gaussian").Gaussian
    noise = gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    bracket, exact = bracket_delta(fold(Release(label="x", mechanism=noise), "replace_one"), 1.0), 0.12693673750664397
    if not bracket.lower - 1e-12 <= exact <= bracket.upper + 1e-12 or bracket.upper - bracket.lower > 1e-6:
        raise RuntimeError(
            f"delta of a Gaussian at epsilon 1 is {exact}, the engines say {bracket.lower}-{bracket.upper}."
        )
    return "delta of a Gaussian at epsilon 1 agrees with its closed form (Balle and Wang 2018)"


def _verifier() -> str:
    """Return a sentence if the independent verifier accepts a certificate."""
    laplace = load_package("mechanisms.laplace").Laplace
    noise = laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    claim = Claim(epsilon=1.0, neighbours="replace_one")
    if not verify(certify(Release(label="x", mechanism=noise), claim).to_json()).accepted:
        raise RuntimeError("the verifier rejects a certificate of this very installation.")
    return "a certificate of this installation is accepted"


def _auditor() -> str:
    """Return a sentence if the auditor catches half the noise and passes the right noise; seeds are fixed."""

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
        audits, claim = load_package("audits"), Claim(epsilon=1.0, neighbours="replace_one")
        test = {"runs": 5_000, "rng": np.random.default_rng(1), "significance": 1e-6, "stop": audits.when_refuted}
        return str(audits.audit(case, claim=claim, **test).verdict)

    verdicts = [verdict(1.0), verdict(0.5)]
    if verdicts != ["not_refuted", "violation"]:
        raise RuntimeError(f"correct noise was called {verdicts[0]}, half the noise {verdicts[1]}.")
    return "passes correct noise and catches half of it"


def _extra(module: str, why: str) -> Check:
    """Return whether an optional module is installed."""
    installed = find_spec(module) is not None
    return Check(what=module, status="ok" if installed else "absent", says=f"optional, for {why}")


def _plugins() -> tuple[Check, ...]:
    """Return whether each plug-in can be loaded."""
    groups = ("mechanisms", "algorithms", "audits", "problems")
    points = [point for kind in groups for point in entry_points(group=f"dpaudit.{kind}")]

    def loaded(name: str, load: Callable[[], object]) -> Check:
        return _result_of(f"plug-in {name}", lambda: f"loaded {load()}")

    return tuple(loaded(point.name, point.load) for point in points)
