(** The squared sensitivity of several participations at given leaves.

    In words: two streams differ at the leaves of a schedule, by the signs of the schedule times one step. The
    squared l2 distance of the vectors of all node sums is the squared step times the sum over nodes of (signed
    count)^2. That is the squared step times the sum over pairs of participations of sign * sign * (number of
    nodes that hold both leaves). For one participation it is the number of nodes that hold the leaf; for k of
    them at most k^2 (floor(log2 T) + 1).
    Used by docs/theory/trees.md ("Several participations"). *)

From Coq Require Export Qabs.
From Proofs Require Export Tree CompleteTree Sums.

(** Participations: each a leaf and a signed weight, +1 or -1. *)
Definition schedule : Type := list (nat * Q).

(** By how many steps the schedule moves leaf t. *)
Definition moved (plan : schedule) (t : nat) : Q := sum plan (fun one => if Nat.eqb (fst one) t then snd one else 0).

Section Tree.
  (** Any tree: its nodes, and which leaves each holds. *)
  Context {node : Type} (nodes : list node) (within : node -> nat -> bool) (T : nat).

  Definition node_sum (stream : nat -> Q) (n : node) : Q :=
    sum (seq 1 T) (fun t => if within n t then stream t else 0).
  Definition signed_count (plan : schedule) (n : node) : Q :=
    sum plan (fun one => if within n (fst one) then snd one else 0).
  Definition squared_counts (plan : schedule) : Q :=
    sum nodes (fun n => signed_count plan n * signed_count plan n).
  (** How many nodes hold both leaves. *)
  Definition common (one other : nat) : Q := sum nodes (fun n => if within n one && within n other then 1 else 0).

  Lemma sum_one_place : forall places t w, NoDup places -> In t places ->
    sum places (fun s => if Nat.eqb t s then w else 0) == w.
  Proof.
    induction places as [| s rest IH]; intros t w different inside; [destruct inside |].
    inversion different as [| ? ? absent distinct]. subst. simpl. destruct (Nat.eqb_spec t s) as [-> | other].
    - rewrite (sum_ext rest _ (fun _ => 0)), sum_zero; [ring |].
      intros u there. destruct (Nat.eqb_spec s u); [subst; contradiction | reflexivity].
    - destruct inside as [same | inside]; [congruence |]. rewrite IH by assumption. ring.
  Qed.

  Lemma node_moves : forall plan step before after n,
    (forall one, In one plan -> In (fst one) (seq 1 T)) ->
    (forall t, after t == before t + step * moved plan t) ->
    node_sum after n - node_sum before n == step * signed_count plan n.
  Proof.
    intros plan step before after n leaves change.
    pose (weight := fun one : nat * Q => if within n (fst one) then snd one else 0).
    assert (change_sum : node_sum after n == node_sum before n
      + step * sum (seq 1 T) (fun t => sum plan (fun one => if Nat.eqb (fst one) t then weight one else 0))).
    { unfold node_sum. rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros t _.
      assert (sum plan (fun one => if Nat.eqb (fst one) t then weight one else 0)
        == if within n t then moved plan t else 0) as ->;
        [| destruct (within n t); [rewrite (change t) |]; ring].
      unfold moved, weight. destruct (within n t) eqn:held.
      - apply sum_ext. intros one _. destruct (Nat.eqb_spec (fst one) t) as [-> |]; [rewrite held |]; reflexivity.
      - rewrite <- (sum_zero plan). apply sum_ext. intros one _.
        destruct (Nat.eqb_spec (fst one) t) as [-> |]; [rewrite held |]; reflexivity. }
    rewrite change_sum, sum_swap.
    assert (sum plan (fun one => sum (seq 1 T) (fun t => if Nat.eqb (fst one) t then weight one else 0))
      == signed_count plan n) as ->; [| ring].
    apply sum_ext. intros one inside. apply sum_one_place; [apply seq_NoDup | apply leaves; assumption].
  Qed.

  Theorem squared_distance : forall plan step before after,
    (forall one, In one plan -> In (fst one) (seq 1 T)) ->
    (forall t, after t == before t + step * moved plan t) ->
    sum nodes (fun n => (node_sum after n - node_sum before n) * (node_sum after n - node_sum before n))
      == step * step * squared_counts plan.
  Proof.
    intros plan step before after leaves change. unfold squared_counts. rewrite <- sum_scale. apply sum_ext. intros n _.
    rewrite (node_moves plan step) by assumption. ring.
  Qed.

  Theorem squared_counts_by_pairs : forall plan,
    squared_counts plan
      == sum plan (fun one => sum plan (fun other => snd one * snd other * common (fst one) (fst other))).
  Proof.
    intro plan. unfold squared_counts, signed_count, common.
    transitivity (sum nodes (fun n => sum plan (fun one => sum plan (fun other =>
      snd one * snd other * (if within n (fst one) && within n (fst other) then 1 else 0))))).
    - apply sum_ext. intros n _. rewrite <- sum_scale_right. apply sum_ext. intros one _.
      rewrite <- sum_scale. apply sum_ext. intros other _.
      destruct (within n (fst one)), (within n (fst other)); simpl; ring.
    - rewrite sum_swap. apply sum_ext. intros one _. rewrite sum_swap. apply sum_ext. intros other _. apply sum_scale.
  Qed.
End Tree.

(** One participation, in l1: each node that holds the leaf moves by one step. *)
Theorem l1_distance : forall {node : Type} (nodes : list node) within T leaf step before after,
  In leaf (seq 1 T) -> (forall t, after t == before t + step * moved [(leaf, 1)] t) ->
  sum nodes (fun n => Qabs (node_sum within T after n - node_sum within T before n))
    == Qabs step * sum nodes (fun n => if within n leaf then 1 else 0).
Proof.
  intros node nodes within T leaf step before after inside change. rewrite <- sum_scale. apply sum_ext. intros n _.
  rewrite (node_moves within T [(leaf, 1)] step) by (try assumption; intros one [<- | []]; assumption).
  rewrite Qabs_Qmult. unfold signed_count. simpl. destruct (within n leaf); reflexivity.
Qed.

(** Fenwick's tree and the complete one. *)
Definition fenwick_counts (T : nat) : schedule -> Q := squared_counts (seq 1 T) holds.
Definition complete_counts (T : nat) : schedule -> Q := squared_counts (blocks T) block_holds.

Definition signs_only (plan : schedule) : Prop := forall one, In one plan -> (0 < fst one)%nat /\ -1 <= snd one <= 1.

Lemma sum_indicator : forall {A : Type} (places : list A) (f : A -> bool),
  sum places (fun a => if f a then 1 else 0) == inject_Z (Z.of_nat (length (filter f places))).
Proof.
  intros A places f. induction places as [| a rest IH]; [reflexivity |]. simpl. rewrite IH. destruct (f a); [| ring].
  simpl length. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. ring.
Qed.

(** One participation costs exactly the nodes that hold its leaf. *)
Theorem one_participation : forall T leaf,
  fenwick_counts T [(leaf, 1)] == inject_Z (Z.of_nat (length (touched T leaf))).
Proof.
  intros T leaf. unfold fenwick_counts, squared_counts, touched. rewrite <- sum_indicator. apply sum_ext. intros n _.
  unfold signed_count. simpl. destruct (holds n leaf); ring.
Qed.

Lemma bounded_square : forall {node : Type} (nodes : list node) (within : node -> nat -> bool) most plan,
  (forall leaf, (0 < leaf)%nat -> (length (filter (fun n => within n leaf) nodes) <= most)%nat) ->
  signs_only plan ->
  squared_counts nodes within plan
    <= inject_Z (Z.of_nat (length plan)) * inject_Z (Z.of_nat (length plan)) * inject_Z (Z.of_nat most).
Proof.
  intros node nodes within most plan few signs. rewrite squared_counts_by_pairs.
  assert (each : forall (others : schedule) f bound, (forall one, In one others -> f one <= bound) ->
    sum others f <= inject_Z (Z.of_nat (length others)) * bound).
  { induction others as [| one rest IH]; intros f bound below; simpl sum; simpl length.
    - change (inject_Z (Z.of_nat 0)) with 0. lra.
    - rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. change (inject_Z 1) with 1.
      pose proof (below one (or_introl eq_refl)).
      pose proof (IH f bound (fun other there => below other (or_intror there))). lra. }
  rewrite <- Qmult_assoc. apply each. intros one here. apply each. intros other there.
  destruct (signs one here) as [one_positive one_sign]. destruct (signs other there) as [_ other_sign].
  assert (0 <= common nodes within (fst one) (fst other) <= inject_Z (Z.of_nat most)).
  { unfold common. split; [apply sum_nonneg; intros n _; destruct (within n (fst one) && within n (fst other)); lra |].
    apply Qle_trans with (sum nodes (fun n => if within n (fst one) then 1 else 0)).
    - apply sum_le. intros n _. destruct (within n (fst one)), (within n (fst other)); simpl; lra.
    - rewrite sum_indicator, <- Zle_Qle. apply inj_le, few. assumption. }
  assert (snd one * snd other <= 1) by nra.
  set (both := common nodes within (fst one) (fst other)) in *. nra.
Qed.

Theorem participations_at_most : forall T plan, signs_only plan ->
  fenwick_counts T plan
    <= inject_Z (Z.of_nat (length plan)) * inject_Z (Z.of_nat (length plan)) * inject_Z (Z.of_nat (Nat.log2 T + 1)).
Proof. intros T plan signs. apply bounded_square; [intros; apply touched_at_most |]; assumption. Qed.

Theorem participations_at_most_complete : forall T plan, signs_only plan ->
  complete_counts T plan
    <= inject_Z (Z.of_nat (length plan)) * inject_Z (Z.of_nat (length plan)) * inject_Z (Z.of_nat (Nat.log2 T + 1)).
Proof. intros T plan signs. apply bounded_square; [intros; apply touched_blocks_at_most |]; assumption. Qed.

(** The page's numbers for 16 leaves, which are of the complete tree: one leaf, and two leaves at several distances. *)
Theorem page_examples :
  complete_counts 16 [(1%nat, 1)] == 5 /\ complete_counts 16 [(1%nat, 1); (2%nat, 1)] == 18 /\
  complete_counts 16 [(1%nat, 1); (9%nat, 1)] == 12 /\ complete_counts 16 [(1%nat, 1); (16%nat, 1)] == 12.
Proof. vm_compute. repeat split; reflexivity. Qed.

(** The same in Fenwick's tree, which the mechanism releases: never more. *)
Theorem fenwick_examples :
  fenwick_counts 16 [(1%nat, 1)] == 5 /\ fenwick_counts 16 [(1%nat, 1); (2%nat, 1)] == 17 /\
  fenwick_counts 16 [(1%nat, 1); (9%nat, 1)] == 11 /\ fenwick_counts 16 [(1%nat, 1); (16%nat, 1)] == 8.
Proof. vm_compute. repeat split; reflexivity. Qed.
