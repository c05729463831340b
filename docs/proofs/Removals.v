(** An item and its removal.

    In words: an element enters a stream and is taken out later by the same amount. The nodes of Fenwick's tree
    that hold both do not move; the others move by one step each. They are at most 2 (floor(log2 T) + 1) - 1
    nodes: below the top level an element lies in at most floor(log2 T) nodes, and the top node counts once. The
    squared distance of all nodes is their number.
    Used by docs/theory/trees.md ("An item and its removal") and docs/papers/dueling.md (readings R2 and R3). *)

From Proofs Require Export Participations.
Local Open Scope nat_scope.

(** Nodes that hold one of two elements and not the other. *)
Definition parted (T one other : nat) : list nat := filter (fun n => xorb (holds n one) (holds n other)) (seq 1 T).

(** Below the top level an element lies in at most floor(log2 T) nodes. *)
Lemma touched_below_top : forall T element, 0 < element ->
  length (filter (fun n => negb (n =? 2 ^ Nat.log2 T)) (touched T element)) <= Nat.log2 T.
Proof.
  intros T element e_positive. set (nodes := filter _ _).
  assert (spec : forall n, In n nodes -> n = block_end element (level n) /\ level n < Nat.log2 T).
  { intros n inside. apply filter_In in inside as [inside other].
    apply filter_In in inside as [range held]. apply in_seq in range.
    split; [apply holds_iff; try assumption; lia |].
    rewrite negb_true_iff, Nat.eqb_neq in other. apply Nat.nle_gt. intro high. apply other.
    destruct (odd_multiple n) as [m same]; [lia |]. unfold lowbit in same.
    destruct (Nat.log2_spec T) as [_ above]; [lia |].
    assert (2 ^ Nat.log2 T <= 2 ^ level n) by (apply Nat.pow_le_mono_r; lia).
    simpl in above. assert (m = 0) by nia. subst m.
    assert (level n = Nat.log2 T) as same_level; [| rewrite <- same_level; lia].
    enough (level n <= Nat.log2 T) by lia. apply Nat.log2_le_pow2; lia. }
  rewrite <- (map_length level). replace (Nat.log2 T) with (length (seq 0 (Nat.log2 T))) by apply seq_length.
  apply NoDup_incl_length.
  - apply (NoDup_map_inv (block_end element)). rewrite map_map.
    rewrite (map_ext_in _ (fun n => n)); [rewrite map_id; apply NoDup_filter, NoDup_filter, seq_NoDup |].
    intros n inside. symmetry. apply spec. assumption.
  - intros k inside. apply in_map_iff in inside as [n [<- inside]]. apply in_seq. specialize (spec n inside). lia.
Qed.

Theorem parted_at_most : forall T one other, 0 < one -> 0 < other ->
  length (parted T one other) <= 2 * (Nat.log2 T + 1) - 1.
Proof.
  intros T one other ? ?. set (top := 2 ^ Nat.log2 T). pose (below := filter (fun n => negb (n =? top))).
  assert (length (parted T one other) <= length (top :: below (touched T one) ++ below (touched T other))) as bound.
  { apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup |].
    intros n inside. apply filter_In in inside as [range apart].
    destruct (n =? top) eqn:is_top; [left; symmetry; apply Nat.eqb_eq; assumption | right].
    unfold below, touched. rewrite in_app_iff, !filter_In, is_top.
    destruct (holds n one), (holds n other); try discriminate; auto. }
  simpl in bound. rewrite app_length in bound.
  assert (length (below (touched T one)) <= Nat.log2 T) by (apply touched_below_top; assumption).
  assert (length (below (touched T other)) <= Nat.log2 T) by (apply touched_below_top; assumption).
  lia.
Qed.

(** As a schedule of two participations with opposite signs. *)
Theorem removal_costs_parted_nodes : forall T one other,
  (fenwick_counts T [(one, 1); (other, -1)] == inject_Z (Z.of_nat (length (parted T one other))))%Q.
Proof.
  intros T one other. unfold fenwick_counts, squared_counts, parted. rewrite <- sum_indicator.
  apply sum_ext. intros n _.
  unfold signed_count. simpl. destruct (holds n one), (holds n other); simpl; ring.
Qed.
