(** Noise W - W' from two independent copies: a shift costs the trace of the shift.

    In words: W and W' are independent, take values in a cone (V >= 0) of a discrete ordered group, and have
    weight proportional to r^trace on the cone, 0 < r < 1. The weight of W - W' = z is the sum of r^(trace V +
    trace (V + z)) over all V with V >= 0 and V + z >= 0. Moving z by an element a >= 0 changes this weight by a
    factor between r^(trace a) and 1 / r^(trace a). With r = e^(-c) this is c trace(a) nats; a change that is a
    difference of two elements of the cone costs c times the sum of their traces, the discrete analogue of the
    nuclear norm. The sum may be infinite: "the weight is at most b" says that every finite part of it is at most
    b. This is the argument for symmetrised Wishart noise (cone: positive semidefinite matrices), with sums in the
    place of integrals. One integer (cone: z >= 0) gives the two-sided geometric law, which closes the file.
    Used by docs/papers/lplr.md; by no accounting rule. *)

From Proofs Require Export Sums.
From Coq Require Export FinFun Lia Qpower.

Section SymmetricNoise.
  Context {G : Type} (zero : G) (add : G -> G -> G) (neg : G -> G) (cone : G -> Prop) (trace : G -> Z) (r : Q).
  Hypothesis add_assoc : forall a b c, add a (add b c) = add (add a b) c.
  Hypothesis add_comm : forall a b, add a b = add b a.
  Hypothesis add_zero : forall a, add a zero = a.
  Hypothesis add_neg : forall a, add a (neg a) = zero.
  Hypothesis cone_add : forall a b, cone a -> cone b -> cone (add a b).
  Hypothesis trace_add : forall a b, trace (add a b) = (trace a + trace b)%Z.
  Hypothesis r_positive : 0 < r.

  (** The values of W' that go with W - W' = z, and the weight of one of them. *)
  Definition possible (z v : G) : Prop := cone v /\ cone (add v z).
  Definition weight (z v : G) : Q := r ^ (trace v + trace (add v z)).

  Definition weight_at_most (z : G) (bound : Q) : Prop :=
    forall part, NoDup part -> (forall v, In v part -> possible z v) -> sum part (weight z) <= bound.

  (** A shift of z by -a. *)
  Definition shifted (z a : G) : G := add z (neg a).

  Lemma cancel : forall v a, add (add v a) (neg a) = v.
  Proof. intros. rewrite <- add_assoc, add_neg, add_zero. reflexivity. Qed.

  Lemma trace_neg : forall a, trace (neg a) = (- trace a)%Z.
  Proof.
    intro a. pose proof (trace_add a (neg a)) as sums. rewrite add_neg in sums.
    pose proof (trace_add zero zero) as twice. rewrite add_zero in twice. lia.
  Qed.

  Lemma weight_shifted : forall z a v, weight (shifted z a) v == weight z v * / r ^ trace a.
  Proof.
    intros z a v. unfold weight, shifted. rewrite add_assoc, (trace_add _ (neg a)), trace_neg.
    rewrite <- Qpower_opp, <- Qpower_plus by lra.
    replace (trace v + (trace (add v z) + - trace a))%Z with (trace v + trace (add v z) + - trace a)%Z by lia.
    reflexivity.
  Qed.

  Lemma power_above : forall n, 0 < r ^ n.
  Proof. intro n. apply Qpower_0_lt. assumption. Qed.

  Theorem shift_by_cone : forall z a bound, cone a ->
    weight_at_most z bound -> weight_at_most (shifted z a) (bound * / r ^ trace a).
  Proof.
    intros z a bound in_cone held part distinct admitted.
    rewrite (sum_ext part _ (fun v => weight z v * / r ^ trace a)) by (intros; apply weight_shifted).
    rewrite sum_scale_right. apply Qmult_le_compat_r.
    - apply held; [assumption |]. intros v inside. destruct (admitted v inside) as [low high]. split; [assumption |].
      (* v + z = (v + (z - a)) + a *)
      replace (add v z) with (add (add v (shifted z a)) a); [apply cone_add; assumption |].
      unfold shifted. rewrite <- !add_assoc, (add_comm (neg a)), add_neg, add_zero. reflexivity.
    - apply Qlt_le_weak, Qinv_lt_0_compat, power_above.
  Qed.

  Theorem shift_back : forall z a bound, cone a ->
    weight_at_most (shifted z a) bound -> weight_at_most z (bound * / r ^ trace a).
  Proof.
    intros z a bound in_cone held part distinct admitted. pose proof (power_above (trace a)) as above.
    assert (moved : sum (map (fun v => add v a) part) (weight (shifted z a)) <= bound).
    { apply held.
      - apply Injective_map_NoDup; [| assumption]. intros v w same.
        rewrite <- (cancel v a), same. apply cancel.
      - intros u inside. apply in_map_iff in inside as [v [<- inside]]. destruct (admitted v inside) as [low high].
        split; [apply cone_add; assumption |].
        unfold shifted. rewrite <- add_assoc, (add_assoc a), (add_comm a), cancel. assumption. }
    rewrite sum_map in moved.
    apply Qle_shift_div_l; [assumption |].
    refine (Qle_trans _ _ _ _ moved). rewrite <- sum_scale_right. apply Qle_lteq. right.
    apply sum_ext. intros v _. rewrite weight_shifted. unfold weight.
    replace (add (add v a) z) with (add (add v z) a) by (rewrite <- !add_assoc, (add_comm a); reflexivity).
    rewrite !trace_add.
    replace (trace v + trace a + (trace v + trace z + trace a))%Z
      with (trace v + (trace v + trace z) + trace a + trace a)%Z by lia.
    rewrite (Qpower_plus _ _ (trace a)), (Qpower_plus _ _ (trace a)) by lra. field. lra.
  Qed.

  (** Any change of the form up - down, both in the cone. *)
  Theorem shift_by_difference : forall z up down bound, cone up -> cone down ->
    weight_at_most z bound ->
    weight_at_most (add (shifted z up) down) (bound * / r ^ (trace up + trace down)).
  Proof.
    intros z up down bound up_in down_in held part distinct admitted.
    rewrite Qpower_plus, Qinv_mult_distr, Qmult_assoc by lra.
    apply (shift_back (add (shifted z up) down) down (bound * / r ^ trace up)); try assumption.
    unfold shifted at 1. rewrite cancel. apply shift_by_cone; assumption.
  Qed.
End SymmetricNoise.

(** One integer: W and W' are geometric, and W - W' is pure under a move by n, at n ln(1/r). *)
Corollary two_sided_geometric : forall r z n bound, 0 < r -> (0 <= n)%Z ->
  weight_at_most Z.add (fun v => (0 <= v)%Z) (fun v => v) r z bound ->
  weight_at_most Z.add (fun v => (0 <= v)%Z) (fun v => v) r (z - n)%Z (bound * / r ^ n).
Proof.
  intros r z n bound positive above held.
  apply (shift_by_cone 0%Z Z.add Z.opp (fun v => (0 <= v)%Z) (fun v => v) r); intros; try lia; assumption.
Qed.
