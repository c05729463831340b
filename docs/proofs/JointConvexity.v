(** The hockey-stick divergence is jointly convex.

    In words: if something random that has the same law under both neighbours decides which of several pairs of
    laws is met, the divergence of the mixtures is at most the average of the divergences of the pairs, hence at
    most the largest. A second form: each side may choose by a law of its own, if every member of one side is
    close to every member of the other. That is a user's own random action, averaged out.
    Used by docs/theory/composition.md ("How a declaration folds") and docs/theory/joint_and_local.md ("One
    release a user, many epochs"). *)

From Proofs Require Export HockeyStick.

Definition mixture {I A : Type} (indices : list I) (weight : I -> Q) (p : I -> A -> Q) (a : A) : Q :=
  sum indices (fun i => weight i * p i a).

Section JointConvexity.
  Context {I A : Type} (indices : list I) (outcomes : list A).

  Theorem joint_convexity : forall weight factor p q,
    (forall i, In i indices -> 0 <= weight i) ->
    hockey_stick outcomes factor (mixture indices weight p) (mixture indices weight q)
      <= sum indices (fun i => weight i * hockey_stick outcomes factor (p i) (q i)).
  Proof.
    intros weight factor p q nonneg. unfold hockey_stick, mixture.
    apply Qle_trans with (sum outcomes (fun a => sum indices (fun i => weight i * pos (p i a - factor * q i a)))).
    - apply sum_le. intros a _. rewrite <- sum_minus_scaled.
      eapply Qle_trans; [apply pos_sum |]. apply sum_le. intros i inside.
      rewrite <- pos_scale by (apply nonneg; assumption).
      apply Qle_lteq. right. apply pos_proper. ring.
    - rewrite <- sum_swap. apply sum_le. intros i _. rewrite sum_scale. lra.
  Qed.

  Corollary mixture_close : forall weight factor delta p q,
    law indices weight ->
    (forall i, In i indices -> close outcomes factor delta (p i) (q i)) ->
    close outcomes factor delta (mixture indices weight p) (mixture indices weight q).
  Proof.
    intros weight factor delta p q [nonneg total] held. apply close_iff_hockey_stick.
    eapply Qle_trans; [apply joint_convexity; assumption |].
    setoid_replace delta with (sum indices (fun i => weight i * delta)) by (rewrite sum_scale_right, total; ring).
    apply sum_le. intros i inside.
    assert (hockey_stick outcomes factor (p i) (q i) <= delta) by (apply close_iff_hockey_stick, held; assumption).
    specialize (nonneg i inside). nra.
  Qed.
End JointConvexity.

Corollary own_choice_close : forall {I J A : Type} (left : list I) (right : list J) (outcomes : list A)
    (v : I -> Q) (w : J -> Q) factor delta p q,
  law left v -> law right w ->
  (forall i j, In i left -> In j right -> close outcomes factor delta (p i) (q j)) ->
  close outcomes factor delta (mixture left v p) (mixture right w q).
Proof.
  intros I J A left right outcomes v w factor delta p q [v_nonneg v_total] [w_nonneg w_total] held.
  pose (weight := fun ij : I * J => v (fst ij) * w (snd ij)).
  assert (both : close outcomes factor delta
    (mixture (list_prod left right) weight (fun ij => p (fst ij)))
    (mixture (list_prod left right) weight (fun ij => q (snd ij)))).
  { apply mixture_close; unfold weight.
    - split.
      + intros [i j] inside. apply in_prod_iff in inside as [? ?]. simpl.
        apply Qmult_le_0_compat; [apply v_nonneg | apply w_nonneg]; assumption.
      + rewrite sum_prod. simpl. rewrite <- v_total. apply sum_ext. intros i _. rewrite sum_scale, w_total. ring.
    - intros [i j] inside. apply in_prod_iff in inside as [? ?]. apply held; assumption. }
  apply close_iff_hockey_stick. apply close_iff_hockey_stick in both.
  refine (Qle_trans _ _ _ _ both). apply Qle_lteq. right. unfold hockey_stick, mixture, weight.
  apply sum_ext. intros a _. rewrite !sum_prod. simpl. apply pos_proper.
  rewrite (sum_swap left right (fun i j => v i * w j * q j a)).
  assert (sum left (fun i => sum right (fun j => v i * w j * p i a)) == sum left (fun i => v i * p i a)) as ->.
  { apply sum_ext. intros i _.
    rewrite <- (Qmult_1_l (v i * p i a)), <- w_total, <- sum_scale_right. apply sum_ext. intros. ring. }
  assert (sum right (fun j => sum left (fun i => v i * w j * q j a)) == sum right (fun j => w j * q j a)) as ->.
  { apply sum_ext. intros j _.
    rewrite <- (Qmult_1_l (w j * q j a)), <- v_total, <- sum_scale_right. apply sum_ext. intros. ring. }
  reflexivity.
Qed.
