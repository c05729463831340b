"""The part of the SARIF 2.1.0 schema that this project writes, as strict as the standard and without its options.

The official schema is not distributed with any package that the tests install. Names, types, enumerations and
requirements are those of the OASIS standard (SARIF 2.1.0, sections 3.13 to 3.52); properties of the standard that
dpaudit does not write are left out, and nothing else is allowed.
"""

from typing import Any


def strict(required: list[Any], **properties: dict[str, Any]) -> dict[str, Any]:
    """Return an object that has these properties and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TEXT = {"type": "string", "minLength": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = strict(["text"], text=TEXT)
RULE = strict(
    ["id"],
    id=TEXT,
    name={"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9]*$"},
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=strict([], level=LEVEL),
    properties=strict([], tags={"type": "array", "items": TEXT, "uniqueItems": True}),
)
LOCATION = strict(
    ["physicalLocation"],
    physicalLocation=strict(
        ["artifactLocation"],
        artifactLocation=strict(
            ["uri"],
            uri={"type": "string", "format": "uri-reference", "pattern": r"^[^\s\\<>\"{}|^`]+$"},
            uriBaseId=TEXT,
        ),
        region=strict(["startLine"], startLine={"type": "integer", "minimum": 1}),
    ),
    logicalLocations={"type": "array", "uniqueItems": True, "items": strict([], fullyQualifiedName=TEXT)},
)
SUPPRESSION = strict(
    ["kind"],
    kind={"enum": ["inSource", "external"]},
    status={"enum": ["accepted", "underReview", "rejected"]},
    justification={"type": "string"},
)
RESULT = strict(
    ["message", "ruleId", "locations", "partialFingerprints"],
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "minItems": 1, "maxItems": 1, "items": LOCATION},
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
    suppressions={"type": "array", "items": SUPPRESSION, "uniqueItems": True},
)
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **strict(
        ["version", "runs", "$schema"],
        **{
            "$schema": {"type": "string", "format": "uri", "pattern": "sarif-schema-2\\.1\\.0\\.json$"},
            "version": {"const": "2.1.0"},
        },
        runs={
            "type": "array",
            "minItems": 1,
            "items": strict(
                ["tool", "results"],
                tool=strict(
                    ["driver"],
                    driver=strict(
                        ["name"], name=TEXT, version=TEXT, rules={"type": "array", "items": RULE, "uniqueItems": True}
                    ),
                ),
                automationDetails=strict([], id=TEXT),
                columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                invocations={
                    "type": "array",
                    "uniqueItems": True,
                    "items": strict(
                        ["executionSuccessful"], executionSuccessful={"type": "boolean"}, exitCode={"type": "integer"}
                    ),
                },
                results={"type": "array", "items": RESULT},
            ),
        },
    ),
}
