(** A counter that is called on wins only is not private, whatever its noise.

    In words: the literal reading R0 of DP-EBS calls a noisy counter on a win and leaves it alone on a loss.
    Before the first win it shows exactly 0. Smallest instance: one duel, one person, who answers win or loss.
    After a loss the output is 0; after a win it is 1 + noise. The event "not 0" has probability 0 under the one
    answer, and the probability that the noise is not -1 under the other. Hence no factor e^epsilon helps: delta
    is at least that probability, and at least 1/2 for noise that is symmetric around 0.
    Used by docs/papers/dueling.md (readings R0 to R4) and docs/theory/trees.md (the stream's length must not
    depend on data). *)

From Proofs Require Export HockeyStick.
From Coq Require Import Lia.
Local Open Scope Q_scope.

Section ClockOfWins.
  (** The noise law on finitely many integers; `noise k` is the probability of k. *)
  Context (values : list Z) (noise : Z -> Q).
  Hypothesis noise_law : law values noise.
  Hypothesis distinct : NoDup values.
  (** -1 is listed, perhaps with weight 0, so that 0 is among the outputs. *)
  Hypothesis minus_one_listed : In (-1)%Z values.

  (** What the counter shows: 1 + noise after a win, exactly 0 after a loss. *)
  Definition outputs : list Z := map (Z.add 1) values.
  Definition shown (win : bool) (output : Z) : Q :=
    if win then noise (output - 1) else if Z.eqb output 0 then 1 else 0.

  Lemma sum_at : forall places w, NoDup places -> In (-1)%Z places ->
    sum places (fun k => if Z.eqb (1 + k) 0 then w k else 0) == w (-1)%Z.
  Proof.
    induction places as [| k rest IH]; intros w separate inside; [destruct inside |].
    inversion separate as [| ? ? absent others]. subst. cbn [sum]. destruct (Z.eqb_spec (1 + k) 0) as [zero | other].
    - assert (k = -1)%Z by lia. subst k.
      rewrite (sum_ext rest _ (fun _ => 0)), sum_zero; [ring |].
      intros j there. destruct (Z.eqb_spec (1 + j) 0); [| reflexivity].
      assert (j = -1)%Z by lia. subst j. contradiction.
    - destruct inside as [same | inside]; [lia |]. rewrite IH by assumption. ring.
  Qed.

  Lemma shown_law : forall win, law outputs (shown win).
  Proof.
    destruct noise_law as [nonneg total]. intros [|]; unfold outputs, shown; split.
    - intros z inside. apply in_map_iff in inside as [k [<- inside]].
      replace (1 + k - 1)%Z with k by lia. apply nonneg. assumption.
    - rewrite sum_map, <- total. apply sum_ext. intros k _. replace (1 + k - 1)%Z with k by lia. reflexivity.
    - intros z _. destruct (Z.eqb z 0); lra.
    - rewrite sum_map. apply (sum_at values (fun _ => 1)); assumption.
  Qed.

  Theorem no_epsilon : forall factor delta,
    close outputs factor delta (shown true) (shown false) -> 1 - noise (-1)%Z <= delta.
  Proof.
    intros factor delta held. specialize (held (fun z => negb (Z.eqb z 0))).
    destruct noise_law as [_ total].
    assert (prob outputs (shown false) (fun z => negb (Z.eqb z 0)) == 0) as silent.
    { unfold prob. rewrite <- (sum_zero outputs). apply sum_ext. intros z _.
      unfold shown. destruct (Z.eqb z 0); reflexivity. }
    assert (prob outputs (shown true) (fun z => negb (Z.eqb z 0)) == 1 - noise (-1)%Z) as heard.
    { rewrite <- total, <- (sum_at values noise) by assumption.
      setoid_replace (sum values noise) with (sum values (fun k => if Z.eqb (1 + k) 0 then 0 else noise k)
        + sum values (fun k => if Z.eqb (1 + k) 0 then noise k else 0)).
      - unfold prob, outputs, shown. rewrite sum_map.
        rewrite (sum_ext values _ (fun k => if Z.eqb (1 + k) 0 then 0 else noise k)); [ring |].
        intros k _. replace (1 + k - 1)%Z with k by lia. destruct (Z.eqb (1 + k) 0); reflexivity.
      - rewrite <- sum_plus. apply sum_ext. intros k _. destruct (Z.eqb (1 + k) 0); ring. }
    rewrite silent, heard in held. lra.
  Qed.

  Corollary no_epsilon_below_half : forall factor delta,
    noise 1%Z == noise (-1)%Z -> In 1%Z values ->
    close outputs factor delta (shown true) (shown false) -> 1#2 <= delta.
  Proof.
    intros factor delta symmetric inside held. pose proof (no_epsilon factor delta held).
    destruct noise_law as [nonneg total].
    assert (noise (-1)%Z + noise 1%Z <= 1).
    { rewrite <- total. apply in_split in minus_one_listed as [before [after same]].
      assert (NoDup (before ++ after) /\ In 1%Z (before ++ after)) as [_ there].
      { split; [rewrite same in distinct; apply NoDup_remove_1 in distinct; assumption |].
        rewrite same in inside. apply in_app_iff in inside as [inside | [wrong | inside]]; [| discriminate |];
          apply in_app_iff; auto. }
      apply in_split in there as [first [last split_there]].
      assert (rest_nonneg : forall k, In k (before ++ after) -> 0 <= noise k).
      { intros k known. apply nonneg. rewrite same. apply in_app_iff.
        apply in_app_iff in known as []; [left | right; right]; assumption. }
      assert (sum values noise == noise (-1)%Z + sum (before ++ after) noise) as ->
        by (rewrite same, !sum_app; simpl; ring).
      assert (sum (before ++ after) noise == noise 1%Z + sum (first ++ last) noise) as ->
        by (rewrite split_there, !sum_app; simpl; ring).
      assert (0 <= sum (first ++ last) noise).
      { apply sum_nonneg. intros k known. apply rest_nonneg. rewrite split_there.
        apply in_app_iff. apply in_app_iff in known as []; [left | right; right]; assumption. }
      lra. }
    lra.
  Qed.
End ClockOfWins.
