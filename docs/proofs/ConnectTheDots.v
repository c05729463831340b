(** The maximum of curves is bounded by the curve of one pair, exactly at any knots.

    In words: take finitely many pairs of laws and finitely many knots 0 < x_1 < ... < x_n. Connect the dots: give
    the point x_i the mass by which the slope of the polygon through (x_i, largest curve at x_i) changes there.
    That is a pair of laws; its curve is nowhere below the curve of any of the given pairs, and at 0 and at every
    knot it equals the largest.
    Used by docs/theory/composition.md ("An adaptive choice", first paragraph of the proof) and
    docs/theory/losses_and_engines.md ("Kinds of engine": connect the dots). *)

From Proofs Require Export Curves.

(** x0 < x1 < x2 < ... *)
Fixpoint increasing (x0 : Q) (knots : list Q) : Prop :=
  match knots with
  | [] => True
  | x1 :: rest => x0 < x1 /\ increasing x1 rest
  end.

Lemma increasing_after : forall knots x0, increasing x0 knots -> forall knot, In knot knots -> x0 < knot.
Proof.
  induction knots as [| x1 rest IH]; intros x0 order knot []; simpl in order; destruct order.
  - subst. assumption.
  - apply Qlt_trans with x1; [assumption | apply IH; assumption].
Qed.

Section Dots.
  Context (f : Q -> Q).

  (** The polygon's rate of descent from x0 to x1. *)
  Definition rate (x0 x1 : Q) : Q := (f x0 - f x1) / (x1 - x0).

  (** The atoms from x0 on, where the polygon arrives at x0 with rate r0. The atom at a knot x of mass m under Q has
      mass m x under P; what is left after the last knot is a mass under P alone. *)
  Fixpoint dots (x0 r0 : Q) (knots : list Q) : pair :=
    match knots with
    | [] => [(x0 * r0, r0); (f x0, 0)]
    | x1 :: rest => (x0 * (r0 - rate x0 x1), r0 - rate x0 x1) :: dots x1 (rate x0 x1) rest
    end.

  Hypothesis shape : curve_like f.

  Lemma rate_spec : forall x0 x1, x0 < x1 -> rate x0 x1 * (x1 - x0) == f x0 - f x1.
  Proof. intros x0 x1 ?. unfold rate. field. lra. Qed.

  Lemma rate_nonneg : forall x0 x1, x0 < x1 -> 0 <= rate x0 x1.
  Proof.
    intros x0 x1 ?. pose proof (rate_spec x0 x1). pose proof (falling f shape x0 x1).
    apply Qle_shift_div_l; [lra |]. pose proof (falling f shape x0 x1). lra.
  Qed.

  Lemma rate_falls : forall x0 x1 x2, x0 < x1 -> x1 < x2 -> rate x1 x2 <= rate x0 x1.
  Proof.
    intros x0 x1 x2 first second. pose proof (convex f shape x0 x1 x2 first second) as bend.
    pose proof (rate_spec x0 x1 first) as one. pose proof (rate_spec x1 x2 second) as two.
    set (r := rate x0 x1) in *. set (s := rate x1 x2) in *.
    apply Qnot_lt_le. intro wrong.
    assert (0 < (s - r) * ((x1 - x0) * (x2 - x1))) by (repeat apply Qmult_lt_0_compat; lra).
    assert (s * (x2 - x1) * (x1 - x0) <= r * (x1 - x0) * (x2 - x1)) by (rewrite one, two; lra).
    lra.
  Qed.

  (** The rate of arrival is at least the first rate of descent. *)
  Definition arrives (x0 r0 : Q) (knots : list Q) : Prop :=
    match knots with
    | [] => 0 <= r0
    | x1 :: _ => rate x0 x1 <= r0
    end.

  Lemma arrives_next : forall x0 x1 rest, increasing x0 (x1 :: rest) -> arrives x1 (rate x0 x1) rest.
  Proof.
    intros x0 x1 [| x2 rest] order; simpl in *.
    - apply rate_nonneg. tauto.
    - apply rate_falls; tauto.
  Qed.

  Lemma dots_nonneg : forall knots x0 r0, 0 <= x0 -> increasing x0 knots -> arrives x0 r0 knots ->
    forall atom, In atom (dots x0 r0 knots) -> 0 <= fst atom /\ 0 <= snd atom.
  Proof.
    induction knots as [| x1 rest IH]; intros x0 r0 ? order meets atom inside; simpl in *.
    - pose proof (nonneg f shape x0). destruct inside as [<- | [<- | []]]; simpl; split; nra.
    - destruct inside as [<- | inside]; simpl; [split; nra |].
      apply (IH x1 (rate x0 x1)); try assumption; [lra | tauto | apply (arrives_next x0 x1 rest); assumption].
  Qed.

  Lemma dots_total : forall knots x0 r0, sum (dots x0 r0 knots) snd == r0.
  Proof. induction knots as [| x1 rest IH]; intros; simpl; [| rewrite IH]; ring. Qed.

  (** Up to the first knot the curve is the line that arrives there. *)
  Lemma curve_before : forall knots x0 r0 x, x <= x0 -> increasing x0 knots -> arrives x0 r0 knots ->
    curve (dots x0 r0 knots) x == f x0 + r0 * (x0 - x).
  Proof.
    unfold curve, hockey_stick. induction knots as [| x1 rest IH]; intros x0 r0 x ? order meets; simpl in *.
    - pose proof (nonneg f shape x0).
      destruct (pos_cases (x0 * r0 - x * r0)) as [[? ->] | [? ->]];
        destruct (pos_cases (f x0 - x * 0)) as [[? ->] | [? ->]]; nra.
    - rewrite IH; [| lra | tauto | apply arrives_next; assumption].
      pose proof (rate_spec x0 x1 (proj1 order)).
      destruct (pos_cases (x0 * (r0 - rate x0 x1) - x * (r0 - rate x0 x1))) as [[? ->] | [? ->]]; nra.
  Qed.

  (** A convex, falling curve below the dots is below the polygon. *)
  Lemma curve_above : forall g, curve_like g -> forall knots x0 r0 x,
    x0 <= x -> increasing x0 knots -> arrives x0 r0 knots ->
    g x0 <= f x0 -> (forall knot, In knot knots -> g knot <= f knot) ->
    g x <= curve (dots x0 r0 knots) x.
  Proof.
    intros g g_shape. induction knots as [| x1 rest IH]; intros x0 r0 x ? order meets start below.
    - unfold curve, hockey_stick. simpl. pose proof (falling g g_shape x0 x).
      pose proof (pos_nonneg (x0 * r0 - x * r0)). pose proof (pos_above (f x0 - x * 0)). lra.
    - assert (tail : curve (dots x1 (rate x0 x1) rest) x <= curve (dots x0 r0 (x1 :: rest)) x).
      { unfold curve, hockey_stick. simpl.
        pose proof (pos_nonneg (x0 * (r0 - rate x0 x1) - x * (r0 - rate x0 x1))). lra. }
      refine (Qle_trans _ _ _ _ tail). pose proof (arrives_next x0 x1 rest order) as next.
      simpl in order. destruct order as [first order].
      assert (g x1 <= f x1) by (apply below; left; reflexivity).
      destruct (Qlt_le_dec x x1) as [inner | outer].
      + rewrite curve_before by (try assumption; lra).
        pose proof (rate_spec x0 x1 first) as slope.
        destruct (Qlt_le_dec x0 x) as [strict | same].
        * pose proof (convex g g_shape x0 x x1 strict inner) as bend.
          assert (g x * (x1 - x0) <= (f x1 + rate x0 x1 * (x1 - x)) * (x1 - x0)) by nra.
          apply (Qmult_le_r _ _ (x1 - x0)); [lra | assumption].
        * pose proof (falling g g_shape x0 x).
          assert (rate x0 x1 * (x1 - x) == f x0 - f x1)
            by (rewrite <- slope; setoid_replace x with x0 by lra; reflexivity).
          lra.
      + apply IH; try assumption. intros knot inside. apply below. right. assumption.
  Qed.

  (** At the knots the polygon is f. *)
  Lemma curve_at_knots : forall knots x0 r0 x, increasing x0 knots -> arrives x0 r0 knots ->
    x = x0 \/ In x knots -> curve (dots x0 r0 knots) x == f x.
  Proof.
    induction knots as [| x1 rest IH]; intros x0 r0 x order meets [-> | inside];
      try (rewrite curve_before by (try assumption; lra); ring).
    - destruct inside.
    - pose proof (arrives_next x0 x1 rest order) as next. simpl in order, meets. destruct order as [first order].
      rewrite <- (IH x1 (rate x0 x1) x); [| assumption | assumption |].
      + unfold curve, hockey_stick. simpl.
        assert (x1 <= x)
          by (destruct inside as [-> | inside]; [lra | apply Qlt_le_weak, (increasing_after rest); assumption]).
        destruct (pos_cases (x0 * (r0 - rate x0 x1) - x * (r0 - rate x0 x1))) as [[? ->] | [? ->]]; nra.
      + destruct inside; [left; symmetry | right]; assumption.
  Qed.
End Dots.

(** The pair whose curve connects the dots of the largest curve. *)
Definition connected (options : list pair) (knots : list Q) : pair := dots (largest options) 0 1 knots.

Section Connected.
  Context (options : list pair) (knots : list Q).
  Hypothesis some : options <> [].
  Hypothesis pairs : forall option, In option options -> is_pair option.
  Hypothesis order : increasing 0 knots.

  Let shape : curve_like (largest options) := largest_is_curve_like options pairs.

  Lemma largest_at_zero : largest options 0 == 1.
  Proof.
    destruct (largest_attained options 0 some pairs) as [option [inside ->]]. apply curve_at_zero, pairs, inside.
  Qed.

  Lemma starts : arrives (largest options) 0 1 knots.
  Proof.
    destruct knots as [| x1 rest]; simpl; [lra |]. simpl in order. destruct order as [first _].
    destruct (largest_attained options x1 some pairs) as [option [inside same]].
    pose proof (curve_floor option x1 (pairs _ inside)). pose proof largest_at_zero.
    unfold rate. apply Qle_shift_div_r; lra.
  Qed.

  Theorem connected_is_pair : is_pair (connected options knots).
  Proof.
    pose proof (dots_nonneg (largest options) shape knots 0 1 (Qle_refl 0) order starts) as atoms_nonneg.
    split; split.
    - intros atom inside. apply atoms_nonneg. assumption.
    - transitivity (curve (connected options knots) 0).
      + unfold curve, hockey_stick. apply sum_ext. intros atom inside.
        destruct (atoms_nonneg atom inside). split_pos; lra.
      + unfold connected. rewrite curve_before; try assumption; [| lra | apply starts].
        rewrite largest_at_zero. ring.
    - intros atom inside. apply atoms_nonneg. assumption.
    - apply dots_total.
  Qed.

  Theorem connected_dominates : forall option, In option options ->
    dominated option fst snd (connected options knots) fst snd.
  Proof.
    intros option inside x ?. change (curve option x <= curve (connected options knots) x).
    apply curve_above; try assumption.
    - apply curve_is_curve_like, pairs, inside.
    - apply starts.
    - apply largest_above. assumption.
    - intros. apply largest_above. assumption.
  Qed.

  Theorem connected_attains : forall x, x = 0 \/ In x knots -> curve (connected options knots) x == largest options x.
  Proof. intros x there. apply curve_at_knots; try assumption. apply starts. Qed.
End Connected.
