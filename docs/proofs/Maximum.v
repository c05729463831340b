(** The maximum of curves is a curve.

    In words: for finitely many pairs of laws there is one pair of laws whose curve is the maximum of their
    curves, at every x = e^epsilon >= 0, negative epsilons included. It connects the dots at all points where two
    events cross: the curve of a pair is the largest of the lines P(S) - x Q(S), one for each event S, and between
    two crossings one line stays on top.
    Used by docs/theory/composition.md ("An adaptive choice", first paragraph of the proof). *)

From Proofs Require Export ConnectTheDots.

(** A line x -> p - x q, and the lines of all events of a pair. *)
Definition line : Type := Q * Q.
Definition height (l : line) (x : Q) : Q := fst l - x * snd l.
Fixpoint events (option : pair) : list line :=
  match option with
  | [] => [(0, 0)]
  | atom :: rest => flat_map (fun l => [l; (fst atom + fst l, snd atom + snd l)]) (events rest)
  end.

Lemma events_below : forall option l x, In l (events option) -> height l x <= curve option x.
Proof.
  unfold curve, hockey_stick, height. induction option as [| atom rest IH]; intros l x inside; simpl in *.
  - destruct inside as [<- | []]. simpl. lra.
  - apply in_flat_map in inside as [m [known [<- | [<- | []]]]]; specialize (IH m x known); simpl.
    + pose proof (pos_nonneg (fst atom - x * snd atom)). lra.
    + pose proof (pos_above (fst atom - x * snd atom)). lra.
Qed.

Lemma some_event_attains : forall option x, exists l, In l (events option) /\ height l x == curve option x.
Proof.
  unfold curve, hockey_stick, height. intros option x. induction option as [| atom rest [m [known same]]]; simpl.
  - exists (0, 0). split; [left; reflexivity | simpl; ring].
  - destruct (pos_cases (fst atom - x * snd atom)) as [[_ value] | [_ value]].
    + exists (fst atom + fst m, snd atom + snd m). split; [apply in_flat_map; exists m; simpl; auto |].
      rewrite value, <- same. simpl. ring.
    + exists m. split; [apply in_flat_map; exists m; simpl; auto |]. rewrite value, <- same. ring.
Qed.

Lemma empty_event : forall option, In (0, 0) (events option).
Proof.
  induction option as [| atom rest IH]; simpl; [left; reflexivity |].
  apply in_flat_map. exists (0, 0). simpl. auto.
Qed.

(** A sorted list without repetitions. *)
Fixpoint insert (y : Q) (knots : list Q) : list Q :=
  match knots with
  | [] => [y]
  | x :: rest => if Qlt_le_dec y x then y :: knots else if Qlt_le_dec x y then x :: insert y rest else knots
  end.

Lemma insert_increasing : forall knots x0 y, x0 < y -> increasing x0 knots -> increasing x0 (insert y knots).
Proof.
  induction knots as [| x rest IH]; intros x0 y above order; simpl in *; [auto |].
  destruct (Qlt_le_dec y x); simpl; [tauto |]. destruct (Qlt_le_dec x y); simpl; [| assumption].
  split; [tauto |]. apply IH; tauto.
Qed.

Lemma insert_keeps : forall knots y z, (exists k, In k knots /\ k == z) -> exists k, In k (insert y knots) /\ k == z.
Proof.
  induction knots as [| x rest IH]; intros y z [k [inside same]]; [destruct inside |]. simpl.
  destruct (Qlt_le_dec y x); [exists k; split; [right |]; assumption |].
  destruct (Qlt_le_dec x y); [| exists k; auto].
  destruct inside as [<- | inside]; [exists x; simpl; auto |].
  destruct (IH y z) as [j [there equal]]; [exists k; auto |]. exists j. simpl. auto.
Qed.

Lemma insert_adds : forall knots y, exists k, In k (insert y knots) /\ k == y.
Proof.
  induction knots as [| x rest IH]; intro y; simpl; [exists y; simpl; split; [auto | reflexivity] |].
  destruct (Qlt_le_dec y x); [exists y; simpl; split; [auto | reflexivity] |].
  destruct (Qlt_le_dec x y).
  - destruct (IH y) as [k [inside same]]. exists k. simpl. auto.
  - exists x. simpl. split; [auto | lra].
Qed.

Definition sorted_positive (points : list Q) : list Q :=
  fold_right (fun y rest => if Qlt_le_dec 0 y then insert y rest else rest) [] points.

Lemma sorted_increasing : forall points, increasing 0 (sorted_positive points).
Proof.
  induction points as [| y rest IH]; simpl; [exact I |].
  destruct (Qlt_le_dec 0 y); [apply insert_increasing |]; assumption.
Qed.

Lemma sorted_has : forall points y, In y points -> 0 < y -> exists k, In k (sorted_positive points) /\ k == y.
Proof.
  induction points as [| z rest IH]; intros y inside above; [destruct inside |]. simpl.
  destruct inside as [-> | inside]; destruct (Qlt_le_dec 0 _).
  - apply insert_adds.
  - lra.
  - apply insert_keeps, IH; assumption.
  - apply IH; assumption.
Qed.

(** Where two lines cross (0 where they are parallel, by the convention for division). *)
Definition crossing (l m : line) : Q := (fst l - fst m) / (snd l - snd m).

Section Maximum.
  Context (options : list pair).
  Hypothesis some : options <> [].
  Hypothesis pairs : forall option, In option options -> is_pair option.

  Definition lines : list line := flat_map events options.
  Definition crossings : list Q := sorted_positive (flat_map (fun l => map (crossing l) lines) lines).

  Let top := largest options.
  Let shape : curve_like top := largest_is_curve_like options pairs.

  Lemma lines_below : forall l x, In l lines -> height l x <= top x.
  Proof.
    intros l x inside. apply in_flat_map in inside as [option [known inside]].
    eapply Qle_trans; [apply events_below; exact inside | apply largest_above; assumption].
  Qed.

  Lemma some_line_attains : forall x, exists l, In l lines /\ height l x == top x.
  Proof.
    intro x. destruct (largest_attained options x some pairs) as [option [known same]].
    destruct (some_event_attains option x) as [l [inside equal]].
    exists l. split; [apply in_flat_map; exists option; auto |]. unfold top. rewrite same. exact equal.
  Qed.

  Lemma zero_line : In (0, 0) lines.
  Proof.
    destruct (largest_attained options 0 some pairs) as [first [inside _]].
    apply in_flat_map. exists first. split; [assumption | apply empty_event].
  Qed.

  (** No crossing lies strictly between a and b. *)
  Definition clear (a b : Q) : Prop := forall k, In k crossings -> a < k -> k < b -> False.

  (** A line that is on top at x stays on top up to b, on either side, where nothing crosses in between. *)
  Lemma stays_on_top : forall l x a b, 0 <= a -> a < x -> x < b -> clear a b ->
    In l lines -> height l x == top x -> forall y, a <= y -> y <= b -> height l y == top y.
  Proof.
    intros l x a b ? ? ? gap inside attained y ? ?. apply Qle_antisym; [apply lines_below; assumption |].
    apply Qnot_lt_le. intro lower.
    destruct (some_line_attains y) as [m [known same]].
    pose proof (lines_below m x known) as below. unfold height in *.
    assert (cross : 0 < (y - x) * (snd l - snd m)) by lra.
    assert (apart : ~ snd l - snd m == 0) by (intro equal; rewrite equal in cross; lra).
    pose (k := crossing l m).
    assert (meet : k * (snd l - snd m) == fst l - fst m) by (unfold k, crossing; field; assumption).
    assert (between : a < k /\ k < b).
    { destruct (Qlt_le_dec 0 (snd l - snd m)).
      - assert (x < y) by nra. split; nra.
      - assert (y < x) by nra. split; nra. }
    destruct (sorted_has (flat_map (fun l => map (crossing l) lines) lines) k) as [j [there equal]]; [| lra |].
    - apply in_flat_map. exists l. split; [assumption |]. apply in_map. assumption.
    - apply (gap j there); lra.
  Qed.

  (** Beyond the last crossing the maximum is constant. *)
  Lemma constant_at_last : forall x0 x, 0 <= x0 -> x0 < x -> (forall b, clear x0 b) -> top x0 <= top x.
  Proof.
    intros x0 x ? strict gap. destruct (some_line_attains x) as [l [inside attained]].
    pose proof (nonneg top shape x) as above. unfold height in attained.
    assert (start : fst l - x0 * snd l == top x0) by (apply (stays_on_top l x x0 (x + 1)); auto; lra).
    destruct (Qlt_le_dec 0 (snd l)) as [down | flat]; [exfalso | nra].
    pose (b := x + (fst l + 1) / snd l).
    assert (further : (b - x) * snd l == fst l + 1) by (unfold b; field; lra).
    assert (0 <= x * snd l) by nra. assert (x < b) by nra.
    assert (fst l - b * snd l == top b) by (apply (stays_on_top l x x0 (b + 1)); auto; lra).
    pose proof (nonneg top shape b). lra.
  Qed.

  (** The polygon over all crossings beyond x0 is not above the maximum. *)
  Lemma polygon_below : forall knots x0 r0 x, 0 <= x0 -> x0 <= x -> increasing x0 knots -> arrives top x0 r0 knots ->
    (forall k, In k crossings -> x0 < k -> exists j, In j knots /\ j == k) ->
    curve (dots top x0 r0 knots) x <= top x.
  Proof.
    induction knots as [| x1 rest IH]; intros x0 r0 x ? beyond order meets all;
      (destruct (Qlt_le_dec x0 x) as [strict | same];
       [| rewrite (curve_before top shape) by assumption;
          pose proof (falling top shape x x0 same); setoid_replace (x0 - x) with 0 by lra; lra]).
    - unfold curve, hockey_stick. simpl in *.
      assert (top x0 <= top x).
      { apply constant_at_last; try assumption. intros b k there after _. destruct (all k there after) as [j [[] _]]. }
      pose proof (nonneg top shape x0).
      destruct (pos_cases (x0 * r0 - x * r0)) as [[? ->] | [? ->]];
        destruct (pos_cases (top x0 - x * 0)) as [[? ->] | [? ->]]; nra.
    - assert (tail : curve (dots top x0 r0 (x1 :: rest)) x == curve (dots top x1 (rate top x0 x1) rest) x).
      { unfold curve, hockey_stick. simpl in *.
        destruct (pos_cases (x0 * (r0 - rate top x0 x1) - x * (r0 - rate top x0 x1))) as [[? ->] | [? ->]]; nra. }
      rewrite tail. pose proof (arrives_next top shape x0 x1 rest order) as next.
      pose proof (increasing_after (x1 :: rest) x0 order) as after. simpl in order. destruct order as [first order].
      destruct (Qlt_le_dec x x1) as [inner | outer].
      + rewrite (curve_before top shape) by (try assumption; lra).
        assert (gap : clear x0 x1).
        { intros k there low high. destruct (all k there low) as [j [[<- | known] equal]]; [lra |].
          pose proof (increasing_after rest x1 order j known). lra. }
        destruct (some_line_attains x) as [l [inside attained]].
        assert (at_x0 : height l x0 == top x0) by (apply (stays_on_top l x x0 x1); auto; lra).
        assert (at_x1 : height l x1 == top x1) by (apply (stays_on_top l x x0 x1); auto; lra).
        pose proof (rate_spec top x0 x1 first) as slope. unfold height in *.
        assert (rate top x0 x1 == snd l) as -> by (apply (Qmult_inj_r _ _ (x1 - x0)); lra). lra.
      + apply IH; try assumption; [lra |]. intros k there low.
        destruct (all k there) as [j [[<- | known] equal]]; [lra | lra | exists j; auto].
  Qed.

  (** The pair whose curve is the maximum. *)
  Definition maximum : pair := connected options crossings.

  Theorem maximum_is_pair : is_pair maximum.
  Proof. apply connected_is_pair; [assumption | assumption | apply sorted_increasing]. Qed.

  Theorem maximum_is_a_curve : forall x, 0 <= x -> curve maximum x == largest options x.
  Proof.
    intros x ?. apply Qle_antisym.
    - apply polygon_below; try lra; try apply sorted_increasing.
      + apply starts; try assumption. apply sorted_increasing.
      + intros k there _. exists k. split; [assumption | reflexivity].
    - destruct (largest_attained options x some pairs) as [option [inside ->]].
      apply (connected_dominates options crossings some pairs (sorted_increasing _) option inside). assumption.
  Qed.
End Maximum.
