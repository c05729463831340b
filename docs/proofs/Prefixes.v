(** A prefix sum is the sum of a few node sums.

    In words: the prefix of length n is the sum over the nodes n, n - lowbit(n), and so on down to 0; these are at
    most floor(log2 n) + 1 nodes. A reader of prefix sums reads nothing but nodes.
    Used by docs/theory/trees.md ("The theorems"). *)

From Proofs Require Export Tree Sums.
Local Open Scope nat_scope.

Fixpoint sum_up (stream : nat -> Q) (first count : nat) : Q :=
  match count with
  | O => 0%Q
  | S m => (stream first + sum_up stream (S first) m)%Q
  end.

(** The elements that a node holds, and the first n elements, summed. *)
Definition node_value (stream : nat -> Q) (n : nat) : Q := sum_up stream (S (n - lowbit n)) (lowbit n).
Definition prefix (stream : nat -> Q) (n : nat) : Q := sum_up stream 1 n.

(** n, n - lowbit(n), ... ; `fuel` bounds the number of steps, and n is always enough. *)
Fixpoint reads (fuel n : nat) : list nat :=
  match fuel, n with
  | O, _ | _, O => []
  | S less, _ => n :: reads less (n - lowbit n)
  end.

Lemma sum_up_split : forall stream a b first,
  (sum_up stream first (a + b) == sum_up stream first a + sum_up stream (first + a) b)%Q.
Proof.
  intros stream. induction a as [| a IH]; intros b first; simpl; [rewrite Nat.add_0_r; ring |].
  rewrite IH. rewrite Nat.add_succ_r. simpl. ring.
Qed.

Lemma lowbit_bounds : forall n, 0 < n -> 0 < lowbit n <= n.
Proof.
  intros n ?. pose proof (power_positive (level n)). destruct (odd_multiple n) as [m same]; [assumption |].
  unfold lowbit in *. nia.
Qed.

Theorem prefix_is_sum_of_nodes : forall stream fuel n, n <= fuel ->
  (prefix stream n == sum (reads fuel n) (node_value stream))%Q.
Proof.
  intro stream. induction fuel as [| less IH]; intros [| n] enough; try reflexivity; [lia |].
  change (reads (S less) (S n)) with (S n :: reads less (S n - lowbit (S n))).
  destruct (lowbit_bounds (S n)) as [above below]; [lia |].
  transitivity (node_value stream (S n) + prefix stream (S n - lowbit (S n)))%Q; [| rewrite IH by lia; reflexivity].
  unfold prefix, node_value. generalize dependent (lowbit (S n)). intros m above below.
  replace (S n) with (S n - m + m) at 1 by lia. rewrite sum_up_split. replace (1 + (S n - m)) with (S (S n - m)) by lia.
  ring.
Qed.

Lemma level_rises : forall n, 0 < n -> 0 < n - lowbit n -> S (level n) <= level (n - lowbit n).
Proof.
  intros n positive rest. destruct (odd_multiple n positive) as [m same].
  assert (n - lowbit n = m * 2 ^ S (level n)) as even by (unfold lowbit in *; simpl; nia).
  apply Nat.nlt_ge. intro low. destruct (odd_multiple (n - lowbit n) rest) as [j odd]. unfold lowbit at 2 in odd.
  set (a := level (n - lowbit n)) in *. set (b := level n - a).
  replace (S (level n)) with (a + S b) in even by (unfold b; lia).
  rewrite Nat.pow_add_r in even. pose proof (power_positive a).
  assert ((m * 2 ^ S b) * 2 ^ a = (2 * j + 1) * 2 ^ a) as twice by lia.
  apply Nat.mul_cancel_r in twice; [| lia]. simpl in twice. lia.
Qed.

Theorem reads_at_most : forall fuel n, 0 < n -> length (reads fuel n) <= Nat.log2 n + 1.
Proof.
  enough (more : forall fuel n, 0 < n -> length (reads fuel n) + level n <= Nat.log2 n + 1).
  { intros fuel n positive. specialize (more fuel n positive). lia. }
  induction fuel as [| less IH]; intros n positive.
  - simpl. enough (level n <= Nat.log2 n) by lia. apply Nat.log2_le_pow2; [assumption |].
    apply lowbit_bounds. assumption.
  - destruct n as [| n]; [lia |]. change (reads (S less) (S n)) with (S n :: reads less (S n - lowbit (S n))).
    cbn [length]. destruct (Nat.eq_dec (S n - lowbit (S n)) 0) as [none | some].
    + rewrite none. destruct (lowbit_bounds (S n)) as [_ below]; [lia |].
      enough (level (S n) <= Nat.log2 (S n)) by (destruct less; simpl; lia).
      apply Nat.log2_le_pow2; [lia | exact below].
    + specialize (IH (S n - lowbit (S n))). pose proof (level_rises (S n)).
      assert (Nat.log2 (S n - lowbit (S n)) <= Nat.log2 (S n)) by (apply Nat.log2_le_mono; lia). lia.
Qed.
