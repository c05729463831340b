"""The fields of an OpenDP deployments-registry record that a certificate can fill.

A record also says who curates the data, for what use and on whose behalf; those fields are the author's, and this
module leaves them out. The result is plain data, ready for a YAML writer and for merging into the rest.
"""

from collections.abc import Iterator
from typing import Any

from dpaudit.accounting.additive_costs import cost_of, zcdp
from dpaudit.certification.certificate import Certificate
from dpaudit.checks import float_above
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.codec import encode
from dpaudit.model.declaration import PostProcess, Release, walk
from dpaudit.model.measures.claims import MeasuredClaim, RenyiClaim, RhoClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.wording.claims import measured_promise, of_model, of_neighbours
from dpaudit.wording.measures import uppers_phrase


def registry_fields(certificate: Certificate) -> dict[str, Any]:
    """Return the certified part of a registry record, nested as in the registry: `{"deployment": {...}}`.

    The keys are those of the registry's schema of 15 July 2026 (commit 3e9c812 of its data).

    Guarantee: every number is claimed and proved, or said to be stated by others and not verified.
    `rho` appears where the declared releases are proved to be
    concentrated and the claim is not pure. Mu, Renyi divergences, points of a profile, and rho with xi have no field:
    `privacy_parameters_details` states them in words. There is no field for an audit, and none is used for one.
    Raises: UnsupportedError: the claim is neither certified nor stated.
    """
    if certificate.verdict not in ("certified", "stated"):
        raise UnsupportedError(
            f"The claim is {certificate.verdict.replace('_', ' ')}, and a registry record states it as a fact; "
            "correct the claim or the noise first."
        )
    claim = certificate.claim
    model_name, model_description = of_model(claim.model)["registry"]
    return {
        "deployment": {
            "dp_variant": {"variant_name": _variant(claim)},
            "privacy_loss": {
                "privacy_unit": claim.unit,
                "privacy_unit_details": of_neighbours(claim.neighbours)["registry"],
                **_parameters(certificate),
                "privacy_parameters_details": _details(certificate),
            },
            "deployment_model": {"model_name": model_name, "model_name_details": model_description},
            "accounting": {
                "composition": "\n".join(_tree(certificate)),
                "post_processing": "\n".join(_steps(certificate)) or "None declared.",
            },
            "implementation": {"mechanisms": "\n".join(dict.fromkeys(_mechanisms(certificate)))},
        }
    }


def _variant(claim: Claim) -> str:
    """Return the registry's name of the measure of a claim; "Custom" where it names none."""
    match claim:
        case RhoClaim(xi=0.0):
            return "Zero-concentrated DP"
        case RenyiClaim():
            return "Renyi DP"
        case MeasuredClaim():
            return "Custom"
        case _:
            return "Approximate DP" if claim.delta else "Pure DP"


def _details(certificate: Certificate) -> str:
    """Return what is known of the numbers: a proved bound, or whose word they are; and the numbers without a field."""
    claim = certificate.claim
    said = f"{measured_promise(claim)} " if isinstance(claim, MeasuredClaim) and not _has_field(claim) else ""
    if certificate.trust is not None:
        return f"{said}Stated by {' and '.join(certificate.trust.sources)}; not verified by the author of this record."
    if isinstance(certificate.tight, Ends):
        return f"{said}Claimed; of the declared releases are proved: {uppers_phrase(certificate.tight)}."
    return (
        "Claimed; the declared releases are proved to cost at most epsilon "
        f"{certificate.tight.epsilon.upper:.6g} at this delta."
    )


def _parameters(certificate: Certificate) -> dict[str, Any]:
    """Return the table of epsilon and delta as claimed, and rho as proved; no table for numbers without a field."""
    claim = certificate.claim
    if isinstance(claim, RhoClaim) and _has_field(claim):
        return {"privacy_parameters": {"rho": claim.rho}}
    if isinstance(claim, MeasuredClaim):
        return {}
    parameters: dict[str, Any] = {"epsilon": encode(claim.epsilon)}
    if claim.delta:
        parameters["delta"] = claim.delta
        cost = cost_of(certificate.declaration, claim, zcdp)
        if cost is not None and not cost.mass and certificate.trust is None:
            parameters["rho"] = float_above(cost.amount)
    return {"privacy_parameters": parameters}


def _has_field(claim: Claim) -> bool:
    """Return whether the registry has fields for the numbers of a claim."""
    return not isinstance(claim, MeasuredClaim) or (isinstance(claim, RhoClaim) and not claim.xi)


def _tree(certificate: Certificate) -> Iterator[str]:
    """Yield one line a node, indented by its depth."""
    for path, node in walk(certificate.declaration):
        words = {name: value for name, value in encode(node).items() if not isinstance(value, dict | list)}
        kind = words.pop("node").replace("_", " ")
        details = ", ".join(f"{name} {value}" for name, value in words.items())
        yield f"{'  ' * path.count('.')}- {kind}{f': {details}' if details else ''}"


def _steps(certificate: Certificate) -> Iterator[str]:
    """Yield what is done to the outputs without looking at the data again."""
    for _, node in walk(certificate.declaration):
        if isinstance(node, PostProcess):
            yield from (f"- {step}" for step in node.steps)


def _mechanisms(certificate: Certificate) -> Iterator[str]:
    """Yield each release with its mechanism's parameters."""
    for _, node in walk(certificate.declaration):
        if isinstance(node, Release):
            fields = encode(node.mechanism)
            name = fields.pop("name").replace("_", " ")
            yield f"- {node.label}: {name}, {', '.join(f'{field} {value}' for field, value in fields.items())}"
