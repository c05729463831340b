"""The settings of a suite: number of runs, significance, and the file of evidence."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

PROFILES = {"fast": 5_000, "ci": 50_000, "nightly": 500_000}
"""The most runs of one audit; a leak stops it earlier."""

REQUIRED = ("not_refuted", "declared")
"""What a training loop must be: without a violation; or also without more noise than it declares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a session. `significance` is the probability that correct code is ever flagged.

    Without `evidence`, a check's seed follows from its name, so that repeating the suite repeats its outcome. With it,
    every run draws a fresh seed, and all runs that share the file share the budget. `strict` makes an inconclusive
    check fail; with `require` "declared", so does a training loop with more noise than it declares.
    """

    profile: str
    significance: float
    evidence: Path | None
    seed: int | None
    strict: bool = False
    require: str = "not_refuted"

    @property
    def runs(self) -> int:
        """The most runs of one audit."""
        return PROFILES[self.profile]

    @classmethod
    def read(
        cls,
        *,
        profile: str,
        evidence: str,
        significance: str,
        seed: int | None,
        root: Path,
        strict: str = "false",
        require: str = REQUIRED[0],
    ) -> Self:
        """Return settings from what the command line and the ini file say.

        Raises: ValueError: an unknown profile, a significance outside (0, 1), a negative seed, or a `strict` that is
            neither "true" nor "false", or an unknown `require`.
        """
        if profile not in PROFILES:
            raise ValueError(f"Expected dp_profile={profile!r} to be one of: {', '.join(PROFILES)}.")
        try:
            level = float(significance)
        except ValueError:
            level = -1.0
        if not 0 < level < 1:
            raise ValueError(f"Expected dp_significance={significance!r} to be a number strictly between 0 and 1.")
        if seed is not None and seed < 0:
            raise ValueError(f"Expected --dp-seed={seed} to be zero or positive.")
        if strict not in ("true", "false"):
            raise ValueError(f"Expected dp_strict={strict!r:.40} to be true or false.")
        if require not in REQUIRED:
            raise ValueError(f"Expected dp_require={require!r:.40} to be one of: {', '.join(REQUIRED)}.")
        return cls(
            profile=profile,
            significance=level,
            evidence=root / evidence if evidence and seed is None else None,
            seed=seed,
            strict=strict == "true",
            require=require,
        )
