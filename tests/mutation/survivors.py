"""Mutants that nothing here catches, each with the reason."""

SURVIVORS: dict[str, str] = {
    "X8": "the checker asks for conditions by the words that a tree contains; a cell array contains none.",
}
