"""The steps that several commands share: certify a configuration, then attack it."""

import secrets
from dataclasses import replace

import numpy as np

from dpaudit.certificate import Certificate
from dpaudit.certifier import certify
from dpaudit.cli.exits import Exit
from dpaudit.cli.output import note
from dpaudit.config import AuditSettings, Configuration, Configured
from dpaudit.errors import ConfigError
from dpaudit.evidence import AuditResult
from dpaudit.streams import Streams
from dpaudit.trace import admit

_CHECK_RUNS = 4
_CHECK_SEED = 0


def certificate_of(configuration: Configuration, seed: int | None) -> Certificate:
    """Return the certificate of a configuration.

    An algorithm with a problem also runs a few times in lock-step: its trace must be admitted by its
    declaration, and the conditions it looked at are no longer assumed. Without a seed that run's is 0, so
    that one configuration has one certificate.
    """
    subject = configuration.subject
    if not isinstance(subject, Configured) or subject.problem is None:
        return certify(subject.declaration, subject.claim)
    rng = np.random.default_rng(_CHECK_SEED if seed is None else seed)
    transcript = subject.algorithm.run(subject.problem, Streams.spawn(rng), _CHECK_RUNS)
    findings = admit(subject.declaration, transcript.trace)
    return certify(subject.declaration, subject.claim, conditions=transcript.conditions, findings=findings)


def settings_of(
    configuration: Configuration,
    *,
    runs: int | None = None,
    significance: float | None = None,
    jobs: int | None = None,
    seed: int | None = None,
) -> AuditSettings:
    """Return the audit's settings, the command line's over the file's.

    Raises: ConfigError: one of them is out of range.
    """
    given = {"runs": runs, "significance": significance, "jobs": jobs, "seed": seed}
    try:
        return replace(configuration.audit, **{name: value for name, value in given.items() if value is not None})
    except ValueError as error:
        raise ConfigError(f"{error}") from None


def drawn_seed(seed: int | None) -> int:
    """Return `seed`, or fresh entropy that is written to stderr so that the run can be repeated."""
    if seed is not None:
        return seed
    drawn = secrets.randbits(63)
    note(f"seed {drawn} (repeat with --seed {drawn})")
    return drawn


def certificate_exit(certificate: Certificate) -> Exit:
    """Return what a certificate means to a script."""
    return Exit.PASS if certificate.verdict == "certified" else Exit.FINDING


def audit_exit(result: AuditResult) -> Exit:
    """Return what an audit means to a script."""
    ends = {"violation": Exit.FINDING, "inconclusive": Exit.INCONCLUSIVE, "consistent": Exit.PASS}
    return ends[result.verdict]
