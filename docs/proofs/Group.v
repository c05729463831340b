(** Group privacy.

    In words: if a mechanism is (epsilon, delta)-private and k steps between neighbours lead from one data set to
    another, the outputs of the two are (k epsilon, delta (1 + e^epsilon + ... + e^((k-1) epsilon)))-close. The
    sum is (e^(k epsilon) - 1) / (e^epsilon - 1) where epsilon > 0.
    Used by docs/theory/composition.md (row "group of k") and docs/theory/printed-arguments.md (rule `group`). *)

From Proofs Require Export Composition.

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
