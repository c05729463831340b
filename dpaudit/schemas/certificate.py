"""The certificate."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from dpaudit.checks import Count, Natural, NonNegativeOrInfinite, Share
from dpaudit.json_schema import Keywords, Text
from dpaudit.model.bracket import Effort
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Status
from dpaudit.model.condition_kinds import ConditionKind
from dpaudit.model.declaration import Declaration
from dpaudit.model.readings import Verdict
from dpaudit.model.witness import Attainment, MoveName
from dpaudit.schemas.values import AnyClaim, Digest, Finding, MeasuredEnds, Path, Tight


class Problem(TypedDict):
    """Where the paper's own argument fails."""

    node: str
    rule: str
    message: str


class Argument(TypedDict):
    """What the paper's own rules conclude."""

    epsilon: NonNegativeOrInfinite
    delta: NonNegativeOrInfinite
    valid: bool
    problems: list[Problem]


class Factor(TypedDict):
    """One factor of the slack."""

    name: str
    factor: NonNegativeOrInfinite
    noise_factor: NonNegativeOrInfinite
    sentence: str


class Slack(TypedDict):
    """Claimed over proved epsilon, declared over needed noise."""

    epsilon_ratio: NonNegativeOrInfinite
    noise_ratio: NonNegativeOrInfinite
    factors: list[Factor]


class Entry(TypedDict):
    """The part that the record enters at one node: of `parallel` counted from 0, of `cells` 0 inside and 1 touched."""

    path: Path
    part: Natural


class Witness(TypedDict):
    """A pair of neighbours that a lower end belongs to."""

    labels: Annotated[
        list[str],
        "The releases that the pair moves by their whole stated sensitivities, each copy of them; all releases where "
        "it is empty.",
    ]
    plan: Annotated[list[Entry], "The part that the record enters at each node with several."]
    attained: Attainment


class DerivationRow(TypedDict):
    """One step of the proof."""

    id: Annotated[Natural, "The place of the row, from 0."]
    rule: Annotated[str, "The rule of docs/theory/rules.md that is applied."]
    path: Path
    move: MoveName
    records: Annotated[Count, "How many records of one person make the move together."]
    parameters: Annotated[dict[str, float], "The numbers of the node that the rule reads."]
    premises: Annotated[list[Natural], "The ids of earlier rows, in the order in which the rule demands them."]
    conclusion: NotRequired[
        Annotated[
            dict[str, float],
            "The loss of a leaf from above, where it is a mu, a shift, or an epsilon and a delta.",
        ]
    ]


class Condition(TypedDict):
    """A side-condition of the proof."""

    kind: ConditionKind
    about: Annotated[list[str], "Labels, keys or names: with the kind they identify the condition."]
    text: str
    status: Status


class Trust(TypedDict):
    """What the claim takes on trust; there if and only if the verdict is stated."""

    sources: Annotated[list[str], Keywords({"minItems": 1})]
    proved: NotRequired[NonNegativeOrInfinite]
    share: Share


class CertificateDocument(TypedDict):
    """The verdict on a privacy claim for a declaration, with the evidence for it."""

    schema: Literal["urn:dpaudit:schema:certificate:7"]
    verdict: Verdict
    reasons: list[str]
    claim: AnyClaim
    tight: Tight | MeasuredEnds
    printed: NotRequired[Annotated[Argument, "What the paper's own rules conclude; absent where none are declared."]]
    slack: NotRequired[
        Annotated[Slack, "Claimed over proved epsilon, declared over needed noise; absent where not computed."]
    ]
    witnesses: Annotated[
        list[Witness],
        "The pairs of neighbours that the lower ends belong to, and what another pair is only assumed to attain.",
    ]
    derivation: Annotated[
        list[DerivationRow],
        "The proof of the ends, premises before what is concluded from them, so that the last row is the whole. Empty "
        "where it has more than 20000 rows.",
    ]
    conditions: list[Condition]
    findings: list[Finding]
    declaration: Declaration
    engines: list[str]
    effort: Annotated[Effort, "How long the engines were given; the brackets of a quick certificate may be wider."]
    versions: dict[str, str]
    source_digest: Annotated[str, "Digest of the source that the certificate describes."]
    digest: Annotated[
        Digest, "SHA-256 of the certificate without this field, in canonical JSON: sorted keys, no spaces."
    ]
    trust: NotRequired[Trust]


class StatedLosses(TypedDict):
    """The losses that a plug-in states of itself: of one release from above, and of some pair."""

    upper: list[dict[str, Any]]
    lower: list[dict[str, Any]]


class AnyMechanism(TypedDict):
    """A mechanism by the name of its file, with its own fields; plug-ins bring theirs."""

    name: Text
    neighbours: NotRequired[Neighbours]
    stated: NotRequired[StatedLosses]
