(** Post-processing costs nothing.

    In words: if what was published is (epsilon, delta)-close under two neighbouring data sets, then so is
    anything computed from it, also with fresh randomness, provided that the computation reads no data again.
    Used by docs/theory/losses_and_engines.md ("The theorems") and docs/theory/printed_arguments.md (rule
    `post_processing`). *)

From Proofs Require Export HockeyStick.

(** The law of what `kernel` makes of an outcome that has law p. The kernel is the same for both neighbours. *)
Definition processed {A B : Type} (outcomes : list A) (kernel : A -> B -> Q) (p : A -> Q) (b : B) : Q :=
  sum outcomes (fun a => p a * kernel a b).

Section PostProcessing.
  Context {A B : Type} (outcomes : list A) (outputs : list B).

  Lemma processed_law : forall kernel p,
    (forall a, law outputs (kernel a)) -> law outcomes p -> law outputs (processed outcomes kernel p).
  Proof.
    intros kernel p laws [nonneg total]. split.
    - intros b ?. apply sum_nonneg. intros a ?.
      apply Qmult_le_0_compat; [apply nonneg | apply (laws a)]; assumption.
    - unfold processed. rewrite <- sum_swap, <- total. apply sum_ext. intros a _.
      rewrite sum_scale. destruct (laws a) as [_ ->]. ring.
  Qed.

  Lemma hockey_stick_processed : forall kernel factor p q,
    (forall a, law outputs (kernel a)) ->
    hockey_stick outputs factor (processed outcomes kernel p) (processed outcomes kernel q)
      <= hockey_stick outcomes factor p q.
  Proof.
    intros kernel factor p q laws. unfold hockey_stick, processed.
    apply Qle_trans with (sum outputs (fun b => sum outcomes (fun a => pos (p a - factor * q a) * kernel a b))).
    - apply sum_le. intros b inside. rewrite <- sum_minus_scaled.
      eapply Qle_trans; [apply pos_sum |]. apply sum_le. intros a _.
      assert (0 <= kernel a b) by (apply (laws a); assumption).
      setoid_replace (p a * kernel a b - factor * (q a * kernel a b)) with (kernel a b * (p a - factor * q a)) by ring.
      rewrite pos_scale by assumption. lra.
    - rewrite <- sum_swap. apply sum_le. intros a _. rewrite sum_scale. destruct (laws a) as [_ ->]. lra.
  Qed.

  Theorem post_processing : forall kernel factor delta p q,
    (forall a, law outputs (kernel a)) ->
    close outcomes factor delta p q ->
    close outputs factor delta (processed outcomes kernel p) (processed outcomes kernel q).
  Proof.
    intros kernel factor delta p q laws held. apply close_iff_hockey_stick in held. apply close_iff_hockey_stick.
    pose proof (hockey_stick_processed kernel factor p q laws). lra.
  Qed.
End PostProcessing.

(** Without randomness: events of a computed value are events of what it was computed from. *)
Corollary deterministic_post_processing : forall {A B : Type} (outcomes : list A) (f : A -> B) factor delta p q,
  close outcomes factor delta p q ->
  forall event : B -> bool,
    prob outcomes p (fun a => event (f a)) <= factor * prob outcomes q (fun a => event (f a)) + delta.
Proof. intros A B outcomes f factor delta p q held event. apply (held (fun a => event (f a))). Qed.
