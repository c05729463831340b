(** A record whose value picks its cell: replacement costs the worse of one cell changed and two cells touched.

    In words: n cells publish one outcome each, in order; the law of each may depend on everything published
    before. A record fills exactly one cell, and its value decides which. A cell with the record against the same
    cell without it is (epsilon, delta)-close, in both orders. If a replacement moves the record to another cell,
    one cell is emptied and one is filled: the whole is (2 epsilon, 2 delta)-close. If it stays in its cell, the
    whole is as close as that cell.
    Used by docs/theory/neighbours.md ("A cell chosen by the record"), docs/theory/composition.md ("How a
    declaration folds") and docs/theory/printed_arguments.md (rule `cells`). *)

From Proofs Require Export Composition Parallel.
From Coq Require Import Lia.

(** x in round i, and the neutral value in every other round. *)
Definition only (i : nat) (x neutral : Q) (j : nat) : Q := if Nat.eqb i j then x else neutral.

Lemma product_only : forall i x n start, 1 <= x -> 1 <= product (only i x 1) start n <= x.
Proof.
  intros i x. assert (later : forall n start, (i < start)%nat -> product (only i x 1) start n == 1).
  { induction n as [| n IH]; intros start past; simpl; [reflexivity |]. unfold only at 1.
    destruct (Nat.eqb_spec i start); [lia |]. rewrite IH by lia. ring. }
  induction n as [| n IH]; intros start ?; simpl; [lra |]. unfold only at 1 3.
  destruct (Nat.eqb_spec i start) as [-> | _]; [rewrite later by lia; lra |].
  specialize (IH (S start)). lra.
Qed.

Lemma total_only : forall i x n start, 0 <= x -> 0 <= total (only i x 0) start n <= x.
Proof.
  intros i x. assert (later : forall n start, (i < start)%nat -> total (only i x 0) start n == 0).
  { induction n as [| n IH]; intros start past; simpl; [reflexivity |]. unfold only at 1.
    destruct (Nat.eqb_spec i start); [lia |]. rewrite IH by lia. ring. }
  induction n as [| n IH]; intros start ?; simpl; [lra |]. unfold only at 1 3.
  destruct (Nat.eqb_spec i start) as [-> | _]; [rewrite later by lia; lra |].
  specialize (IH (S start)). lra.
Qed.

Lemma product_times : forall f g n start, product (fun i => f i * g i) start n == product f start n * product g start n.
Proof. induction n as [| n IH]; intro start; simpl; [| rewrite IH]; ring. Qed.

Lemma total_plus : forall f g n start, total (fun i => f i + g i) start n == total f start n + total g start n.
Proof. induction n as [| n IH]; intro start; simpl; [| rewrite IH]; ring. Qed.

Section Cells.
  Context {record A : Type} (outcomes : list A).

  (** What cell i publishes after `past`, without the record and with it. *)
  Context (alone : list A -> A -> Q) (filled : record -> list A -> A -> Q) (cell_of : record -> nat).
  Hypothesis alone_law : forall past, law outcomes (alone past).
  Hypothesis filled_law : forall r past, law outcomes (filled r past).

  (** All cells, of which the record fills one. Cell i is published in round i. *)
  Definition array (r : record) (past : list A) : A -> Q :=
    if Nat.eqb (cell_of r) (length past) then filled r past else alone past.

  Lemma array_law : forall r past, law outcomes (array r past).
  Proof. intros r past. unfold array. destruct (Nat.eqb (cell_of r) (length past)); auto. Qed.

  Theorem cells_emptied_and_filled : forall factor delta, 1 <= factor -> 0 <= delta ->
    (forall r past, close outcomes factor delta (filled r past) (alone past)) ->
    (forall r past, close outcomes factor delta (alone past) (filled r past)) ->
    forall one other, cell_of one <> cell_of other ->
    forall n, close (transcripts outcomes n) (factor * factor) (delta + delta)
                    (run (array one) []) (run (array other) []).
  Proof.
    intros factor delta ? ? emptied refilled one other apart n.
    pose (f := fun i => only (cell_of one) factor 1 i * only (cell_of other) factor 1 i).
    pose (d := fun i => only (cell_of one) delta 0 i + only (cell_of other) delta 0 i).
    assert (held : close (transcripts outcomes n) (product f 0 n) (total d 0 n)
                         (run (array one) []) (run (array other) [])).
    { apply adaptive_composition; try apply array_law.
      - intro i. unfold f, only. destruct (Nat.eqb (cell_of one) i), (Nat.eqb (cell_of other) i); nra.
      - intro past. unfold f, d, only, array. apply close_iff_hockey_stick.
        destruct (Nat.eqb_spec (cell_of one) (length past)), (Nat.eqb_spec (cell_of other) (length past)); [lia | | |].
        + pose proof (proj1 (close_iff_hockey_stick _ _ _ _ _) (emptied one past)) as bound.
          unfold hockey_stick in *. setoid_replace (factor * 1) with factor by ring. lra.
        + pose proof (proj1 (close_iff_hockey_stick _ _ _ _ _) (refilled other past)) as bound.
          unfold hockey_stick in *. setoid_replace (1 * factor) with factor by ring. lra.
        + unfold hockey_stick. setoid_replace (1 * 1) with 1 by ring.
          rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [lra |]. intros a _. split_pos; lra. }
    apply (close_weaker _ (product f 0 n) (total d 0 n)); try assumption.
    - apply run_law, array_law.
    - unfold f. rewrite product_times.
      pose proof (product_only (cell_of one) factor n 0). pose proof (product_only (cell_of other) factor n 0). nra.
    - unfold d. rewrite total_plus.
      pose proof (total_only (cell_of one) delta n 0). pose proof (total_only (cell_of other) delta n 0). lra.
  Qed.

  Theorem same_cell : forall factor delta, 1 <= factor -> 0 <= delta ->
    forall one other, cell_of one = cell_of other ->
    (forall past, close outcomes factor delta (filled one past) (filled other past)) ->
    forall n, close (transcripts outcomes n) factor delta (run (array one) []) (run (array other) []).
  Proof.
    intros factor delta ? ? one other same held.
    apply (parallel_composition outcomes _ _ (fun past => Nat.eqb (cell_of one) (length past))); try assumption;
      try apply array_law.
    - intros past away a. unfold array. rewrite <- same, away. reflexivity.
    - intros past later here some. apply Nat.eqb_eq in here. apply Nat.eqb_neq. rewrite app_length.
      destruct later; [contradiction | simpl; lia].
    - intros past here. unfold array. rewrite <- same, here. apply held.
  Qed.
End Cells.
