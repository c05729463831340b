"""The sentences of a report that hold computed numbers: a template each, filled in one place."""

SENTENCES: dict[str, str] = {
    "claim": "The claim was that {parameters} for {unit}: {outcome}",
    "proved": (
        "What is proved of the declaration is epsilon of at most {epsilon}{provided}: a factor of at most {factor} in "
        "any probability{beside}."
    ),
    "reaches": (
        "The declaration provably reaches epsilon of at least {epsilon}: a factor of at least {factor} in some "
        "probability{beside}."
    ),
    "open": "The true epsilon of the declaration lies between {lower} and {upper}{provided}.",
    "no_proof": "No finite epsilon is proved at this delta{known}.",
    "stated_claim": "The claim is {parameters}; the unit is {unit}. It follows only from what {sources} stated.",
    "stated": (
        "At that word, epsilon is at most {epsilon} at delta {delta}; nothing of that word was proved or checked here."
    ),
    "proved_in_measure": "What is proved of the declaration{provided}: {ends}.",
    "reached_in_measure": "What the declaration provably reaches: {ends}.",
    "stated_in_measure": "At that word: {ends}; nothing of that word was proved or checked here.",
    "at_delta": (
        "At delta {delta} epsilon is at most {epsilon}: a factor of at most {factor} in any probability{beside}."
    ),
    "no_proof_of_code": "Nothing is proved of the code: {why}.",
    "never": (
        "If the claim holds, nothing that {observer} may see moves the odds of one guess about {unit} against another "
        "by more than a factor of {factor}."
    ),
    "claim_tail": (
        "The claim alone says of odds: what {observer} may see moves the odds of one guess about {unit} against "
        "another by more than a factor of {factor} with probability at most {probability}."
    ),
    "tail": (
        "As proved{provided}, what {observer} may see moves these odds by more than a factor of {factor} with "
        "probability at most {probability}, and by more than a factor of {rarely} with probability at most {delta}."
    ),
    "tail_never": (
        "As proved{provided}, nothing that {observer} may see moves these odds by more than a factor of {factor}."
    ),
    "tail_of_releases": (
        "For somebody who sees the noisy release itself: by more than a factor of {factor} with probability at most "
        "{probability}, and by more than a factor of {rarely} with probability at most {delta}."
    ),
    "person": (
        "One person contributes up to {units} units. All of them together are protected at epsilon of at most "
        "{epsilon}, delta {delta}{provided}."
    ),
    "units_as_users": (
        " Each of the {units} units counts as a user there: a condition that a user appears once is about one unit."
    ),
    "person_by_claim": (
        "One person contributes up to {units} units. No rule of the accountant covers them together; the claim alone "
        "gives {guarantee}."
    ),
    "one_unit": "One person contributes one unit.",
    "share": "The claim allows about {share} of {units} units to leak completely; it should be far below 1.",
    "large_epsilon": (
        "The claim allows a probability to change by a factor of {factor}, and an attacker an advantage of {advantage} "
        "out of 1. No threshold is agreed upon; whether that is small enough is a decision."
    ),
    "mu": "mu = {mu}: one Gaussian release of noise multiplier {multiplier} has this epsilon at delta {delta}",
    "violation": (
        "The audit '{name}' measured {shown}, more than {against}{provided}; correct code would "
        "be flagged with probability {significance} or less."
    ),
}
"""Each sentence by its name; a number is put in as text, rounded in the direction of its words."""


def say(name: str, /, **words: str) -> str:
    """Return one sentence with its numbers and names put in.

    >>> say("share", units="500", share="0.005")
    'The claim allows about 0.005 of 500 units to leak completely; it should be far below 1.'
    """
    return SENTENCES[name].format(**words)
