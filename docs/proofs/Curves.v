(** The curves of pairs of laws, and the maximum of several curves.

    In words: the curve x -> sum of (p - x q)_+ of a pair of laws is convex, falls, is at least (1 - x)_+ and is 1
    at x = 0. The maximum of finitely many such curves inherits all four.
    Used by docs/theory/composition.md ("An adaptive choice", first paragraph of the proof). *)

From Proofs Require Export DominatingPairs.

(** A pair of laws on finitely many places: each place has its weight under P and under Q. *)
Definition pair : Type := list (Q * Q).
Definition is_pair (option : pair) : Prop := law option fst /\ law option snd.
Definition curve (option : pair) (x : Q) : Q := hockey_stick option x fst snd.

(** The largest curve of several pairs. *)
Definition largest (options : list pair) (x : Q) : Q :=
  fold_right (fun option rest => Qmax (curve option x) rest) 0 options.

(** Curves are convex, fall, are at least (1 - x)_+ , and are 1 at 0. *)
Record curve_like (f : Q -> Q) : Prop := {
  convex : forall x y z, x < y -> y < z -> f y * (z - x) <= f x * (z - y) + f z * (y - x);
  falling : forall x y, x <= y -> f y <= f x;
  nonneg : forall x, 0 <= f x;
}.

Lemma pos_line_convex : forall p q x y z, x < y -> y < z ->
  pos (p - y * q) * (z - x) <= pos (p - x * q) * (z - y) + pos (p - z * q) * (y - x).
Proof.
  intros p q x y z ? ?.
  assert ((p - y * q) * (z - x) == (p - x * q) * (z - y) + (p - z * q) * (y - x)) by ring.
  pose proof (pos_above (p - x * q)). pose proof (pos_above (p - z * q)).
  pose proof (pos_nonneg (p - x * q)). pose proof (pos_nonneg (p - z * q)).
  destruct (pos_cases (p - y * q)) as [[? ->] | [? ->]]; nra.
Qed.

Theorem curve_is_curve_like : forall option, is_pair option -> curve_like (curve option).
Proof.
  intros option [_ [q_nonneg _]]. unfold curve, hockey_stick. constructor.
  - intros x y z ? ?. rewrite <- !sum_scale_right, <- sum_plus. apply sum_le.
    intros atom _. apply pos_line_convex; assumption.
  - intros x y ?. apply sum_le. intros atom inside. apply pos_mono. specialize (q_nonneg atom inside). nra.
  - intro x. apply sum_nonneg. intros. apply pos_nonneg.
Qed.

Lemma curve_floor : forall option x, is_pair option -> 1 - x <= curve option x.
Proof.
  intros option x [[_ p_total] [_ q_total]]. unfold curve, hockey_stick.
  apply Qle_trans with (sum option (fun atom => fst atom - x * snd atom)).
  - rewrite sum_minus_scaled, p_total, q_total. lra.
  - apply sum_le. intros. apply pos_above.
Qed.

Lemma curve_at_zero : forall option, is_pair option -> curve option 0 == 1.
Proof.
  intros option [[p_nonneg <-] _]. apply sum_ext. intros atom inside.
  specialize (p_nonneg atom inside). split_pos; lra.
Qed.

(** A round in which both laws are the same is dominated by any pair: it fills up a shorter list of rounds. *)
Theorem same_law_dominated : forall {A : Type} (outcomes : list A) r option, law outcomes r -> is_pair option ->
  dominated outcomes r r option fst snd.
Proof.
  intros A outcomes r option [nonneg total] held x ?. change (hockey_stick outcomes x r r <= curve option x).
  assert (hockey_stick outcomes x r r == pos (1 - x)) as ->.
  { transitivity (sum outcomes r * pos (1 - x)); [| rewrite total; ring].
    unfold hockey_stick. rewrite <- sum_scale_right. apply sum_ext. intros a inside.
    setoid_replace (r a - x * r a) with (r a * (1 - x)) by ring. apply pos_scale, nonneg. assumption. }
  apply pos_le; [apply hockey_stick_nonneg | apply curve_floor; assumption].
Qed.

Lemma largest_above : forall options option x, In option options -> curve option x <= largest options x.
Proof.
  induction options as [| first rest IH]; intros option x []; simpl.
  - subst. apply Q.le_max_l.
  - eapply Qle_trans; [apply IH; assumption | apply Q.le_max_r].
Qed.

(** The largest is attained by one of the options (by none only where there is none). *)
Lemma largest_attained : forall options x, options <> [] -> (forall option, In option options -> is_pair option) ->
  exists option, In option options /\ largest options x == curve option x.
Proof.
  induction options as [| first rest IH]; intros x some pairs; [contradiction |]. simpl.
  destruct (Q.max_spec (curve first x) (largest rest x)) as [[below top] | [above top]].
  - destruct rest as [| second rest].
    + simpl in below. pose proof (nonneg _ (curve_is_curve_like first (pairs _ (or_introl eq_refl))) x). lra.
    + destruct (IH x) as [option [inside same]]; [discriminate | intros; apply pairs; right; assumption |].
      exists option. rewrite top. auto.
  - exists first. auto.
Qed.

Theorem largest_is_curve_like : forall options, (forall option, In option options -> is_pair option) ->
  curve_like (largest options).
Proof.
  induction options as [| first rest IH]; intro pairs; simpl.
  - constructor; intros; simpl; lra.
  - destruct (curve_is_curve_like first (pairs _ (or_introl eq_refl))) as [first_convex first_falling first_nonneg].
    destruct IH as [rest_convex rest_falling rest_nonneg]; [intros; apply pairs; right; assumption |].
    constructor.
    + intros x y z left right. specialize (first_convex x y z left right). specialize (rest_convex x y z left right).
      assert (mean : forall one two, one <= Qmax (curve first x) (largest rest x) ->
        two <= Qmax (curve first z) (largest rest z) ->
        one * (z - y) + two * (y - x) <=
          Qmax (curve first x) (largest rest x) * (z - y) + Qmax (curve first z) (largest rest z) * (y - x)).
      { intros. apply Qplus_le_compat; apply Qmult_le_compat_r; lra. }
      destruct (Q.max_spec (curve first y) (largest rest y)) as [[_ ->] | [_ ->]].
      * eapply Qle_trans; [apply rest_convex | apply mean; apply Q.le_max_r].
      * eapply Qle_trans; [apply first_convex | apply mean; apply Q.le_max_l].
    + intros x y below. specialize (first_falling x y below). specialize (rest_falling x y below).
      apply Q.max_lub; [eapply Qle_trans; [| apply Q.le_max_l] | eapply Qle_trans; [| apply Q.le_max_r]]; assumption.
    + intro x. eapply Qle_trans; [apply first_nonneg | apply Q.le_max_l].
Qed.
