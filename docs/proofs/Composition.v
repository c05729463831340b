(** Basic composition, adaptive, for any number of parts.

    In words: round i publishes one outcome. Its law may depend on everything published before (so may the data of
    other people and the choice of the mechanism), and whatever was published, it is (epsilon_i, delta_i)-close
    under the two neighbours, with budgets that are fixed in advance. Then the whole transcript is (sum of
    epsilon_i, sum of delta_i)-close. In the factors e^epsilon_i the sum of epsilons is a product.
    Group privacy closes the file: k records cost k epsilon, and delta times the geometric sum.
    Used by docs/theory/composition.md (rows "basic", "group of k"), docs/theory/neighbours.md ("The delta of a
    group") and docs/theory/printed_arguments.md (rules `basic`, `group`). *)

From Proofs Require Export HockeyStick.

(** factor start * factor (start + 1) * ... , n of them. *)
Fixpoint product (factor : nat -> Q) (start n : nat) : Q :=
  match n with
  | O => 1
  | S m => factor start * product factor (S start) m
  end.

(** delta start + delta (start + 1) + ... , n of them. *)
Fixpoint total (delta : nat -> Q) (start n : nat) : Q :=
  match n with
  | O => 0
  | S m => delta start + total delta (S start) m
  end.

Lemma product_nonneg : forall factor, (forall i, 0 <= factor i) -> forall n start, 0 <= product factor start n.
Proof.
  intros factor nonneg. induction n as [| n IH]; intro start; simpl; [lra |].
  apply Qmult_le_0_compat; [apply nonneg | apply IH].
Qed.

(** One outcome of the first part and one of the second: the excess over both factors is paid either by the first
    part alone, or by the second part on the mass that the first part's excess leaves. *)
Lemma excess_of_two : forall p q k l one two,
  0 <= p -> 0 <= q -> 0 <= k -> 0 <= l -> 0 <= one -> 0 <= two ->
  pos (p * k - one * two * (q * l)) <= pos (p - one * q) * k + Qmin p (one * q) * pos (k - two * l).
Proof.
  intros p q k l one two ? ? ? ? ? ?.
  assert (0 <= one * q) by nra. assert (0 <= two * l) by nra.
  set (x := one * q) in *. set (y := two * l) in *.
  setoid_replace (p * k - one * two * (q * l)) with (p * k - x * y) by (unfold x, y; ring).
  destruct (Q.min_spec p x) as [[? ->] | [? ->]]; split_pos; nra.
Qed.

Section Composition.
  Context {A : Type} (outcomes : list A) (p q : list A -> A -> Q) (factor delta : nat -> Q).
  Hypothesis p_law : forall past, law outcomes (p past).
  Hypothesis q_law : forall past, law outcomes (q past).
  Hypothesis factor_nonneg : forall i, 0 <= factor i.
  Hypothesis each_round : forall past,
    close outcomes (factor (length past)) (delta (length past)) (p past) (q past).

  Lemma rounds_from : forall n past,
    hockey_stick (transcripts outcomes n) (product factor (length past) n) (run p past) (run q past)
      <= total delta (length past) n.
  Proof.
    induction n as [| n IH]; intro past.
    - unfold hockey_stick. simpl. split_pos; lra.
    - rewrite hockey_stick_run. simpl product. simpl total.
      set (one := factor (length past)). set (two := product factor (S (length past)) n).
      assert (0 <= one) by apply factor_nonneg.
      assert (0 <= two) by (apply product_nonneg, factor_nonneg).
      pose (rest := fun a => hockey_stick (transcripts outcomes n) two (run p (a :: past)) (run q (a :: past))).
      apply Qle_trans with (sum outcomes (fun a =>
        pos (p past a - one * q past a) + Qmin (p past a) (one * q past a) * rest a)).
      + apply sum_le. intros a known.
        destruct (run_law outcomes p p_law n (a :: past)) as [run_p_nonneg run_p_total].
        destruct (run_law outcomes q q_law n (a :: past)) as [run_q_nonneg _].
        assert (0 <= p past a) by (apply (p_law past); assumption).
        assert (0 <= q past a) by (apply (q_law past); assumption).
        apply Qle_trans with (sum (transcripts outcomes n) (fun later =>
          pos (p past a - one * q past a) * run p (a :: past) later +
          Qmin (p past a) (one * q past a) * pos (run p (a :: past) later - two * run q (a :: past) later))).
        * apply sum_le. intros later inside. apply excess_of_two; auto.
        * rewrite sum_plus, !sum_scale, run_p_total. unfold rest, hockey_stick. lra.
      + rewrite sum_plus. apply Qplus_le_compat.
        * apply close_iff_hockey_stick, each_round.
        * destruct (p_law past) as [p_nonneg p_total].
          apply Qle_trans with (sum outcomes (fun a => p past a * total delta (S (length past)) n)).
          -- apply sum_le. intros a known. specialize (IH (a :: past)). simpl length in IH. fold two in IH.
             pose proof (Q.le_min_l (p past a) (one * q past a)).
             assert (0 <= rest a) by apply hockey_stick_nonneg.
             assert (rest a <= total delta (S (length past)) n) by exact IH.
             specialize (p_nonneg a known). nra.
          -- rewrite sum_scale_right, p_total. lra.
  Qed.

  Theorem adaptive_composition : forall n,
    close (transcripts outcomes n) (product factor 0 n) (total delta 0 n) (run p []) (run q []).
  Proof. intro n. apply close_iff_hockey_stick. apply (rounds_from n []). Qed.
End Composition.

(** k equal parts: (k epsilon, k delta). *)
Fixpoint power (x : Q) (k : nat) : Q := match k with O => 1 | S m => x * power x m end.

Lemma product_equal : forall x n start, product (fun _ => x) start n == power x n.
Proof. induction n as [| n IH]; intro start; simpl; [| rewrite IH]; reflexivity. Qed.

Lemma total_equal : forall x n start, total (fun _ => x) start n == inject_Z (Z.of_nat n) * x.
Proof.
  induction n as [| n IH]; intro start; [simpl; ring |].
  simpl total. rewrite IH, Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. ring.
Qed.

Corollary equal_parts : forall {A : Type} (outcomes : list A) p q factor delta n,
  (forall past, law outcomes (p past)) -> (forall past, law outcomes (q past)) -> 0 <= factor ->
  (forall past, close outcomes factor delta (p past) (q past)) ->
  close (transcripts outcomes n) (power factor n) (inject_Z (Z.of_nat n) * delta) (run p []) (run q []).
Proof.
  intros A outcomes p q factor delta n p_law q_law ? held event.
  rewrite <- (product_equal factor n 0), <- (total_equal delta n 0).
  revert event. apply (adaptive_composition outcomes p q (fun _ => factor) (fun _ => delta)); auto.
Qed.

(** Group privacy.

    In words: if a mechanism is (epsilon, delta)-private and k steps between neighbours lead from one data set to
    another, the outputs of the two are (k epsilon, delta (1 + e^epsilon + ... + e^((k-1) epsilon)))-close. The
    sum is (e^(k epsilon) - 1) / (e^epsilon - 1) where epsilon > 0. *)

(** 1 + x + ... + x^(k-1). *)
Fixpoint geometric (x : Q) (k : nat) : Q := match k with O => 0 | S m => 1 + x * geometric x m end.

Lemma geometric_closed : forall x k, (x - 1) * geometric x k == power x k - 1.
Proof.
  intro x. induction k as [| k IH]; simpl; [ring |].
  setoid_replace ((x - 1) * (1 + x * geometric x k)) with (x - 1 + x * ((x - 1) * geometric x k)) by ring.
  rewrite IH. ring.
Qed.

Section Group.
  Context {data A : Type} (neighbours : data -> data -> Prop) (outcomes : list A) (mechanism : data -> A -> Q).

  (** `steps k one other`: k moves between neighbours lead from one to the other. *)
  Fixpoint steps (k : nat) (one other : data) : Prop :=
    match k with
    | O => one = other
    | S m => exists next, neighbours one next /\ steps m next other
    end.

  Theorem group_privacy : forall factor delta, 0 <= factor ->
    private neighbours outcomes mechanism factor delta ->
    forall k, private (steps k) outcomes mechanism (power factor k) (delta * geometric factor k).
  Proof.
    intros factor delta ? held. induction k as [| k IH]; intros one other path event; simpl.
    - simpl in path. subst other. lra.
    - destruct path as [next [near far]].
      specialize (held one next near event). specialize (IH next other far event). nra.
  Qed.

  Corollary group_privacy_closed : forall factor delta, 1 < factor ->
    private neighbours outcomes mechanism factor delta ->
    forall k, private (steps k) outcomes mechanism (power factor k) (delta * ((power factor k - 1) / (factor - 1))).
  Proof.
    intros factor delta above held k one other path event.
    setoid_replace ((power factor k - 1) / (factor - 1)) with (geometric factor k).
    - apply (group_privacy factor delta); [lra | assumption | assumption].
    - rewrite <- geometric_closed. field. lra.
  Qed.
End Group.
