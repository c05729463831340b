(** Parallel composition when what was published before decides the part.

    In words: the rounds publish one outcome each. What was published so far, and never the record's value,
    decides whether the record takes part in the next round (`meets past`). It takes part in at most one round of
    any transcript. A round without the record has the same law under both neighbours; it may use other people's
    data in any way, also adaptively. A round with the record is (epsilon, delta)-close. Then the whole transcript
    is (epsilon, delta)-close: the record costs its worst round, not the sum. The same holds for whole curves,
    also at negative epsilons.
    Used by docs/theory/composition.md ("How a declaration folds"), docs/theory/joint_and_local.md ("One release a
    user, many epochs") and docs/theory/printed_arguments.md (rule `parallel`). *)

From Proofs Require Export HockeyStick.

Section Parallel.
  Context {A : Type} (outcomes : list A) (p q : list A -> A -> Q) (meets : list A -> bool).
  Hypothesis p_law : forall past, law outcomes (p past).
  Hypothesis q_law : forall past, law outcomes (q past).

  (** Without the record, both neighbours give the next outcome the same law. *)
  Hypothesis absent : forall past, meets past = false -> forall a, p past a == q past a.

  (** After the round that it met, the record is never met again. *)
  Hypothesis once : forall past later, meets past = true -> later <> [] -> meets (later ++ past) = false.

  Lemma run_same : forall transcript past,
    (forall later, meets (later ++ past) = false) -> run p past transcript == run q past transcript.
  Proof.
    induction transcript as [| a rest IH]; intros past away; simpl; [reflexivity |].
    rewrite (absent past (away []) a), (IH (a :: past)); [reflexivity |].
    intro later. specialize (away (later ++ [a])). rewrite <- app_assoc in away. exact away.
  Qed.

  (** `bound` is at least (1 - e^epsilon)_+, the divergence of a law from itself. *)
  Lemma parallel_from : forall factor bound, 0 <= factor -> 0 <= bound -> 1 - factor <= bound ->
    (forall past, meets past = true -> hockey_stick outcomes factor (p past) (q past) <= bound) ->
    forall n past, hockey_stick (transcripts outcomes n) factor (run p past) (run q past) <= bound.
  Proof.
    intros factor bound ? ? ? met. induction n as [| n IH]; intro past.
    - unfold hockey_stick. simpl. split_pos; lra.
    - rewrite hockey_stick_run. destruct (meets past) eqn:here.
      + refine (Qle_trans _ _ _ _ (met past here)). unfold hockey_stick. apply sum_le. intros a known.
        destruct (run_law outcomes p p_law n (a :: past)) as [nonneg total].
        rewrite <- (Qmult_1_r (pos (p past a - factor * q past a))), <- total, <- sum_scale.
        apply sum_le. intros later inside.
        assert (run q (a :: past) later == run p (a :: past) later) as ->.
        * symmetry. apply run_same. intro further.
          replace (further ++ a :: past) with ((further ++ [a]) ++ past) by (rewrite <- app_assoc; reflexivity).
          apply once; [assumption |]. destruct further; discriminate.
        * rewrite pos_common by (apply nonneg; assumption). lra.
      + destruct (p_law past) as [nonneg total].
        setoid_replace bound with (sum outcomes (fun a => p past a * bound)) by (rewrite sum_scale_right, total; ring).
        apply sum_le. intros a known. specialize (nonneg a known).
        apply Qle_trans with (p past a *
          hockey_stick (transcripts outcomes n) factor (run p (a :: past)) (run q (a :: past))).
        * unfold hockey_stick. rewrite <- sum_scale. apply sum_le. intros later inside.
          rewrite <- (absent past here a), (Qmult_comm (p past a)), (Qmult_comm (p past a) (run q _ _)).
          rewrite pos_common by assumption. lra.
        * specialize (IH (a :: past)). nra.
  Qed.

  Theorem parallel_composition : forall factor delta, 1 <= factor -> 0 <= delta ->
    (forall past, meets past = true -> close outcomes factor delta (p past) (q past)) ->
    forall n, close (transcripts outcomes n) factor delta (run p []) (run q []).
  Proof.
    intros factor delta ? ? held n. apply close_iff_hockey_stick. apply parallel_from; try lra.
    intros past here. apply close_iff_hockey_stick. apply held. assumption.
  Qed.

  (** For curves: `curve` bounds the curve of every round that the record can meet. *)
  Theorem parallel_curves : forall curve : Q -> Q,
    (forall x, 0 <= x -> 0 <= curve x /\ 1 - x <= curve x) ->
    (forall past, meets past = true -> forall x, 0 <= x -> hockey_stick outcomes x (p past) (q past) <= curve x) ->
    forall n x, 0 <= x -> hockey_stick (transcripts outcomes n) x (run p []) (run q []) <= curve x.
  Proof.
    intros curve floor held n x ?. destruct (floor x) as [? ?]; [assumption |].
    apply parallel_from; try assumption. intros past here. apply held; assumption.
  Qed.
End Parallel.
