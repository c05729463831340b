"""The checks that the fixture `dp` offers; a finding fails the test, an inconclusive audit leaves it undecided."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

import numpy as np
import pytest

from dpaudit.accounting.calibration import smallest_noise
from dpaudit.accounting.curves.implied import implied_claim
from dpaudit.certification.certificate import Certificate
from dpaudit.certification.verdict import certify
from dpaudit.configuration.config import read_config
from dpaudit.configuration.configuration import Configured
from dpaudit.errors import ConfigError, DPAuditError
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration, Release
from dpaudit.model.measures.claims import KINDS, MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.model.mechanism import Mechanism, is_mechanism
from dpaudit.model.readings import Verdict
from dpaudit.model.scores_result import Sampling, ScoresResult
from dpaudit.pytest_plugin.budget import Allotment, KeptBudget, SessionBudget
from dpaudit.pytest_plugin.settings import PROFILES, Settings
from dpaudit.pytest_plugin.store import EvidenceStore
from dpaudit.report.marks import certificate_word
from dpaudit.runtime.plugins import load_package, suggestion
from dpaudit.runtime.provenance import versions
from dpaudit.runtime.sources import digest_of_sources
from dpaudit.wording.audits import audit_meaning, power_phrase
from dpaudit.wording.certificates import bound_name, certificate_meaning
from dpaudit.wording.claims import claim_parameters
from dpaudit.wording.escaping import clean
from dpaudit.wording.measures import uppers_phrase
from dpaudit.wording.numerals import at_least, at_most, nearest
from dpaudit.wording.scores import scores_meaning
from dpaudit.wording.verdicts import verdict_label
from dpaudit.workflow import cases_of, certificate_of, certified_epsilon

__tracebackhide__ = True
"""Pytest leaves the frames of this module out of tracebacks: the test and the code that it calls are shown."""
_BLOCKS = 10
_EXACT = "With arithmetic='exact', the check takes noise for the real-valued noise of its proof."
_NEARLY_ONE = 1 - 1e-9
_FOR_A_SUITE = 1e-4
"""By how much the level of a check is lowered to see whether a finding stands for a suite of many checks."""


@dataclass(kw_only=True)
class PrivacyChecks:
    """The checks of one test; each returns its certificate or audit result, and fails the test on a finding.

    `failures` has the text of every finding so far, so that a test which catches the exception fails all the same.
    """

    test: str
    mark: pytest.Mark | None
    folder: Path
    settings: Settings
    tell: Callable[[str, Any], None]
    place: str = ""
    undecided: list[str] = field(default_factory=list[str])
    failures: list[str] = field(default_factory=list[str])
    _told: int = 0
    _counted: int = 0

    def certify(self, subject: Declaration | Mechanism) -> Certificate:
        """Return the certificate of the marker's claim for a declaration, or for one release of a mechanism."""
        if not isinstance(subject, get_args(Declaration)) and not is_mechanism(subject):
            called = getattr(subject, "__name__", repr(subject))
            raise ConfigError(
                f"dp.certify takes a declaration or a mechanism, got {type(subject).__name__} {called:.40}; code that "
                "runs is checked by dp.check_function(function, neighbours=(one, other))."
            )
        name = getattr(subject, "name", type(subject).__name__)
        return self._certified(name, certify(subject, self.claim))

    def check_mechanism(self, mechanism: Mechanism) -> AuditResult:
        """Certify one release of a mechanism, test its noise, and audit it on its own worst pair of answers."""
        pair: tuple[Any, Any] | None = getattr(mechanism, "worst_pair", lambda: None)()
        if pair is None:
            pytest.fail(
                f"{mechanism.name} names no worst_pair(); use dp.check_release with two data sets.", pytrace=False
            )

        def release(answer: Any, rng: Any, n_runs: int) -> Any:
            return mechanism.release(np.broadcast_to(answer, (n_runs, *np.shape(answer))), rng)

        return self.check_release(release, pair, mechanism=mechanism, query=np.asarray, name=mechanism.name)

    def check_release(
        self,
        function: Callable[..., Any],
        neighbours: tuple[Any, Any],
        *,
        mechanism: Mechanism,
        query: Callable[[Any], Any],
        name: str = "",
    ) -> AuditResult:
        """Check a function that declares what it releases: `query` of the data with the noise of `mechanism`.

        The mechanism is certified against the claim, `query` may move by its sensitivity between the neighbours, the
        outputs of `function(data, rng, n_runs)` are compared with the density of the mechanism, and an audit scores
        them by the likelihood ratio.
        """
        called = name or _name_of(function)
        certificate = self._certified(called, certify(Release(label=called, mechanism=mechanism), self.claim))
        answers = tuple(np.asarray(query(data)) for data in neighbours)
        self._require_near(called, mechanism, answers)
        self._watch(called, function, neighbours[0], mechanism, answers[0])
        ratio = load_package("audits.attacks.likelihood").LikelihoodRatio(
            mechanisms=((called, mechanism),), first={called: answers[0]}, second={called: answers[1]}
        )
        case = AuditCase(
            name=called,
            view="output",
            description="a release of declared noise",
            neighbours=neighbours,
            relation=self.claim.neighbours,
            run=lambda data, rng, n_runs: {called: np.asarray(function(data, rng, n_runs))},
            score=ratio,
        )
        case = replace(case, weaker=partial(_with_less_noise, case, self.claim, mechanism, query))
        return self._audited(case, self.claim, certified_epsilon(certificate), (mechanism, function))

    def _require_near(self, name: str, mechanism: Mechanism, answers: tuple[Any, ...]) -> None:
        """Fail where the answers to a query lie further apart than its mechanism's sensitivity."""
        beyond = load_package("audits.checks.taped_moves").beyond_sensitivity(mechanism, answers)
        if beyond:
            self._tell(name, "violation", beyond, {})
            self._fail(f"VIOLATION  {name}\n{beyond}")

    def check_function(
        self,
        function: Callable[..., Any],
        neighbours: tuple[Any, Any] | None = None,
        *,
        data: Any = None,
        unit: str | None = None,
        score: Callable[[Any], Any] | None = None,
        arithmetic: Literal["exact", "floating"] = "exact",
        declared: Any = None,
        name: str = "",
    ) -> AuditResult:
        """Audit `function(data, rng, n_runs)`, which returns one output for each run, on two neighbouring data sets.

        Instead of `neighbours`, `data` gives one data set, which pairs of neighbours cover; all rows with one value of
        the column `unit` are one person's. The function is replayed on fixed streams first, as `audits.audit` does.
        A function of (data, rng) or of (data) alone is called once a run. A few calls before the audit probe whether
        the runs are independent draws from `rng`. With `arithmetic` "floating", last bits of the outputs that tell the
        data sets apart are a violation; "exact", the default, takes for granted that noise behaves as real-valued noise
        would, and names such bits in a remark.
        `declared` is a trade-off that the function is declared to keep, such as `audits.bounds.GaussianTradeOff(mu=1)`:
        as many further runs bet against that curve. Where delta times the runs exceeds one, further runs bet against
        the trade-off of the claim itself, as guesses see little there.
        """
        called, rng = name or _name_of(function), np.random.default_rng(self.settings.seed or 0)
        claim = implied_claim(self.claim) if isinstance(self.claim, MeasuredClaim) else self.claim
        how = load_package("audits").Settings(unit=unit, arithmetic=arithmetic)
        replayed = self._replayed(function, neighbours, data, rng=rng, how=how)
        pair, _ = replayed.attacked(claim, runs=self._runs, rng=rng, score=score)
        case = replayed.exactly_read(
            load_package("audits").function_case(
                function, pair, self.claim, score=score, name=called, arithmetic=arithmetic
            )
        )
        self._bet_on_curve(case, declared, (function, arithmetic))
        return self._audited(case, self.claim, float("inf"), (function, arithmetic), replayed=replayed)

    def _replayed(
        self, function: Callable[..., Any], neighbours: tuple[Any, Any] | None, data: Any, **keywords: Any
    ) -> Any:
        """Return the replay of a function on a pair of neighbours, or on pairs that cover one data set.

        Raises: ConfigError: both or none of them, or what `audits.audit` refuses.
        """
        if (neighbours is None) == (data is None):
            raise ConfigError(
                "dp.check_function: give two data sets, neighbours=(one, other), or one data set, data=..., that pairs "
                "of neighbours cover."
            )
        try:
            procedure = load_package("audits.procedures.replayed").replayed
            return procedure(function, neighbours, data, self.claim, runs=self._runs, **keywords)
        except ValueError as error:
            raise ConfigError(f"dp.check_function: {error}") from None

    def check_scores(
        self,
        in_scores: Any,
        out_scores: Any,
        *,
        sampling: Sampling,
        rule: Any = None,
        declared: Any = None,
        name: str = "scores",
    ) -> ScoresResult:
        """Audit membership-inference scores that the test computed; parameters are those of `audits.audit_scores`.

        The scores are one sample: no evidence is carried over to a later run.
        """
        if isinstance(self.claim, MeasuredClaim):
            raise ConfigError("dp.check_scores: scores are held against epsilon and delta; give these to the marker.")
        allotted = self._once(name)
        result: ScoresResult = load_package("audits").audit_scores(
            in_scores,
            out_scores,
            self.claim,
            sampling=sampling,
            rng=np.random.default_rng(allotted.seed),
            rule=rule,
            declared=declared,
            significance=allotted.significance,
        )
        facts = {"claimed": self.claim.epsilon, "lower": result.epsilon_lower}
        self._conclude(name, result.verdict, scores_meaning(result), allotted, result.counts.runs, facts)
        return result

    def check_training(
        self, loop: Callable[..., Any], features: Any, labels: Any, *, training: Any, name: str = "", **how: Any
    ) -> Any:
        """Audit a training loop by canaries, against its declared `training` and the marker's claim.

        `loop` and the keywords `outputs`, `width` and `canaries` are those of `audits.audit_training`, whose result is
        returned. Its checks share the significance of the test. A loop that adds more noise than it declares passes,
        with a remark; with `--dp-require declared` it fails. The run is one sample: no evidence is carried over to a
        later run.
        """
        called = name or _name_of(loop)
        allotted = self._once(called)
        rng = np.random.default_rng(allotted.seed)
        procedure = load_package("audits.training.training_audit")
        share = allotted.significance / procedure.MOST_CHECKS
        what = {"training": training, "claim": self.claim, "rng": rng, "significance": share}
        audit = procedure.audit_training(loop, features, labels, **what, **how)
        sentence = " ".join(finding.message for finding in audit.findings) or " ".join(c.sentence for c in audit.checks)
        departs = audit.verdict == "more_noise" and self.settings.require == "declared"
        facts = {"claimed": self.claim.epsilon}
        self._conclude(called, audit.verdict, sentence, allotted, 1, facts, word="FINDING" if departs else "")
        return audit

    def check_library(self, release: Any) -> AuditResult | None:
        """Certify a release of another library, as `dpaudit.adapters.adapt` returns it, and audit it at its own claim.

        Its awkward neighbours are audited as well: a violation there fails the test; that nothing was shown there does
        not. Returns the result of its own pair, or None for an object that runs nothing.
        """
        certificate = self._certified(
            release.name, certify(release.declaration, release.claim), ("certified", "stated")
        )
        if release.function is None or release.pair is None:
            return None
        what = (release.name, release.version, release.source)
        own, *awkward = release.cases()
        upper = certified_epsilon(certificate)
        result = self._audited(own, release.claim, upper, what, rare=True)
        decided = len(self.undecided)
        for case in awkward:
            self._audited(case, release.claim, upper, what, rare=True)
        del self.undecided[decided:]
        return result

    def check_config(self, path: str | Path) -> tuple[AuditResult, ...]:
        """Certify a configuration and audit every case of its algorithm; the claim is that of the file.

        A relative path is relative to the folder of the test.
        """
        configuration = read_config(self.folder / path)
        certificate = self._certified(configuration.path.name, certificate_of(configuration, None))
        subject = configuration.subject
        if not isinstance(subject, Configured) or subject.problem is None:
            return ()
        cases = cases_of(configuration, configuration.audit.view)
        what = (configuration.text, subject.algorithm)
        upper = certified_epsilon(certificate)
        return tuple(self._audited(case, certificate.claim, upper, what, rare=True) for _, case in cases)

    @cached_property
    def claim(self) -> Claim:
        """The claim of the marker `dp`."""
        if self.mark is None:
            raise ConfigError("Expected a claim: mark the test with @pytest.mark.dp(epsilon=..., neighbours=...).")
        if self.mark.args:
            raise ConfigError("Expected the claim of @pytest.mark.dp by keyword, as in dp(epsilon=1.0, ...).")
        keys = (*(entry.name for entry in fields(Claim)), *KINDS, "xi", "runs")
        for key in self.mark.kwargs:
            if key not in keys:
                raise ConfigError(f"@pytest.mark.dp: unknown key {key!r}{suggestion(key, keys)}")
        try:
            return Claim(**{key: value for key, value in self.mark.kwargs.items() if key != "runs"})
        except (TypeError, ValueError) as error:
            raise ConfigError(f"@pytest.mark.dp: {error}") from None

    @cached_property
    def _budget(self) -> SessionBudget | KeptBudget:
        """The budget that this test draws its shares from."""
        level, path = self.settings.significance, self.settings.evidence
        if path is None:
            return SessionBudget(significance=level, tests=1, seed=self.settings.seed)
        return KeptBudget(store=EvidenceStore(path=path, significance=level))

    @property
    def _runs(self) -> int:
        """The most runs of one audit: the marker's, or the profile's."""
        return int(self.settings.runs if self.mark is None else self.mark.kwargs.get("runs", self.settings.runs))

    def _certified(
        self, name: str, certificate: Certificate, passing: tuple[Verdict, ...] = ("certified",)
    ) -> Certificate:
        """Report a certificate and return it; fail unless its verdict is among those that pass.

        A library's own statement passes, is told as stated, and its code is audited against it.
        """
        tight, bound = certificate.tight, bound_name(certificate)
        if isinstance(tight, Ends):
            shown, facts = uppers_phrase(tight), dict[str, Any]()
        else:
            shown = f"epsilon at most {at_most(tight.epsilon.upper)}"
            facts = {"claimed": certificate.claim.epsilon, bound: tight.epsilon.upper}
        sentence = f"{shown} is {bound}, {claim_parameters(certificate.claim)} claimed"
        self._tell(name, certificate.verdict, sentence, facts | {"word": certificate_word(certificate)})
        if certificate.verdict not in passing:
            findings = [f"{finding.rule} {finding.message}" for finding in certificate.findings]
            reasons = "".join(f"\n  {line}" for line in dict.fromkeys((*certificate.reasons, *findings)))
            self._fail(f"{verdict_label(certificate.verdict)}  {name}\n{certificate_meaning(certificate)}{reasons}")
        return certificate

    def _watch(self, name: str, function: Callable[..., Any], data: Any, mechanism: Mechanism, answer: Any) -> None:
        """Compare the outputs with the declared density; fail if the noise differs from it."""
        audits = load_package("audits")
        sources = [digest_of_sources(mechanism), digest_of_sources(function)]
        identity = ["noise", repr(mechanism), np.asarray(answer).tobytes().hex(), repr(versions()), *sources]
        allotted = self._allotted(name, identity)
        before = {} if allotted.state is None else {"wealth": _wealth(allotted.state, self.settings)}

        def release(rng: Any, n_runs: int) -> Any:
            return function(data, rng, n_runs)

        watched = audits.watch_noise(
            release,
            mechanism,
            answer,
            runs=self._runs,
            rng=np.random.default_rng(allotted.seed),
            significance=allotted.significance,
            **before,
        )
        sentence = (
            f"The outputs do not follow {mechanism}: "
            f"{watched.departure or f'{watched.factor:g} times that noise explains them best'}."
            if watched.fallen
            else f"the outputs follow {mechanism.name} as declared"
        )
        verdict = "other noise" if watched.fallen else "noise"
        self._conclude(name, verdict, sentence, allotted, watched.runs, {}, evidence=list(watched.wealth))

    def _bet_on_curve(self, case: AuditCase, declared: Any, what: tuple[Any, ...]) -> None:
        """Bet against a declared trade-off, or against the claim's where delta is large for the runs; fail if it falls.

        A function that raises is left to the audit, which takes exceptions for outputs.
        """
        claim = self.claim
        bare = declared is None
        if bare and (isinstance(claim, MeasuredClaim) or claim.delta * self._runs <= 1):
            return
        private = load_package("audits.bounds").PrivateTradeOff.of
        trade_off = private(claim.epsilon, claim.delta) if bare else declared
        name = f"{case.name}, trade-off"
        sources = [f"{type(subject)} {digest_of_sources(subject)}" for subject in what]
        allotted = self._allotted(name, ["curve", self._address(case, claim), repr(trade_off), *sources])
        before, taught = _taught(allotted.state, self.settings)
        level = min(_NEARLY_ONE, allotted.significance * math.exp(before))
        try:
            rng = np.random.default_rng(allotted.seed)
            outcome = load_package("audits").audit_curve(
                case, trade_off, runs=self._runs, rng=rng, significance=level, taught=taught
            )
        except load_package("audits.outputs.calls").CallRaisedError:
            return
        against = f"the claim ({nearest(claim.epsilon)}, {claim.delta:g})" if bare else f"{trade_off}"
        verb = "refute" if outcome.refuted else "do not refute"
        sentence = f"The outputs {verb} {against}, read as a trade-off of both error rates."
        left = outcome.process.teaching()
        state = [before + outcome.log_wealth, left.runs, *left.false, *left.true, *left.shares]
        verdict = "violation" if outcome.refuted else "not_refuted"
        self._conclude(name, verdict, sentence, allotted, outcome.runs, {}, evidence=state)

    def _audited(
        self,
        case: AuditCase,
        claim: Claim,
        certified: float,
        what: tuple[Any, ...],
        *,
        rare: bool = False,
        replayed: Any = None,
    ) -> AuditResult:
        """Report an audit and return it; fail on a violation, and leave the test undecided if it is inconclusive.

        The findings of a function that was `replayed` stand beside those of its audit. A claim in its own measure is
        tested by runs of a fixed number: their evidence is not carried over.
        """
        if isinstance(claim, MeasuredClaim):
            return self._audited_in_measure(case, claim, replayed)
        allotted = self._allotted_to(case, claim, what)
        before, result, after = self._continued(case, claim, allotted, certified, rare=rare)
        result = result if replayed is None else replayed.applied(result, case.neighbours)
        violated, sentence = result.verdict == "violation", _meaning(result)
        if violated and replayed is not None and result.attack != "last bits":
            sentence = " ".join((sentence, *result.remarks))
        facts: dict[str, Any] = {"claimed": claim.epsilon, "lower": result.epsilon_lower}
        facts |= {"before": before.runs} if before.runs else {}
        if violated and result.bound == "replay":
            facts["probability"] = next(bound.significance for bound in result.bounds if bound.name == "replay")
        elif violated:
            facts["probability"] = self._probability(case, after, allotted, certified)
        power = " ".join((power_phrase(result), *result.remarks))
        passed = f"epsilon at least {at_least(result.epsilon_lower)}. {power}"
        told = {"passed": passed, "evidence": after.to_dict()}
        self._conclude(case.name, result.verdict, sentence, allotted, result.runs, facts, **told)
        return result

    def _continued(
        self, case: AuditCase, claim: Claim, allotted: Allotment, certified: float, *, rare: bool
    ) -> tuple[Any, AuditResult, Any]:
        """Return the evidence of earlier runs, the result of more runs of the audit, and all evidence then."""
        carried = load_package("audits.procedures.prior_evidence").PriorEvidence
        before = _evidence_of(carried, claim, allotted.state, self.settings)
        result, after = load_package("audits").continue_audit(
            case,
            before,
            runs=self._runs,
            rng=np.random.default_rng(allotted.seed),
            significance=allotted.significance,
            how=load_package("audits").Settings(certified=certified),
            first_block=max(8, self._runs // _BLOCKS) if rare else 8,
        )
        return before, result, after

    def _allotted_to(self, case: AuditCase, claim: Claim, what: tuple[Any, ...]) -> Allotment:
        """Return the share of an audit of `what`, with the evidence of earlier runs of the same case and code."""
        sources = (f"{type(subject)} {digest_of_sources(subject)}" for subject in what)
        texts = (text for text in what if isinstance(text, str))
        return self._allotted(case.name, [self._address(case, claim), *sources, *texts])

    def _audited_in_measure(self, case: AuditCase, claim: MeasuredClaim, replayed: Any) -> AuditResult:
        """Report an audit of a claim in rho, mu, Renyi divergences or points of a profile, and return it."""
        allotted = self._once(case.name)
        result: AuditResult = load_package("audits.procedures.fixed_size").audit_of_fixed_size(
            case,
            claim,
            runs=self._runs,
            rng=np.random.default_rng(allotted.seed),
            significance=allotted.significance,
        )
        result = result if replayed is None else replayed.applied(result, case.neighbours)
        sentence = " ".join((audit_meaning(result), *result.remarks))
        self._conclude(case.name, result.verdict, sentence, allotted, result.runs, {})
        return result

    def _once(self, name: str) -> Allotment:
        """Return the share of a check whose evidence is not carried over to a later run."""
        self._counted += 1
        budget = SessionBudget(significance=self.settings.significance, tests=1, seed=self.settings.seed)
        return budget.allot(self.test, name, self._counted, [repr(self.claim)])

    def _conclude(
        self,
        name: str,
        verdict: str,
        sentence: str,
        allotted: Allotment,
        runs: int,
        facts: dict[str, Any],
        *,
        word: str = "",
        passed: str = "",
        evidence: Any = None,
    ) -> None:
        """Report the outcome of a check; fail on a violation or a `word`, and leave the test undecided on doubt.

        `passed` is told in place of the sentence where nothing was found. `evidence` is for a later run; after a
        violation its sentence is kept instead.
        """
        violated = verdict in ("violation", "other noise")
        failing = word or ("VIOLATION" if violated else "")
        repeated = {"significance": allotted.significance, "seed": allotted.seed, "runs": runs}
        repeated |= {"probability": allotted.significance} if violated else {}
        if evidence is not None:
            self._budget.keep(allotted, None if violated else evidence, runs=runs, refuted=sentence if violated else "")
        self._tell(name, verdict, sentence if failing else passed or sentence, repeated | facts)
        if failing:
            level = f"correct code is flagged with probability at most {allotted.significance:.1g}"
            self._fail(f"{failing}  {name}\n{sentence}\n  {runs} runs, seed {allotted.seed}; {level}")
        if verdict == "inconclusive":
            self.undecided.append(f"{name}: {sentence}{self._more_runs(runs)}")

    def _more_runs(self, runs: int) -> str:
        """Return where the runs of an audit are set, as a sentence after another one, where more are at hand."""
        stated = self.mark is not None and "runs" in self.mark.kwargs
        larger = [f"--dp-profile {name} ({most:,})" for name, most in PROFILES.items() if most > runs]
        if not larger or runs < self._runs:
            return ""
        if stated:
            return f" The marker allows {runs:,} runs; leave runs out of it, or allow more."
        return f" Profile {self.settings.profile} has {runs:,} runs; more: {larger[0]}."

    @property
    def made_no_check(self) -> bool:
        """Whether the test called no check."""
        return not self._told

    def _address(self, case: AuditCase, claim: Claim) -> str:
        """Return the content address that carried evidence is kept under; without a file of evidence none is needed."""
        if self.settings.evidence is None:
            return ""
        return load_package("audits.experiment.identity").address_of(case, claim)

    def _probability(self, case: AuditCase, after: Any, allotted: Allotment, certified: float) -> float:
        """Return the smallest significance at which a refuted claim is refuted, after more runs of the same audit.

        The audit stopped as soon as it refuted the claim at its own level; a suite needs more than that. Wealth
        against the claim is an e-process: its inverse is such a significance at every moment. A violation of the
        certificate alone has no wealth against the claim, and stays at its own level.
        """
        if self.settings.evidence is not None:
            return allotted.significance
        _, further = load_package("audits").continue_audit(
            case,
            after,
            runs=self._runs,
            rng=np.random.default_rng([allotted.seed, 1]),
            significance=allotted.significance * _FOR_A_SUITE,
            how=load_package("audits").Settings(certified=certified),
        )
        best = max(after.against, further.against)
        return min(allotted.significance, math.exp(-best)) if best > 0 else allotted.significance

    def _allotted(self, name: str, identity: list[Any]) -> Allotment:
        """Return the share of the next check; fail at once if the same code was refuted before."""
        self._counted += 1
        allotted = self._budget.allot(self.test, name, self._counted, identity)
        if allotted.refuted:
            self._tell(name, "violation", f"known from an earlier run: {allotted.refuted}", {})
            self._fail(
                f"VIOLATION  {name}\n{allotted.refuted}\n  Found in an earlier run, and the code is the same since "
                f"(evidence in {self.settings.evidence})."
            )
        return allotted

    def _fail(self, text: str) -> NoReturn:
        """Fail the test; the text begins with the file and the line of the test."""
        self.failures.append(clean(f"{self.place}: {text}" if self.place else text))
        pytest.fail(self.failures[-1], pytrace=False)

    def _tell(self, name: str, verdict: str, sentence: str, facts: dict[str, Any]) -> None:
        """Pass one outcome to the reports of pytest, field by field; JUnit shows the fields as properties."""
        self._told += 1
        for key, value in {"check": name, "verdict": verdict, "says": sentence, **facts}.items():
            self.tell(f"dp.{self._told}.{key}", value)


def _answered(name: str, check: Callable[..., Any]) -> Callable[..., Any]:
    """Return a check whose wrong calls are answered in one sentence, which the plugin shows without a traceback."""
    parameters = signature(check)

    @wraps(check)
    def called(*args: Any, **given: Any) -> Any:
        try:
            parameters.bind(*args, **given)
        except TypeError as error:
            profiles = ", ".join(f"{profile} {runs:,}" for profile, runs in PROFILES.items())
            runs = f" Runs are set by the marker, dp(..., runs=N), or by --dp-profile ({profiles})." * ("runs" in given)
            takes = ", ".join(list(parameters.parameters)[1:])
            raise ConfigError(f"dp.{name}: {error}; it takes {takes}.{runs}") from None
        return check(*args, **given)

    return called


for _name, _check in list(vars(PrivacyChecks).items()):
    if _name == "certify" or _name.startswith("check_"):
        setattr(PrivacyChecks, _name, _answered(_name, _check))


def _with_less_noise(
    case: AuditCase, claim: Claim, mechanism: Mechanism, query: Callable[[Any], Any], epsilon: float
) -> AuditCase | None:
    """Return the release of `query` by the mechanism of its case with so much less noise that `epsilon` is proved.

    None where no such noise is known. The delta of a claim in its own measure is that of the epsilon it implies.
    """
    implied = implied_claim(claim) if isinstance(claim, MeasuredClaim) else claim
    try:
        less = mechanism.scaled(smallest_noise(mechanism, replace(implied, epsilon=epsilon)))
    except (DPAuditError, ValueError):
        return None

    def run(data: Any, rng: Any, n_runs: int) -> Any:
        answer = np.asarray(query(data))
        return {case.name: less.release(np.broadcast_to(answer, (n_runs, *answer.shape)), rng)}

    return replace(case, run=run, weaker=None)


def _name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function."""
    return getattr(function, "__name__", type(function).__name__)


def _meaning(result: AuditResult) -> str:
    """Return the meaning of an audit; one that stopped as soon as it refuted the claim has no larger bound."""
    claimed = nearest(result.claim.epsilon)
    if result.attack == "last bits" and result.exceeds_claim:
        return f"{audit_meaning(result)} {' '.join(result.remarks)} {_EXACT}"
    if result.exceeds_claim and at_least(result.epsilon_lower) == claimed:
        return f"The attack shows that epsilon is above the claimed {claimed}, and stopped there."
    return audit_meaning(result)


def _evidence_of(kind: Any, claim: Claim, state: Any, settings: Settings) -> Any:
    """Return the evidence of earlier runs, decoded."""
    try:
        return kind.nothing(claim) if state is None else kind.from_dict(claim, state)
    except ValueError as error:
        raise ConfigError(f"{settings.evidence}: {error} Move the file away to start anew.") from None


def _taught(state: Any, settings: Settings) -> tuple[float, Any]:
    """Return the log wealth of earlier nights against a trade-off, and what they taught."""
    if state is None:
        return 0.0, None
    before, runs, *numbers = _wealth(state, settings)
    each, kind = len(numbers) // 3, load_package("audits.bounds.curve_process").Taught
    try:
        taught = kind(
            runs=runs,
            false=tuple(numbers[:each]),
            true=tuple(numbers[each : 2 * each]),
            shares=tuple(numbers[2 * each :]),
        )
    except ValueError as error:
        raise ConfigError(f"{settings.evidence}: {error} Move the file away to start anew.") from None
    return before, taught


def _wealth(state: Any, settings: Settings) -> tuple[float, ...]:
    """Return the wealth of an earlier watch."""
    if not isinstance(state, list) or not all(type(value) in (int, float) for value in state):
        raise ConfigError(f"{settings.evidence}: expected wealth as a list of numbers. Move the file away.")
    return tuple(map(float, state))
