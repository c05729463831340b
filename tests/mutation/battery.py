"""All checks by name: what has to catch the mutants."""

from collections.abc import Callable

from tests.mutation import laws, values

CHECKS: dict[str, Callable[[], None]] = {
    check.__name__.replace("_", " "): check
    for check in (
        laws.impossible_objects_cannot_exist,
        laws.contradictions_are_reported,
        laws.repeat_equals_copies,
        laws.order_does_not_matter,
        laws.integers_and_floats_agree,
        laws.groups_move_every_record,
        laws.views_are_no_stronger_than_their_weakest_part,
        laws.every_node_brings_its_conditions,
        laws.traces_are_admitted_or_not,
        laws.verdicts_follow_from_the_evidence,
        laws.certificates_return_and_tampering_shows,
        laws.events_return,
        values.rules_conclude_what_their_theorems_say,
        values.rules_know_their_premises,
        values.printed_arguments_are_replayed,
        values.known_values,
        values.trees_are_counted_node_by_node,
        values.losses_are_those_of_the_densities,
        values.gaussian_distances_are_those_of_the_densities,
        values.samples_have_the_declared_law,
        values.masses_at_infinity_are_kept,
        values.amplification_by_sampling,
        values.noise_is_calibrated_exactly,
        laws.replacement_is_the_right_doubling,
        laws.stated_parts_have_no_lower_bound,
        laws.brackets_are_monotone,
        laws.parallel_is_at_most_sequential,
        laws.choices_cover_every_strategy,
        laws.round_trip,
        laws.small_deltas_stay_finite,
        laws.budgets_are_kept,
        laws.the_smallest_noise_is_smallest,
        laws.engines_overlap,
        laws.the_checker_accepts,
    )
}
"""The checks in the order in which they are asked, the fast ones first."""
