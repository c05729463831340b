(** (epsilon, delta)-closeness is a bound on the hockey-stick divergence.

    In words: P(event) <= e^epsilon Q(event) + delta holds for every event if and only if the sum of (p -
    e^epsilon q)_+ over the outcomes is at most delta. The worst event is the set where p > e^epsilon q.
    Used by docs/theory/composition.md, first section. *)

From Proofs Require Export Laws.

Section HockeyStick.
  Context {A : Type} (outcomes : list A).

  (** The outcomes that speak for p. *)
  Definition worst_event (factor : Q) (p q : A -> Q) (a : A) : bool := negb (Qle_bool (p a) (factor * q a)).

  Lemma worst_event_attains : forall factor p q,
    prob outcomes p (worst_event factor p q)
      == factor * prob outcomes q (worst_event factor p q) + hockey_stick outcomes factor p q.
  Proof.
    intros. unfold prob, hockey_stick. rewrite <- sum_scale, <- sum_plus.
    apply sum_ext. intros a _. unfold worst_event.
    destruct (Qle_bool (p a) (factor * q a)) eqn:below; simpl.
    - apply Qle_bool_iff in below. split_pos; lra.
    - assert (factor * q a < p a) by (apply Qnot_le_lt; rewrite <- Qle_bool_iff, below; discriminate).
      split_pos; lra.
  Qed.

  Lemma every_event_below : forall factor p q event,
    prob outcomes p event <= factor * prob outcomes q event + hockey_stick outcomes factor p q.
  Proof.
    intros. unfold prob, hockey_stick. rewrite <- sum_scale, <- sum_plus.
    apply sum_le. intros a _. destruct (event a); split_pos; lra.
  Qed.

  Theorem close_iff_hockey_stick : forall factor delta p q,
    close outcomes factor delta p q <-> hockey_stick outcomes factor p q <= delta.
  Proof.
    intros factor delta p q. split.
    - intro held. specialize (held (worst_event factor p q)). rewrite worst_event_attains in held. lra.
    - intros bound event. pose proof (every_event_below factor p q event). lra.
  Qed.

  Lemma close_delta_nonneg : forall factor delta p q, close outcomes factor delta p q -> 0 <= delta.
  Proof.
    intros factor delta p q held. apply close_iff_hockey_stick in held.
    pose proof (hockey_stick_nonneg outcomes factor p q). lra.
  Qed.

  Lemma close_weaker : forall factor delta factor' delta' p q,
    law outcomes q -> factor <= factor' -> delta <= delta' ->
    close outcomes factor delta p q -> close outcomes factor' delta' p q.
  Proof.
    intros factor delta factor' delta' p q [nonneg _] ? ? held event. specialize (held event).
    assert (0 <= prob outcomes q event).
    { apply sum_nonneg. intros a inside. destruct (event a); [apply nonneg; assumption | lra]. }
    nra.
  Qed.
End HockeyStick.
