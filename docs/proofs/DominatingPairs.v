(** Dominated pairs compose to dominated pairs.

    In words: the curve of a pair of laws (p, q) is x -> sum of (p - x q)_+ over all x >= 0, where x = e^epsilon
    and epsilon may be negative. A pair dominates another if its curve is nowhere below. If in every round,
    whatever was published before, the pair that is met is dominated by that round's pair (u, v), then the whole
    transcript is dominated by the independent product of the dominating pairs.
    Used by docs/theory/losses_and_engines.md ("The theorems") and docs/theory/composition.md ("An adaptive
    choice", second paragraph of the proof). *)

From Proofs Require Export HockeyStick.

Definition dominated {A B : Type} (outcomes : list A) (p q : A -> Q) (atoms : list B) (u v : B -> Q) : Prop :=
  forall x, 0 <= x -> hockey_stick outcomes x p q <= hockey_stick atoms x u v.

Lemma dominated_trans : forall {A B C : Type} (la : list A) (lb : list B) (lc : list C) p q r s u v,
  dominated la p q lb r s -> dominated lb r s lc u v -> dominated la p q lc u v.
Proof.
  intros A B C la lb lc p q r s u v first second x ?. eapply Qle_trans; [apply first | apply second]; assumption.
Qed.

(** The pair read backwards: its curve is 1 - x + x delta(1/x), so that it is dominated by the reversed pair. *)
Lemma reversed_curve : forall {A : Type} (outcomes : list A) p q x, law outcomes p -> law outcomes q -> 0 < x ->
  hockey_stick outcomes x q p == 1 - x + x * hockey_stick outcomes (/ x) p q.
Proof.
  intros A outcomes p q x [_ p_total] [_ q_total] ?. unfold hockey_stick.
  transitivity (sum outcomes (fun a => (q a - x * p a) + x * pos (p a - / x * q a))).
  - apply sum_ext. intros a _.
    rewrite <- (pos_scale x) by lra.
    setoid_replace (x * (p a - / x * q a)) with (- (q a - x * p a)) by (field; lra).
    set (gap := q a - x * p a). clearbody gap. split_pos; lra.
  - rewrite sum_plus, sum_scale, sum_minus_scaled, p_total, q_total. ring.
Qed.

Theorem both_orders : forall {A B : Type} (outcomes : list A) (atoms : list B) p q u v,
  law outcomes p -> law outcomes q -> law atoms u -> law atoms v ->
  dominated outcomes p q atoms u v -> dominated outcomes q p atoms v u.
Proof.
  intros A B outcomes atoms p q u v p_law q_law u_law v_law held x ?.
  destruct (Qlt_le_dec 0 x) as [above | below].
  - rewrite (reversed_curve outcomes), (reversed_curve atoms) by assumption.
    assert (0 <= / x) as turned by (apply Qlt_le_weak, Qinv_lt_0_compat; assumption).
    specialize (held (/ x) turned). apply (Qmult_le_l _ _ x above) in held. lra.
  - assert (total : forall C (places : list C) r s, law places r -> hockey_stick places x r s == 1).
    { intros C places r s [nonneg <-]. apply sum_ext. intros c inside. specialize (nonneg c inside).
      setoid_replace x with 0 by lra. split_pos; lra. }
    rewrite (total _ outcomes), (total _ atoms) by assumption. lra.
Qed.

(** Both parts together; the second may depend on the first. *)
Definition joint {A B : Type} (p : A -> Q) (k : A -> B -> Q) (ab : A * B) : Q := p (fst ab) * k (fst ab) (snd ab).

Section Share.
  Context {B C : Type} (seconds : list B) (atoms : list C).

  (** One outcome of the first part: its share of the joint curve is that of the second part's curve at x q / p. *)
  Lemma share_dominated : forall (k l : B -> Q) (u v : C -> Q) p q x,
    0 <= p -> 0 <= q -> 0 <= x ->
    (forall b, In b seconds -> 0 <= k b) -> (forall b, In b seconds -> 0 <= l b) ->
    dominated seconds k l atoms u v ->
    sum seconds (fun b => pos (p * k b - x * (q * l b))) <= sum atoms (fun c => pos (p * u c - x * (q * v c))).
  Proof.
    intros k l u v p q x ? ? ? k_nonneg l_nonneg held.
    destruct (Qlt_le_dec 0 p) as [above | below].
    - pose (y := x * q / p).
      assert (0 <= y) as turned by (unfold y; apply Qle_shift_div_l; nra).
      assert (scaled : forall D (places : list D) f g,
        sum places (fun d => pos (p * f d - x * (q * g d))) == p * hockey_stick places y f g).
      { intros D places f g. unfold hockey_stick. rewrite <- sum_scale. apply sum_ext. intros d _.
        rewrite <- pos_scale by assumption. apply pos_proper. unfold y. field. lra. }
      rewrite (scaled _ seconds), (scaled _ atoms). specialize (held y turned). nra.
    - apply Qle_trans with 0; [| apply sum_nonneg; intros; apply pos_nonneg].
      rewrite <- (sum_zero seconds). apply sum_le. intros b inside.
      specialize (k_nonneg b inside). specialize (l_nonneg b inside).
      assert (0 <= x * (q * l b)) by (repeat apply Qmult_le_0_compat; assumption).
      assert (p * k b == 0) by (setoid_replace p with 0 by lra; ring).
      split_pos; lra.
  Qed.

End Share.

Theorem two_parts_dominated : forall {A B C D : Type}
    (firsts : list A) (seconds : list B) (ones : list C) (twos : list D) p q k l r s u v,
  law firsts p -> law firsts q -> (forall a, law seconds (k a)) -> (forall a, law seconds (l a)) ->
  law twos u -> law twos v ->
  dominated firsts p q ones r s -> (forall a, dominated seconds (k a) (l a) twos u v) ->
  dominated (list_prod firsts seconds) (joint p k) (joint q l)
            (list_prod ones twos) (joint r (fun _ => u)) (joint s (fun _ => v)).
Proof.
  intros A B C D firsts seconds ones twos p q k l r s u v p_law q_law k_law l_law u_law v_law first second x ?.
  unfold hockey_stick, joint. rewrite !sum_prod. simpl.
  (* The second part is exchanged ... *)
  apply Qle_trans with (sum firsts (fun a => sum twos (fun d => pos (p a * u d - x * (q a * v d))))).
  - apply sum_le. intros a inside. apply share_dominated; try assumption;
      [apply p_law | apply q_law | apply (k_law a) | apply (l_law a) | apply second]; assumption.
  (* ... and then the first. *)
  - rewrite sum_swap, (sum_swap ones). apply sum_le. intros d inside.
    apply Qle_trans with (sum firsts (fun a => pos (u d * p a - x * (v d * q a)))).
    + apply Qle_lteq. right. apply sum_ext. intros a _. apply pos_proper. ring.
    + apply Qle_trans with (sum ones (fun c => pos (u d * r c - x * (v d * s c)))).
      * apply share_dominated; try assumption;
          [apply u_law | apply v_law | apply p_law | apply q_law]; assumption.
      * apply Qle_lteq. right. apply sum_ext. intros c _. apply pos_proper. ring.
Qed.

Section Rounds.
  Context {A C : Type} (outcomes : list A) (atoms : list C).
  Context (p q : list A -> A -> Q) (u v : nat -> C -> Q).
  Hypothesis p_law : forall past, law outcomes (p past).
  Hypothesis q_law : forall past, law outcomes (q past).
  Hypothesis u_law : forall i, law atoms (u i).
  Hypothesis v_law : forall i, law atoms (v i).

  (** Whatever was published before, round i's pair is dominated by (u i, v i). *)
  Hypothesis each_round : forall past, dominated outcomes (p past) (q past) atoms (u (length past)) (v (length past)).

  (** Independent rounds: the law of round i, from `start` on, does not look at the past. *)
  Fixpoint independent (w : nat -> C -> Q) (start : nat) (transcript : list C) : Q :=
    match transcript with
    | [] => 1
    | c :: later => w start c * independent w (S start) later
    end.

  Lemma independent_nonneg : forall w, (forall i, law atoms (w i)) -> forall n start transcript,
    In transcript (transcripts atoms n) -> 0 <= independent w start transcript.
  Proof.
    intros w laws. induction n as [| n IH]; intros start [| c later] inside; simpl; try lra.
    - destruct inside as [same | []]. discriminate.
    - apply in_transcripts in inside as [known inside].
      apply Qmult_le_0_compat; [apply (laws start) | apply IH]; assumption.
  Qed.

  Lemma independent_law : forall w, (forall i, law atoms (w i)) -> forall n start,
    law (transcripts atoms n) (independent w start).
  Proof.
    intros w laws n start. split; [intros; apply (independent_nonneg w laws n start); assumption |].
    revert start. induction n as [| n IH]; intro start; [simpl; ring |].
    rewrite sum_transcripts. destruct (laws start) as [_ <-]. apply sum_ext. intros c _. simpl.
    rewrite sum_scale, IH. ring.
  Qed.

  Lemma rounds_from : forall n past,
    dominated (transcripts outcomes n) (run p past) (run q past)
              (transcripts atoms n) (independent u (length past)) (independent v (length past)).
  Proof.
    induction n as [| n IH]; intros past x ?.
    - unfold hockey_stick. simpl. lra.
    - pose (U := independent u (S (length past))). pose (V := independent v (S (length past))).
      rewrite hockey_stick_run.
      (* The rounds after the first are exchanged ... *)
      apply Qle_trans with (sum outcomes (fun a => sum (transcripts atoms n) (fun later =>
        pos (p past a * U later - x * (q past a * V later))))).
      + apply sum_le. intros a known. apply share_dominated; try assumption.
        * apply (p_law past). assumption.
        * apply (q_law past). assumption.
        * apply (run_law outcomes p p_law n (a :: past)).
        * apply (run_law outcomes q q_law n (a :: past)).
        * apply (IH (a :: past)).
      (* ... and then the first. *)
      + rewrite sum_swap. unfold hockey_stick. rewrite sum_transcripts. simpl.
        rewrite (sum_swap atoms (transcripts atoms n)).
        apply sum_le. intros later inside.
        apply Qle_trans with (sum outcomes (fun a => pos (U later * p past a - x * (V later * q past a)))).
        * apply Qle_lteq. right. apply sum_ext. intros a _. apply pos_proper. ring.
        * apply Qle_trans with (sum atoms (fun c =>
            pos (U later * u (length past) c - x * (V later * v (length past) c)))).
          -- apply share_dominated; try assumption.
             ++ apply (independent_nonneg u u_law n). assumption.
             ++ apply (independent_nonneg v v_law n). assumption.
             ++ apply (p_law past).
             ++ apply (q_law past).
             ++ apply each_round.
          -- apply Qle_lteq. right. apply sum_ext. intros c _. apply pos_proper. unfold U, V. ring.
  Qed.

  Theorem rounds_dominated : forall n,
    dominated (transcripts outcomes n) (run p []) (run q [])
              (transcripts atoms n) (independent u 0) (independent v 0).
  Proof. intro n. apply (rounds_from n []). Qed.
End Rounds.
