"""Verdict and reasons, derived again from the brackets, the model, the conditions and the findings."""

from dpaudit.verifier.folding import MODELS, model
from dpaudit.verifier.losses import Table, require
from dpaudit.verifier.shape import TABLES


def verdict_complaints(data: Table) -> list[str]:
    """Return where verdict and reasons are not those that follow."""
    texts: dict[str, str] = TABLES["reasons"]
    claim = data["claim"] | {name: float(data["claim"][name]) for name in ("epsilon", "delta")}
    low, high = ({n: float(data["tight"][n][side]) for n in ("epsilon", "delta")} for side in ("lower", "upper"))
    require(all(0 <= low[name] <= high[name] for name in low), "a bracket is empty or negative")
    require(
        high["delta"] <= 1 and len(set(data["engines"])) == len(data["engines"]), "a delta above 1, or an engine twice"
    )
    require(
        claim["model"] != "joint" or claim["neighbours"] == "replace_one", "a joint claim is about replaced records"
    )
    refuted, met = any(low[n] > claim[n] for n in low), any(high[n] <= claim[n] for n in high)
    reasons = [texts["refuted" if refuted else "unproved"].format(low=low, high=high, claim=claim)]
    reasons = reasons if refuted or not met else []
    held = model(data["declaration"])
    if not _covers(held, claim):
        reasons.append(texts["model"].format(held=held, claim=claim))
    reasons += [texts["violated"].format(**row) for row in data["conditions"] if row["status"] == "violated"]
    reasons += [texts["disagrees"].format(**row) for row in data["findings"]]
    verdict = "refuted" if refuted else "not_proved" if reasons else "certified"
    reasons = reasons or [texts["certified"].format(high=high, claim=claim)]
    stated = [(data["verdict"], verdict), *zip(data["reasons"], reasons, strict=False)]
    wrong = [f"{said!r} does not follow, but {follows!r} does" for said, follows in stated if said != follows]
    return wrong + ([f"{len(reasons)} reasons follow"] if len(reasons) != len(data["reasons"]) else [])


def _covers(held: str, claim: Table) -> bool:
    """Return whether what protects one view protects the claimed one; a local guarantee replaces one record."""
    relation = held != "local" or claim["model"] == "local" or claim["neighbours"] == "replace_one"
    return relation and MODELS.index(held) <= MODELS.index(claim["model"])
