(** The billboard lemma.

    In words: a billboard is computed from everybody's records and is (epsilon, delta)-private when one person's
    whole record is replaced. Every user's output is drawn from the billboard and that user's own record alone.
    Then, for every user i and every coalition of other users, the billboard together with all outputs of the
    coalition is (epsilon, delta)-close under any two values of i's record: the outputs are (epsilon,
    delta)-jointly private.
    Used by docs/theory/joint_and_local.md ("Definitions and theorems") and docs/theory/printed_arguments.md (rule
    `billboard`). *)

From Proofs Require Export PostProcessing Parallel.

Section Billboard.
  Context {user record board output : Type}.
  Context (boards : list board) (outputs : list output).

  (** Everybody's records. *)
  Definition data : Type := user -> record.

  (** Replacement of i's whole record; nobody else's record changes. *)
  Definition replaced (i : user) (one other : data) : Prop := forall j, j <> i -> one j = other j.

  (** `billboard d` is the law of the public release; `reply r b` is that of the output of a user with record r. *)
  Context (billboard : data -> board -> Q) (reply : record -> board -> output -> Q).
  Hypothesis reply_law : forall r b, law outputs (reply r b).

  (** The law of the coalition's outputs, in the coalition's order, given the billboard. *)
  Fixpoint replies (d : data) (coalition : list user) (b : board) (shown : list output) : Q :=
    match coalition, shown with
    | [], [] => 1
    | j :: others, o :: rest => reply (d j) b o * replies d others b rest
    | _, _ => 0
    end.

  (** What the coalition sees: the billboard and its own outputs. *)
  Definition views (coalition : list user) : list (board * list output) :=
    list_prod boards (transcripts outputs (length coalition)).
  Definition view (coalition : list user) (d : data) (seen : board * list output) : Q :=
    billboard d (fst seen) * replies d coalition (fst seen) (snd seen).

  Lemma replies_law : forall d coalition b, law (transcripts outputs (length coalition)) (replies d coalition b).
  Proof.
    intros d coalition b. induction coalition as [| j others IH]; split.
    - simpl. intros shown [<- | []]. simpl. lra.
    - simpl. ring.
    - intros [| o rest] inside; [simpl; lra |].
      apply in_transcripts in inside as [known inside].
      simpl. apply Qmult_le_0_compat; [apply (reply_law (d j) b) | apply IH]; assumption.
    - simpl length. rewrite sum_transcripts. destruct (reply_law (d j) b) as [_ <-].
      apply sum_ext. intros o _. simpl. rewrite sum_scale. destruct IH as [_ ->]. ring.
  Qed.

  Lemma replies_same : forall i one other coalition b shown, replaced i one other -> ~ In i coalition ->
    replies one coalition b shown = replies other coalition b shown.
  Proof.
    intros i one other coalition b shown same. revert shown.
    induction coalition as [| j others IH]; intros [| o rest] outside; simpl; try reflexivity.
    rewrite (same j), IH; [reflexivity | |]; intro inside; apply outside; simpl; auto.
  Qed.

  Theorem billboard_lemma : forall i factor delta,
    private (replaced i) boards billboard factor delta ->
    forall coalition, ~ In i coalition -> private (replaced i) (views coalition) (view coalition) factor delta.
  Proof.
    intros i factor delta held coalition outside one other same. apply close_iff_hockey_stick.
    assert (bound : hockey_stick boards factor (billboard one) (billboard other) <= delta)
      by (apply close_iff_hockey_stick, held, same).
    refine (Qle_trans _ _ _ _ bound). unfold hockey_stick, views, view. rewrite sum_prod. simpl.
    apply sum_le. intros b _. destruct (replies_law one coalition b) as [nonneg total].
    rewrite <- (Qmult_1_r (pos (billboard one b - factor * billboard other b))), <- total, <- sum_scale.
    apply sum_le. intros shown inside. rewrite <- (replies_same i one other) by assumption.
    rewrite pos_common by (apply nonneg; assumption). lra.
  Qed.

  (** Joint privacy in its own words: events of the outputs that the coalition was shown. *)
  Corollary joint_privacy : forall factor delta,
    (forall i, private (replaced i) boards billboard factor delta) ->
    forall i coalition, ~ In i coalition -> forall one other, replaced i one other ->
    forall event : list output -> bool,
      prob (views coalition) (view coalition one) (fun seen => event (snd seen))
        <= factor * prob (views coalition) (view coalition other) (fun seen => event (snd seen)) + delta.
  Proof.
    intros factor delta held i coalition outside one other same event.
    apply (deterministic_post_processing (views coalition) snd).
    apply (billboard_lemma i factor delta); auto.
  Qed.
End Billboard.

(** The online form. In each round something public is released, and then all other users act: their outputs, and the
    data that they bring next, depend on what was shown before and on nothing else of user i. User i takes part in one
    round, which the public past decides, and that round's release is (epsilon, delta)-close. Then the transcript of all
    releases and of everything that the others did is (epsilon, delta)-close. *)
Section Online.
  Context {board act : Type} (boards : list board) (acts : list act).
  Context (p q : list (board * act) -> board -> Q) (others : list (board * act) -> board -> act -> Q).
  Context (meets : list (board * act) -> bool).
  Hypothesis p_law : forall past, law boards (p past).
  Hypothesis q_law : forall past, law boards (q past).
  Hypothesis others_law : forall past b, law acts (others past b).
  Hypothesis absent : forall past, meets past = false -> forall b, p past b == q past b.
  Hypothesis once : forall past later, meets past = true -> later <> [] -> meets (later ++ past) = false.

  Definition round (release : list (board * act) -> board -> Q) past (shown : board * act) : Q :=
    release past (fst shown) * others past (fst shown) (snd shown).

  Lemma round_law : forall release, (forall past, law boards (release past)) ->
    forall past, law (list_prod boards acts) (round release past).
  Proof.
    intros release laws past. destruct (laws past) as [nonneg total]. unfold round. split.
    - intros [b x] inside. apply in_prod_iff in inside as [? ?]. simpl.
      apply Qmult_le_0_compat; [apply nonneg | apply (others_law past b)]; assumption.
    - rewrite sum_prod. simpl. rewrite <- total. apply sum_ext. intros b _.
      rewrite sum_scale. destruct (others_law past b) as [_ ->]. ring.
  Qed.

  Theorem online_billboard : forall factor delta, 1 <= factor -> 0 <= delta ->
    (forall past, meets past = true -> close boards factor delta (p past) (q past)) ->
    forall n, close (transcripts (list_prod boards acts) n) factor delta (run (round p) []) (run (round q) []).
  Proof.
    intros factor delta ? ? held.
    apply (parallel_composition (list_prod boards acts) (round p) (round q) meets); try assumption.
    - apply round_law, p_law.
    - intros past away [b x]. unfold round. simpl. rewrite (absent past away b). reflexivity.
    - intros past here. specialize (held past here). apply close_iff_hockey_stick in held. apply close_iff_hockey_stick.
      refine (Qle_trans _ _ _ _ held). unfold hockey_stick, round. rewrite sum_prod. simpl.
      apply sum_le. intros b _. destruct (others_law past b) as [nonneg total].
      rewrite <- (Qmult_1_r (pos (p past b - factor * q past b))), <- total, <- sum_scale.
      apply sum_le. intros x inside. rewrite pos_common by (apply nonneg; assumption). lra.
  Qed.
End Online.
