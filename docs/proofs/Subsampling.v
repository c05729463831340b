(** Poisson sampling amplifies, when a record is added or removed.

    In words: every record enters the sample independently, with one probability q for the record in question, and
    the sample stays secret. If the mechanism on the sample with the record and without it is (epsilon,
    delta)-close in both orders, then the sampled mechanism on the data with the record and without it is (ln(1 +
    q (e^epsilon - 1)), q delta)-close, in both orders.
    Used by docs/theory/composition.md (row "Poisson sample, rate q"). *)

From Proofs Require Export JointConvexity.

Section Subsampling.
  Context {S A : Type} (samples : list S) (chance : S -> Q) (outcomes : list A).

  (** The sample of all other records, and the mechanism on it: with the record in question, and without it. *)
  Context (inside outside : S -> A -> Q) (q : Q).
  Hypothesis chance_law : law samples chance.
  Hypothesis inside_law : forall s, law outcomes (inside s).
  Hypothesis outside_law : forall s, law outcomes (outside s).
  Hypothesis rate : 0 <= q <= 1.

  (** On data that hold the record, and on data that do not. *)
  Definition with_record : A -> Q := mixture samples chance (fun s a => q * inside s a + (1 - q) * outside s a).
  Definition without_record : A -> Q := mixture samples chance outside.

  Definition amplified (factor : Q) : Q := 1 + q * (factor - 1).

  Theorem removed : forall factor delta,
    (forall s, close outcomes factor delta (inside s) (outside s)) ->
    close outcomes (amplified factor) (q * delta) with_record without_record.
  Proof.
    intros factor delta held. apply mixture_close; [assumption |]. intros s _. apply close_iff_hockey_stick.
    apply Qle_trans with (q * hockey_stick outcomes factor (inside s) (outside s)).
    - unfold hockey_stick. rewrite <- sum_scale. apply sum_le. intros a _. rewrite <- pos_scale by tauto.
      apply Qle_lteq. right. apply pos_proper. unfold amplified. ring.
    - assert (hockey_stick outcomes factor (inside s) (outside s) <= delta) by (apply close_iff_hockey_stick, held).
      destruct rate. nra.
  Qed.

  (** The other order, one outcome: the excess of `o` over `factor * i` is met with probability q. *)
  Lemma added_excess : forall factor i o, 1 <= factor -> 0 <= i -> 0 <= o ->
    pos (o - amplified factor * (q * i + (1 - q) * o)) <= q * pos (o - factor * i).
  Proof.
    intros factor i o ? ? ?. unfold amplified. destruct rate as [low high].
    pose proof (pos_nonneg (o - factor * i)). apply pos_le; [nra |].
    assert (0 <= q * (1 - q)) as both by (apply Qmult_le_0_compat; lra).
    destruct (Qlt_le_dec (factor * i) o) as [excess | below].
    - pose proof (pos_above (o - factor * i)).
      assert (o - (1 + q * (factor - 1)) * (q * i + (1 - q) * o)
        == q * (o - factor * i) - q * (1 - q) * ((factor - 1) * (o - i))) as -> by ring.
      assert (i <= factor * i) by nra.
      assert (0 <= q * (1 - q) * ((factor - 1) * (o - i))) by (repeat apply Qmult_le_0_compat; lra).
      assert (q * (o - factor * i) <= q * pos (o - factor * i)) by nra. lra.
    - apply Qle_trans with 0; [| nra].
      assert (factor * (o - (1 + q * (factor - 1)) * (q * i + (1 - q) * o))
        == - (q * (1 - q) * ((factor - 1) * (factor - 1)) * o) - q * (1 + q * (factor - 1)) * (factor * i - o)) as same
        by ring.
      assert (0 <= q * (1 - q) * ((factor - 1) * (factor - 1)) * o) by (repeat apply Qmult_le_0_compat; lra).
      assert (0 <= q * (1 + q * (factor - 1)) * (factor * i - o)) by (repeat apply Qmult_le_0_compat; nra).
      apply (Qmult_le_l _ _ factor); [lra |]. rewrite same. lra.
  Qed.

  Theorem added : forall factor delta, 1 <= factor ->
    (forall s, close outcomes factor delta (outside s) (inside s)) ->
    close outcomes (amplified factor) (q * delta) without_record with_record.
  Proof.
    intros factor delta ? held. apply mixture_close; [assumption |]. intros s _. apply close_iff_hockey_stick.
    apply Qle_trans with (q * hockey_stick outcomes factor (outside s) (inside s)).
    - unfold hockey_stick. rewrite <- sum_scale. apply sum_le. intros a known. apply added_excess; [assumption | |].
      + apply (inside_law s). assumption.
      + apply (outside_law s). assumption.
    - assert (hockey_stick outcomes factor (outside s) (inside s) <= delta) by (apply close_iff_hockey_stick, held).
      destruct rate. nra.
  Qed.
End Subsampling.
