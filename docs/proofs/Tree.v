(** How many nodes of a prefix tree hold one element.

    In words: number the nodes of the tree over a stream of T elements from 1 to T; node n holds the last
    lowbit(n) elements up to n, where lowbit(n) is the largest power of two that divides n (Fenwick's layout). An
    element lies in at most floor(log2 T) + 1 nodes. The exact number counts the levels k at which the block of
    2^k elements that holds it is a left child and ends by T; the first element attains the bound.
    Used by docs/theory/trees.md ("The theorems") and docs/theory/printed_arguments.md (rule `tree`). *)

From Coq Require Export PArith Arith Lia Bool List Permutation.
Export ListNotations.

(** The number of times that 2 divides n. *)
Fixpoint halvings (n : positive) : nat := match n with xO half => S (halvings half) | _ => O end.
Definition level (n : nat) : nat := halvings (Pos.of_nat n).
Definition lowbit (n : nat) : nat := 2 ^ level n.

(** Node n holds the elements n - lowbit(n) + 1, ..., n. *)
Definition holds (n element : nat) : bool := (n - lowbit n <? element) && (element <=? n).
Definition touched (T element : nat) : list nat := filter (fun n => holds n element) (seq 1 T).

(** The last element of the aligned block of 2^k elements that holds `element`. *)
Definition block_end (element k : nat) : nat := ((element - 1) / 2 ^ k + 1) * 2 ^ k.
Definition left_child_in_time (T element k : nat) : bool :=
  Nat.even ((element - 1) / 2 ^ k) && (block_end element k <=? T).

Lemma level_double : forall n, 0 < n -> level (2 * n) = S (level n).
Proof.
  intros n ?. unfold level. replace (Pos.of_nat (2 * n)) with (xO (Pos.of_nat n)); [reflexivity |].
  apply Pos2Nat.inj. rewrite Pos2Nat.inj_xO, !Nat2Pos.id; lia.
Qed.

Lemma level_odd : forall m, level (2 * m + 1) = 0.
Proof.
  intros [| m]; [reflexivity |]. unfold level.
  replace (Pos.of_nat (2 * S m + 1)) with (xI (Pos.of_nat (S m))); [reflexivity |].
  apply Pos2Nat.inj. rewrite Pos2Nat.inj_xI, !Nat2Pos.id; lia.
Qed.

Lemma power_positive : forall k, 0 < 2 ^ k.
Proof. intro k. apply Nat.neq_0_lt_0, Nat.pow_nonzero. lia. Qed.

Lemma level_odd_multiple : forall k m, level ((2 * m + 1) * 2 ^ k) = k.
Proof.
  induction k as [| k IH]; intro m.
  - rewrite Nat.mul_1_r. apply level_odd.
  - pose proof (power_positive k).
    replace ((2 * m + 1) * 2 ^ S k) with (2 * ((2 * m + 1) * 2 ^ k)) by (simpl; lia).
    rewrite level_double, IH; [reflexivity | nia].
Qed.

Lemma odd_multiple : forall n, 0 < n -> exists m, n = (2 * m + 1) * lowbit n.
Proof.
  assert (each : forall p, exists m, Pos.to_nat p = (2 * m + 1) * 2 ^ halvings p);
    [| intros n ?; destruct (each (Pos.of_nat n)) as [m same]; rewrite Nat2Pos.id in same by lia; exists m; exact same].
  induction p as [p _ | p [m IH] |].
  - exists (Pos.to_nat p). rewrite Pos2Nat.inj_xI. simpl. lia.
  - exists m. rewrite Pos2Nat.inj_xO. simpl halvings. rewrite IH at 1. simpl. lia.
  - exists 0. reflexivity.
Qed.

(** Of the nodes of one level, an element lies in the block that holds it and in no other. *)
Lemma holds_iff : forall n element, 0 < n -> 0 < element ->
  holds n element = true <-> n = block_end element (level n).
Proof.
  intros n element n_positive e_positive. unfold holds, block_end.
  rewrite andb_true_iff, Nat.ltb_lt, Nat.leb_le.
  destruct (odd_multiple n n_positive) as [m same]. fold (lowbit n).
  assert (0 < lowbit n) by apply power_positive. split.
  - intros [after before].
    replace ((element - 1) / lowbit n) with (2 * m); [lia |].
    apply Nat.div_unique with (element - 1 - 2 * m * lowbit n); nia.
  - intro block. pose proof (Nat.div_mod (element - 1) (lowbit n)) as divided.
    pose proof (Nat.mod_upper_bound (element - 1) (lowbit n)). nia.
Qed.

Lemma even_block : forall n element, 0 < n -> n = block_end element (level n) ->
  Nat.even ((element - 1) / 2 ^ level n) = true.
Proof.
  intros n element positive block. destruct (odd_multiple n positive) as [m same].
  assert (0 < 2 ^ level n) by apply power_positive. unfold lowbit in same. unfold block_end in block.
  apply Nat.even_spec. exists m. nia.
Qed.

Lemma level_block_end : forall element k, Nat.even ((element - 1) / 2 ^ k) = true -> level (block_end element k) = k.
Proof.
  intros element k left. apply Nat.even_spec in left as [m same].
  unfold block_end. rewrite same. apply level_odd_multiple.
Qed.

Lemma touched_spec : forall T element n, 0 < element ->
  In n (touched T element) <->
  exists k, block_end element k = n /\ In k (filter (left_child_in_time T element) (seq 0 (S (Nat.log2 T)))).
Proof.
  intros T element n e_positive. unfold touched, left_child_in_time. rewrite filter_In, in_seq. split.
  - intros [range held]. apply holds_iff in held; try lia. exists (level n). split; [symmetry; assumption |].
    apply filter_In. rewrite andb_true_iff, Nat.leb_le, <- held, in_seq. repeat split; try lia.
    + assert (2 ^ level n <= T).
      { destruct (odd_multiple n) as [m same]; [lia |]. unfold lowbit in same. nia. }
      enough (level n <= Nat.log2 T) by lia. apply Nat.log2_le_pow2; lia.
    + apply even_block; [lia | assumption].
  - intros [k [<- inside]]. apply filter_In in inside as [_ inside].
    rewrite andb_true_iff, Nat.leb_le in inside. destruct inside as [left in_time].
    assert (0 < block_end element k) by (unfold block_end; pose proof (power_positive k); nia).
    split; [lia |]. apply holds_iff; try assumption. rewrite level_block_end by assumption. reflexivity.
Qed.

(** The exact count. *)
Theorem touched_exactly : forall T element, 0 < element ->
  length (touched T element) = length (filter (left_child_in_time T element) (seq 0 (S (Nat.log2 T)))).
Proof.
  intros T element e_positive.
  rewrite <- (map_length (block_end element) (filter _ _)). apply Permutation_length, NoDup_Permutation.
  - apply NoDup_filter, seq_NoDup.
  - apply (NoDup_map_inv level). rewrite map_map.
    rewrite (map_ext_in _ (fun k => k)); [rewrite map_id; apply NoDup_filter, seq_NoDup |].
    intros k inside. apply filter_In in inside as [_ inside]. apply andb_true_iff in inside as [left _].
    apply level_block_end. assumption.
  - intro n. rewrite touched_spec, in_map_iff by assumption. reflexivity.
Qed.

Lemma filter_length : forall {A : Type} (f : A -> bool) l, length (filter f l) <= length l.
Proof. induction l as [| a rest IH]; simpl; [lia |]. destruct (f a); simpl; lia. Qed.

Theorem touched_at_most : forall T element, 0 < element -> length (touched T element) <= Nat.log2 T + 1.
Proof.
  intros T element ?. rewrite touched_exactly by assumption.
  eapply Nat.le_trans; [apply filter_length |]. rewrite seq_length. lia.
Qed.

Theorem first_element_attains : forall T, 0 < T -> length (touched T 1) = Nat.log2 T + 1.
Proof.
  intros T positive. rewrite touched_exactly by lia.
  assert (all : filter (left_child_in_time T 1) (seq 0 (S (Nat.log2 T))) = seq 0 (S (Nat.log2 T))).
  { enough (every : forall l, (forall k, In k l -> k <= Nat.log2 T) -> filter (left_child_in_time T 1) l = l).
    { apply every. intros k inside. apply in_seq in inside. lia. }
    induction l as [| k rest IH]; intro small; simpl; [reflexivity |].
    assert (left_child_in_time T 1 k = true) as ->.
    { unfold left_child_in_time, block_end. rewrite Nat.div_0_l by (pose proof (power_positive k); lia).
      simpl Nat.even. apply Nat.leb_le. specialize (small k (or_introl eq_refl)).
      apply Nat.log2_le_pow2 in small; lia. }
    rewrite IH; [reflexivity |]. intros j inside. apply small. right. assumption. }
  rewrite all, seq_length. lia.
Qed.
