"""A plan that binds an audit before it runs: what is attacked, against which claim, how, and with which seeds.

    plan = AuditPlan.of(((0, case),), claim, runs=20_000, significance=0.01, seed=seed)      before the run
    result = plan.followed((audit(...),), now)                                               after it

Who publishes the digest of a plan can change nothing in it afterwards. Seeds are committed to, not shown: their
commitments are opened by the results, which state the seed.
"""

import hashlib
import json
import math
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.arguments import settled
from dpaudit.checks import Count, Natural, OpenProbability, settle
from dpaudit.configuration.files import object_in, stated_schema
from dpaudit.configuration.tables import read_object
from dpaudit.errors import CertificateError, Fault
from dpaudit.json_schema import Digest
from dpaudit.model.audit_result import AuditMethod, AuditResult, FollowedPlan
from dpaudit.model.case import AuditCase
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Claim
from dpaudit.model.codec import encode
from dpaudit.runtime.plugins import load_package

SCHEMA = "urn:dpaudit:schema:plan:2"
_OTHER_CONFIGURATION = "the configuration was changed after the plan"
_SALT_BYTES = 16
_CLOSE = 1e-12


@settled
class PlannedAudit:
    """One audit of a plan: its case, and how it is audited, with pair and code by content address.

    `significance` is the part of this audit in that of the list; `seed` is the commitment to seed and number.
    Raises: ValueError: an address or a commitment that is no SHA-256, or a number out of its range.
    """

    number: Natural
    name: str
    view: str
    method: AuditMethod
    runs: Count
    significance: OpenProbability
    seed: Digest


@settled
class AuditPlan:
    """What a list of audits will do. `configuration` is the SHA-256 of the configuration's text, empty for none.

    Guarantee: two plans have one digest only if all their fields agree. A plan says nothing of what came out.
    Raises: ValueError: two audits with one number, or parts of the significance that add up to more than all of it.

    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> plan = AuditPlan(claim=claim, configuration="", significance=0.01, salt="00", audits=())
    >>> AuditPlan.from_json(plan.to_json()) == plan, len(plan.digest)
    (True, 64)
    """

    claim: Claim
    configuration: str
    significance: OpenProbability
    salt: str
    audits: tuple[PlannedAudit, ...]

    def __post_init__(self) -> None:
        settle(self)
        numbers = [audit.number for audit in self.audits]
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"Expected audits to have a number each, got {numbers}.")
        spent = sum(audit.significance for audit in self.audits)
        if spent > self.significance * (1 + _CLOSE):
            raise ValueError(f"Expected the audits to share significance={self.significance}; they take {spent:.6g}.")

    @classmethod
    def of(
        cls,
        cases: Iterable[tuple[int, AuditCase]],
        claim: Claim,
        *,
        runs: int,
        significance: float,
        seed: int,
        sharing: int | None = None,
        configuration: str = "",
        salt: str | None = None,
    ) -> "AuditPlan":
        """Return the plan of one audit for each numbered case; each has an equal part of the significance.

        `sharing` is among how many audits the significance is divided, as many as there are cases where None. A few
        runs on fixed streams give each case its content address. `salt` is drawn where None.
        """
        numbered, used = tuple(cases), secrets.token_hex(_SALT_BYTES) if salt is None else salt
        part = significance / max(1, len(numbered) if sharing is None else sharing)
        audits = tuple(
            PlannedAudit(
                number=number,
                name=case.name,
                view=case.view,
                method=_method_of(case, claim),
                runs=runs,
                significance=part,
                seed=commitment(used, seed, number),
            )
            for number, case in numbered
        )
        return cls(claim=claim, configuration=configuration, significance=significance, salt=used, audits=audits)

    @property
    def digest(self) -> str:
        """The SHA-256 of the plan in canonical JSON, to be published before the run."""
        return digest_of(self._content())

    @property
    def runs(self) -> int | None:
        """The number of runs of each audit, None for a plan of no audit."""
        return self.audits[0].runs if self.audits else None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, with its digest."""
        return self._content() | {"digest": self.digest}

    def to_json(self) -> str:
        """Return the plan as JSON text, indented, with sorted keys."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "AuditPlan":
        """Return the plan that `text` spells.

        Raises: CertificateError: not JSON, no plan, or a content that has another digest than the plan states.
        """
        return cls.from_dict(object_in(text))

    @classmethod
    def from_dict(cls, data: Any) -> "AuditPlan":
        """Return the plan that plain data spell; raises as `from_json`."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            raise CertificateError(f"This is no audit plan ({SCHEMA}), as `dpaudit audit --plan FILE` writes it.")
        try:
            digest = digest_of(dict(data))
            if digest != data.get("digest"):
                raise CertificateError(
                    f"The plan was changed after its digest: its content has the digest {digest}, and it states "
                    f"{str(data.get('digest'))!r:.80}. Audit by the plan that was published, or write a new one."
                )
            plan = read_object(cls, {k: v for k, v in data.items() if k not in ("schema", "digest")})
        except (Fault, RecursionError, TypeError) as error:
            raise CertificateError(f"This is no audit plan: {error}") from None
        if plan.digest != data["digest"]:
            raise CertificateError("This is no audit plan: a number in it is not in its shortest form.")
        return plan

    def followed(self, results: Iterable[AuditResult], now: "AuditPlan") -> tuple[AuditResult, ...]:
        """Return the results with the plan's digest, what they ran, and everything in which they depart from the plan.

        `now` is the plan of what really ran, made of the same cases with the salt of this one, an audit a result.
        Raises: ValueError: another number of audits than of results.
        """
        ran = [
            (result, FollowedPlan(digest=self.digest, method=audit.method))
            for result, audit in zip(results, now.audits, strict=True)
        ]
        listed, missing = self.departures([replace(result, plan=plan).to_dict() for result, plan in ran])
        common = self._changed(now)
        return tuple(
            replace(result, plan=replace(plan, departures=tuple(dict.fromkeys((*common, *own, *missing)))))
            for (result, plan), own in zip(ran, listed, strict=True)
        )

    def departures(self, results: list[Mapping[str, Any]]) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
        """Return in what each result, as plain data, departs from the plan, and which audits are missing.

        Audits are known by name and view; those of one name are taken in their order.
        """
        left = list(self.audits)
        listed: list[tuple[str, ...]] = []
        for result in results:
            same = [audit for audit in left if (audit.name, audit.view) == (result.get("name"), result.get("view"))]
            if same:
                left.remove(same[0])
            own = self._unlike(same[0], result) if same else ("is not planned",)
            listed.append(tuple(f"audit {result.get('name')!r}: {line}" for line in own))
        return listed, tuple(f"audit {audit.name!r} was planned and is missing" for audit in left)

    def _unlike(self, planned: PlannedAudit, result: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what a result says of itself that the plan says otherwise."""
        lines = _differing(planned.method, result["plan"]["method"])
        claim = result.get("against", {}).get("claim")
        if claim != encode(self.claim):
            lines.append(f"the claim is {claim}, planned {encode(self.claim)}")
        if result.get("runs") != planned.runs:
            lines.append(f"runs are {result.get('runs')}, planned {planned.runs}")
        if not math.isclose(result.get("significance", 1.0), planned.significance, rel_tol=_CLOSE):
            lines.append(f"the significance is {result.get('significance')}, planned {planned.significance}")
        if result.get("bound") not in planned.method.bounds:
            lines.append(f"the verdict rests on {result.get('bound')!r}, planned {', '.join(planned.method.bounds)}")
        seed = result.get("seed")
        if type(seed) is not int or commitment(self.salt, seed, planned.number) != planned.seed:
            lines.append("the seed is another one than was committed to")
        return tuple(lines)

    def _changed(self, now: "AuditPlan") -> tuple[str, ...]:
        """Return in what the plan of what really ran differs, beside what results say of themselves."""
        lines = []
        if now.configuration != self.configuration:
            lines.append(_OTHER_CONFIGURATION)
        if now.significance != self.significance:
            lines.append(f"the significance of all audits is {now.significance}, planned {self.significance}")
        return tuple(lines)

    def _content(self) -> dict[str, Any]:
        """Return the plan as plain data, without its digest."""
        data: dict[str, Any] = encode(self)
        return data | {"schema": SCHEMA}


def is_plan(text: str) -> bool:
    """Return whether a text says that it is a plan.

    >>> is_plan("{}")
    False
    """
    return stated_schema(text).startswith("urn:dpaudit:schema:plan:")


def digest_of_text(text: str) -> str:
    """Return the SHA-256 by which a plan names the text of its configuration."""
    return hashlib.sha256(text.encode()).hexdigest()


def commitment(salt: str, seed: int, number: int) -> str:
    """Return the SHA-256 that commits to the seed of audit `number`; hidden as well as the seed is drawn.

    >>> commitment("00", 7, 0) == commitment("00", 7, 1)
    False
    """
    return hashlib.sha256(f"dpaudit seed\n{salt}\n{seed}\n{number}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedPlan:
    """What a received report says of its plan: complaints, departures that it lists itself, and notes."""

    complaints: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def received_plan(plan: Any, audits: list[Any], config: Any = "") -> ReceivedPlan:
    """Return what a received report, as plain data, says of the plan of its audits; `config` is its configuration.

    Guarantee: without a complaint the plan has the digest that it states, every audit names it, and every departure
    that the audits' own data and the configuration show is listed.
    """
    results = [audit if isinstance(audit, Mapping) else {} for audit in audits]
    if plan is None:
        cited = any(result.get("plan") for result in results)
        return ReceivedPlan(complaints=("an audit names a plan, and the report holds none",) if cited else ())
    try:
        planned = AuditPlan.from_dict(plan)
    except CertificateError as error:
        return ReceivedPlan(complaints=(f"the plan of the report is not valid: {error}",))
    complaints, said = list[str](), dict[str, None]()
    try:
        listed, missing = planned.departures(results)
        if planned.configuration and planned.configuration != digest_of_text(config):
            missing = (*missing, _OTHER_CONFIGURATION)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        return ReceivedPlan(complaints=(f"an audit of the report cannot be compared with its plan: {error}",))
    for audit, own in zip(results, listed, strict=True):
        stated_plan = audit["plan"] if isinstance(audit.get("plan"), Mapping) else {}
        if stated_plan.get("digest") != planned.digest:
            complaints.append(f"audit {audit.get('name')!r} names another plan, or none")
        lines = stated_plan.get("departures", ())
        stated = [str(line) for line in lines] if isinstance(lines, list | tuple) else []
        said.update(dict.fromkeys(stated))
        complaints += [f"a departure from the plan is not listed: {line}" for line in own if line not in stated]
    complaints += [f"a departure from the plan is not listed: {line}" for line in missing if line not in said]
    note = f"The audits name the plan with the digest {planned.digest}; compare it with the one that was published."
    return ReceivedPlan(complaints=tuple(complaints), departures=tuple(said), notes=(note,))


def _method_of(case: AuditCase, claim: Claim) -> AuditMethod:
    """Return how a case is audited; a few runs on fixed streams give its content address."""
    learned = case.score is None
    attack = "learned on runs that are not counted" if learned else "the case's score"
    chosen = ("rare_values", "low_bits") if learned else ("all_fields",)
    bounds = ("guessing", *chosen, *(("gaussian",) if case.gaussian else ()))
    measured = ("rank sums", "one event")
    address = load_package("audits.experiment.identity").address_of(case, claim, attack, bounds, measured)
    return AuditMethod(address=address, attack=attack, bounds=bounds, measured=measured)


def _differing(planned: AuditMethod, ran: Mapping[str, Any]) -> list[str]:
    """Return in what the method of a result, as plain data, is another one than was planned."""
    lines = []
    if ran.get("address") != planned.address:
        lines.append("the content address of code, pair of data sets, attack and versions is another one than planned")
    told: dict[str, Any] = {"attack": planned.attack, "bounds": [*planned.bounds], "measured": [*planned.measured]}
    return lines + [f"{key}: {ran.get(key)}, planned {value}" for key, value in told.items() if ran.get(key) != value]
