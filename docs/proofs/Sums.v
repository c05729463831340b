(** Finite sums of rational numbers, and the positive part of a number.

    Helper lemmas. Nothing here is about privacy. *)

From Coq Require Export List QArith Qminmax Lqa Setoid Morphisms.
Export ListNotations.
Open Scope Q_scope.

Fixpoint sum {A : Type} (places : list A) (f : A -> Q) : Q :=
  match places with
  | [] => 0
  | a :: rest => f a + sum rest f
  end.

(** The positive part (x)_+ . *)
Definition pos (x : Q) : Q := Qmax 0 x.

Lemma pos_cases : forall x, (0 <= x /\ pos x == x) \/ (x <= 0 /\ pos x == 0).
Proof.
  intro x. unfold pos. destruct (Qlt_le_dec x 0) as [low | high].
  - right. split; [lra |]. apply Q.max_l. lra.
  - left. split; [assumption |]. apply Q.max_r. assumption.
Qed.

(** Splits every positive part in the goal; linear arithmetic can then finish. *)
Ltac split_pos :=
  repeat match goal with
         | |- context [pos ?x] =>
             destruct (pos_cases x) as [[? ->] | [? ->]]
         end.

#[export] Instance pos_proper : Proper (Qeq ==> Qeq) pos.
Proof. intros x y same. unfold pos. rewrite same. reflexivity. Qed.

Lemma pos_nonneg : forall x, 0 <= pos x.
Proof. intro x. split_pos; lra. Qed.

Lemma pos_above : forall x, x <= pos x.
Proof. intro x. split_pos; lra. Qed.

Lemma pos_le : forall x bound, 0 <= bound -> x <= bound -> pos x <= bound.
Proof. intros x bound ? ?. split_pos; lra. Qed.

Lemma pos_mono : forall x y, x <= y -> pos x <= pos y.
Proof. intros x y ?. split_pos; lra. Qed.

Lemma pos_scale : forall w x, 0 <= w -> pos (w * x) == w * pos x.
Proof.
  intros w x ?.
  destruct (pos_cases x) as [[? ->] | [? ->]];
    destruct (pos_cases (w * x)) as [[? ->] | [? ->]]; nra.
Qed.

(** A common weight comes out of (x w - factor (y w))_+ . *)
Lemma pos_common : forall w factor x y, 0 <= w ->
  pos (x * w - factor * (y * w)) == pos (x - factor * y) * w.
Proof.
  intros w factor x y ?.
  setoid_replace (x * w - factor * (y * w)) with (w * (x - factor * y)) by ring.
  rewrite pos_scale by assumption. ring.
Qed.

Section Sums.
  Context {A : Type}.
  Implicit Type places : list A.

  Lemma sum_ext : forall places f g,
    (forall a, In a places -> f a == g a) -> sum places f == sum places g.
  Proof.
    induction places as [| a rest IH]; intros f g same; simpl; [reflexivity |].
    rewrite (same a (or_introl eq_refl)), (IH f g); [reflexivity |].
    intros b inside. apply same. right. assumption.
  Qed.

  Lemma sum_le : forall places f g,
    (forall a, In a places -> f a <= g a) -> sum places f <= sum places g.
  Proof.
    induction places as [| a rest IH]; intros f g below; simpl; [lra |].
    apply Qplus_le_compat; [apply below; left; reflexivity |].
    apply IH. intros b inside. apply below. right. assumption.
  Qed.

  Lemma sum_plus : forall places f g,
    sum places (fun a => f a + g a) == sum places f + sum places g.
  Proof. induction places as [| a rest IH]; intros; simpl; [| rewrite IH]; ring. Qed.

  Lemma sum_scale : forall places w f, sum places (fun a => w * f a) == w * sum places f.
  Proof. induction places as [| a rest IH]; intros; simpl; [| rewrite IH]; ring. Qed.

  Lemma sum_scale_right : forall places w f, sum places (fun a => f a * w) == sum places f * w.
  Proof. induction places as [| a rest IH]; intros; simpl; [| rewrite IH]; ring. Qed.

  Lemma sum_minus_scaled : forall places w f g,
    sum places (fun a => f a - w * g a) == sum places f - w * sum places g.
  Proof. induction places as [| a rest IH]; intros; simpl; [| rewrite IH]; ring. Qed.

  Lemma sum_zero : forall places, sum places (fun _ => 0) == 0.
  Proof. induction places as [| a rest IH]; simpl; [| rewrite IH]; ring. Qed.

  Lemma sum_nonneg : forall places (f : A -> Q), (forall a, In a places -> 0 <= f a) -> 0 <= sum places f.
  Proof.
    intros places f above. apply Qle_trans with (sum places (fun _ => 0)); [rewrite sum_zero; lra |].
    apply sum_le. assumption.
  Qed.

  Lemma sum_app : forall left right (f : A -> Q), sum (left ++ right) f == sum left f + sum right f.
  Proof. induction left as [| a rest IH]; intros; simpl; [| rewrite IH]; ring. Qed.

  Lemma pos_sum : forall places (f : A -> Q), pos (sum places f) <= sum places (fun a => pos (f a)).
  Proof.
    intros. apply pos_le; [apply sum_nonneg | apply sum_le]; intros; [apply pos_nonneg | apply pos_above].
  Qed.
End Sums.

Lemma sum_map : forall {A B : Type} (g : A -> B) places f,
  sum (map g places) f == sum places (fun a => f (g a)).
Proof. induction places as [| a rest IH]; intros; simpl; [| rewrite IH]; reflexivity. Qed.

Lemma sum_flat_map : forall {A B : Type} (g : A -> list B) places f,
  sum (flat_map g places) f == sum places (fun a => sum (g a) f).
Proof.
  induction places as [| a rest IH]; intros; simpl; [reflexivity |].
  rewrite sum_app, IH. reflexivity.
Qed.

Lemma sum_prod : forall {A B : Type} (rows : list A) (columns : list B) f,
  sum (list_prod rows columns) f == sum rows (fun a => sum columns (fun b => f (a, b))).
Proof.
  induction rows as [| a rest IH]; intros; simpl; [reflexivity |].
  rewrite sum_app, sum_map, IH. reflexivity.
Qed.

Lemma sum_swap : forall {A B : Type} (rows : list A) (columns : list B) (f : A -> B -> Q),
  sum rows (fun a => sum columns (f a)) == sum columns (fun b => sum rows (fun a => f a b)).
Proof.
  induction rows as [| a rest IH]; intros; simpl.
  - symmetry. apply sum_zero.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

(** Any function of an outcome may stand under a sum that is rewritten. *)
#[export] Instance sum_proper {A : Type} (places : list A) :
  Proper (pointwise_relation A Qeq ==> Qeq) (sum places).
Proof. intros f g same. apply sum_ext. intros a _. apply same. Qed.
