(** How many nodes of a complete tree hold one element.

    In words: take all aligned blocks of 1, 2, 4, ... elements that end by T as nodes (the table of `node_matrix`
    on the page). An element lies in at most floor(log2 T) + 1 of them, one a level; the exact number counts the
    levels whose block ends by T. The first element attains the bound.
    Used by docs/theory/trees.md ("The theorems", "Several participations"). *)

From Proofs Require Export Tree.

(** Node (k, m) holds the elements m 2^k + 1, ..., (m + 1) 2^k. *)
Definition blocks_of_level (T k : nat) : list (nat * nat) := map (pair k) (seq 0 (T / 2 ^ k)).
Definition blocks (T : nat) : list (nat * nat) := flat_map (blocks_of_level T) (seq 0 (S (Nat.log2 T))).
Definition block_holds (block : nat * nat) (element : nat) : bool :=
  let (k, m) := block in (m * 2 ^ k <? element) && (element <=? (m + 1) * 2 ^ k).
Definition touched_blocks (T element : nat) : list (nat * nat) :=
  filter (fun block => block_holds block element) (blocks T).

Lemma block_holds_iff : forall k m element, 0 < element ->
  block_holds (k, m) element = true <-> m = (element - 1) / 2 ^ k.
Proof.
  intros k m element positive. unfold block_holds. rewrite andb_true_iff, Nat.ltb_lt, Nat.leb_le.
  pose proof (power_positive k). split.
  - intros [after before]. apply Nat.div_unique with (element - 1 - m * 2 ^ k); nia.
  - intros ->. pose proof (Nat.div_mod (element - 1) (2 ^ k)).
    pose proof (Nat.mod_upper_bound (element - 1) (2 ^ k)). nia.
Qed.

Lemma one_block_a_level : forall T element k, 0 < element ->
  length (filter (fun block => block_holds block element) (blocks_of_level T k))
    = if block_end element k <=? T then 1 else 0.
Proof.
  intros T element k positive. pose proof (power_positive k) as power.
  assert (only : forall n first, length (filter (fun block => block_holds block element) (map (pair k) (seq first n)))
    = if (first <=? (element - 1) / 2 ^ k) && ((element - 1) / 2 ^ k <? first + n) then 1 else 0).
  { induction n as [| n IH]; intro first; simpl.
    - destruct (Nat.leb_spec first ((element - 1) / 2 ^ k)); simpl; [| reflexivity].
      destruct (Nat.ltb_spec ((element - 1) / 2 ^ k) (first + 0)); [lia | reflexivity].
    - destruct ((first * 2 ^ k <? element) && (element <=? (first + 1) * 2 ^ k)) eqn:held.
      + change (block_holds (k, first) element = true) in held. apply block_holds_iff in held; [| assumption].
        simpl. rewrite IH, <- held.
        destruct (Nat.leb_spec (S first) first), (Nat.leb_spec first first),
          (Nat.ltb_spec first (S first + n)), (Nat.ltb_spec first (first + S n)); simpl; lia.
      + assert (first <> (element - 1) / 2 ^ k) as other.
        { intro same. apply (block_holds_iff k first element positive) in same.
          unfold block_holds in same. congruence. }
        rewrite IH. set (m := (element - 1) / 2 ^ k) in *.
        destruct (Nat.leb_spec (S first) m), (Nat.leb_spec first m),
          (Nat.ltb_spec m (S first + n)), (Nat.ltb_spec m (first + S n)); simpl; lia. }
  unfold blocks_of_level. rewrite only. unfold block_end. simpl (0 + _).
  assert ((element - 1) / 2 ^ k < T / 2 ^ k <-> ((element - 1) / 2 ^ k + 1) * 2 ^ k <= T) as same.
  { set (m := (element - 1) / 2 ^ k). split; intro held.
    - pose proof (Nat.mul_div_le T (2 ^ k)). nia.
    - enough (m + 1 <= T / 2 ^ k) by lia. apply Nat.div_le_lower_bound; lia. }
  destruct (Nat.ltb_spec ((element - 1) / 2 ^ k) (T / 2 ^ k)), (Nat.leb_spec (((element - 1) / 2 ^ k + 1) * 2 ^ k) T);
    simpl; lia.
Qed.

Theorem touched_blocks_exactly : forall T element, 0 < element ->
  length (touched_blocks T element) = length (filter (fun k => block_end element k <=? T) (seq 0 (S (Nat.log2 T)))).
Proof.
  intros T element positive. unfold touched_blocks, blocks.
  induction (seq 0 (S (Nat.log2 T))) as [| k rest IH]; [reflexivity |].
  simpl flat_map. rewrite filter_app, app_length, one_block_a_level, IH by assumption.
  simpl. destruct (block_end element k <=? T); simpl; lia.
Qed.

Theorem touched_blocks_at_most : forall T element, 0 < element ->
  length (touched_blocks T element) <= Nat.log2 T + 1.
Proof.
  intros T element ?. rewrite touched_blocks_exactly by assumption.
  eapply Nat.le_trans; [apply filter_length |]. rewrite seq_length. lia.
Qed.

Theorem first_element_attains_blocks : forall T, 0 < T -> length (touched_blocks T 1) = Nat.log2 T + 1.
Proof.
  intros T positive. pose proof (first_element_attains T positive) as known.
  rewrite touched_exactly in known by lia. pose proof (touched_blocks_at_most T 1).
  rewrite touched_blocks_exactly in * by lia.
  assert (fewer : forall l,
    length (filter (left_child_in_time T 1) l) <= length (filter (fun k => block_end 1 k <=? T) l)).
  { induction l as [| k rest IH]; simpl; [lia |]. unfold left_child_in_time at 1.
    destruct (Nat.even ((1 - 1) / 2 ^ k)), (block_end 1 k <=? T); simpl; lia. }
  specialize (fewer (seq 0 (S (Nat.log2 T)))). lia.
Qed.
