"""Registry records of earlier forms, read into the present one.

The registry renamed groups and keys in July 2026; the last of the commits is 3e9c812 of 15 July. A record that was
written before then is no record of the present schema until its keys are renamed.
"""

from collections.abc import Mapping
from typing import Any

_GROUPS = {
    "product": "basic",
    "dp_flavor": "dp_variant",
    "model": "deployment_model",
    "resources": "administrative",
}
_KEYS = {
    ("dp_variant", "name"): "variant_name",
    ("deployment_model", "name"): "model_name",
    ("implementation", "pre_processing_eda_hyperparameter_tuning"): "preprocessing_and_hyperparameter_tuning",
    **{
        (group, f"{key}_description"): f"{key}_details"
        for group, key in (
            ("privacy_loss", "privacy_unit"),
            ("privacy_loss", "privacy_parameters"),
            ("deployment_model", "model_name"),
            ("deployment_model", "release_type"),
            ("deployment_model", "data_source_type"),
            ("deployment_model", "access_type"),
        )
    },
}
_DELETED = ("input_metric", "bound_on_input_distance", "output_measure", "bound_on_output_distance")


def present_form(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a registry record with the keys of the present form; a record of the present form comes back equal.

    Fields that the registry deleted are left out.
    Raises: ValueError: a key stands there in its earlier and in its present form.

    >>> present_form({"deployment": {"product": {"name": "x"}, "resources": {"notes": "y"}}})
    {'deployment': {'basic': {'name': 'x'}, 'administrative': {'notes': 'y'}}}
    """
    groups = record.get("deployment")
    if not isinstance(groups, Mapping):
        return dict(record)
    deployment = _renamed(groups, _GROUPS)
    for group, fields in deployment.items():
        if isinstance(fields, Mapping):
            kept = {key: value for key, value in fields.items() if group != "dp_variant" or key not in _DELETED}
            deployment[group] = _renamed(kept, {old: new for (home, old), new in _KEYS.items() if home == group})
    return {**record, "deployment": deployment}


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return fields under their present names, in their order."""
    for old, new in names.items():
        if old in fields and new in fields:
            raise ValueError(f"Expected {old!r} or {new!r}, which is its present name; both are there.")
    return {names.get(key, key): value for key, value in fields.items()}
