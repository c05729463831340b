"""The record for the public registry of deployments: certified fields and declared fields."""

import json
from collections.abc import Iterator
from typing import Any

from dpaudit.errors import UnsupportedError
from dpaudit.interchange.deployments_registry import registry_fields
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.escaping import clean

_KINDS = ("release_type", "data_source_type", "access_type")


def missing(report: ReportInputs) -> tuple[str, ...]:
    """Return what must be declared before a record can be made, in the deployment's own keys."""
    registry = report.deployment.registry
    administrative = (("registry.url_slug", "", registry.url_slug), ("registry.authors", "", registry.authors))
    return tuple(key for key, _, value in (*_basic(report), *administrative) if not value)


def registry_record(report: ReportInputs) -> dict[str, Any]:
    """Return a record of the highest tier that what is declared allows.

    Tier 3 needs actors, all notes, the sector, and the types of release, data source and access; else it is 2.

    A claim that others state has the status *stated*, their names as its source, and `verified: false`.
    Raises: UnsupportedError: the claim is neither certified nor stated, or something that every record needs was
        not declared.
    """
    absent = missing(report)
    if absent:
        raise UnsupportedError(f"A registry record needs {', '.join(absent)}; declare them in the deployment.")
    registry, deployment = report.deployment.registry, registry_fields(report.certificate)["deployment"]
    basic = {name: value for _, name, value in _basic(report)}
    deployment["basic"] = basic | _stated({"data_product_sector": registry.data_product_sector})
    deployment["privacy_loss"]["privacy_unit"] = report.unit
    deployment["deployment_model"] |= _use(report)
    full = _third_tier(report)
    if full is not None:
        for name, fields in full.items():
            deployment[name] = deployment.get(name, {}) | fields
    else:
        del deployment["accounting"], deployment["implementation"]
    deployment["administrative"] = _stated({"sources": registry.sources}) | {"registry_authors": list(registry.authors)}
    trust = report.certificate.trust
    on_trust = {} if trust is None else {"source": "; ".join(trust.sources), "verified": False}
    return {
        "url_slug": registry.url_slug,
        "status": registry.status if trust is None else "stated",
        **on_trust,
        "tier": 3 if full is not None else 2,
        "deployment": deployment,
    }


def registry_text(report: ReportInputs) -> str:
    """Return the record as YAML, or nothing where none can be made."""
    if report.certificate.verdict not in ("certified", "stated") or missing(report):
        return ""
    return "\n".join(_lines(registry_record(report), 0)) + "\n"


def _basic(report: ReportInputs) -> tuple[tuple[str, str, Any], ...]:
    """Return what every record says of the product, with the deployment's key before the record's."""
    registry, scope = report.deployment.registry, report.deployment.scope
    published = registry.publication_date.isoformat() if registry.publication_date else ""
    return (
        ("system.name", "name", report.system.name),
        ("registry.curators", "data_curators", list(registry.curators)),
        ("registry.description", "description", registry.description),
        ("scope.purpose", "intended_use", scope.purpose),
        ("registry.data_product_type", "data_product_type", registry.data_product_type),
        ("scope.region", "data_product_region", scope.region),
        ("registry.publication_date", "publication_date", published),
    )


def _use(report: ReportInputs) -> dict[str, str]:
    """Return what is declared about releases, source and access."""
    registry = report.deployment.registry
    return _stated({name: getattr(registry, name) for kind in _KINDS for name in (kind, f"{kind}_details")})


def _stated(fields: dict[str, str]) -> dict[str, str]:
    """Return the fields that are not empty."""
    return {name: text for name, text in fields.items() if text}


def _third_tier(report: ReportInputs) -> dict[str, dict[str, Any]] | None:
    """Return the fields of the third tier, or None where one of them was not declared."""
    deployment = report.deployment
    notes = "\n".join(f"- {m.label}: {m.sensitivity_because}" for m in deployment.mechanisms if m.sensitivity_because)
    use, registry = _use(report), deployment.registry
    use_declared = all(kind in use for kind in _KINDS)
    told = deployment.scope.data_product and deployment.contributions.unprotected and deployment.actors and notes
    if not (use_declared and told and registry.data_product_sector):
        return None
    actors = (f"- {a.name}: sees {a.sees}; trusted for {a.trusted_for or 'nothing'}" for a in deployment.actors)
    return {
        "dp_variant": {
            "data_domain": deployment.scope.data_product,
            "unprotected_quantities": "; ".join(deployment.contributions.unprotected),
        },
        "deployment_model": {"actors": "\n".join(actors)},
        "implementation": {"justification": notes}
        | _stated({"preprocessing_and_hyperparameter_tuning": registry.preprocessing_and_hyperparameter_tuning}),
    }


def _lines(data: dict[str, Any], depth: int) -> Iterator[str]:
    """Yield a table as YAML: texts quoted as in JSON, several lines as a block."""
    space = "  " * depth
    for key, value in data.items():
        if isinstance(value, dict):
            yield f"{space}{key}:"
            yield from _lines(value, depth + 1)
        elif isinstance(value, list):
            yield f"{space}{key}:"
            yield from (f"{space}  - {_scalar(item)}" for item in value)
        elif isinstance(value, str) and "\n" in value:
            yield f"{space}{key}: |2-"
            yield from (f"{space}  {line}" for line in clean(value).split("\n"))
        else:
            yield f"{space}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """Return one value: floats with a point, so that old readers see a number too."""
    if isinstance(value, float):
        text = repr(value)
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    return json.dumps(clean(value) if isinstance(value, str) else value, ensure_ascii=False)
