"""The glossary and the disclaimer of a report."""

DISCLAIMER = (
    "This report is evidence for an assessment. It is not a legal determination, and it gives no score: a privacy "
    "guarantee is its parameters together with its unit, its neighbours and its conditions."
)

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("Unit", "What one person contributes, and so what is protected. The same numbers for another unit mean less."),
    ("Neighbours", "Two data sets that differ in one unit. The guarantee compares what an observer sees on each."),
    ("Epsilon", "The logarithm of the factor by which the probability of any event may change. Smaller protects more."),
    (
        "Delta",
        "What that probability may change by beside the factor. "
        "It should be far below one divided by the number of users.",
    ),
    ("Declaration", "Which noisy answers an algorithm releases, and how they compose. The proof reads nothing else."),
    ("Bracket", "A lower and an upper bound, both proved. The true value of the declaration lies between them."),
    ("Published proof", "The proof that the paper prints, repeated rule by rule with the paper's own budgets."),
    ("Attacked", "A lower bound on epsilon measured by running the code on two neighbouring data sets."),
    ("Significance", "The probability that correct code would be flagged. It is not a degree of belief."),
    ("Power", "The smallest violation that an audit would have caught, and with which probability."),
    ("Ceiling", "The most that any attack could have shown with so many runs, had every guess been right."),
    (
        "Condition",
        "What a proof needs beside its arithmetic. Its mark names the evidence: a computation, a run, a person, none; "
        "or it says that a run saw the condition violated.",
    ),
    (
        "Odds",
        "The ratio of the probabilities of two guesses. Delta does not bound how often an output moves them by more "
        "than the factor of epsilon; the tail of the privacy loss does.",
    ),
    (
        "Certified",
        "Proved, with each condition proved, checked or confirmed. It is no certification in the sense of a law, such "
        "as Art. 42 of the GDPR; a setting of the report prints the word proved instead.",
    ),
    ("Stated", "The claim follows only from what somebody else states; nothing of that was proved or checked here."),
)
