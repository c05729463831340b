(** What fails when a hypothesis is dropped, each by one small instance.

    In words: with randomised response at e^epsilon = 3 (the bit is kept with probability 3/4) the bounds of the
    other files are attained, and without one of their hypotheses they are false: a record met twice, a part
    chosen by the record's value, noise that is used twice, a computation that reads the data again, an output
    that reads another user's record. Each instance is a side-condition in docs/theory/composition.md or
    docs/theory/joint_and_local.md. *)

From Proofs Require Export Billboard Composition.

(** Randomised response, and a release that reads nothing. *)
Definition response (bit : bool) (shown : bool) : Q := if Bool.eqb bit shown then 3#4 else 1#4.
Definition nothing (_ : bool) (_ : bool) : Q := 1#2.
Definition bits : list bool := [true; false].

(** Two rounds by position: what round 1 and round 2 release. *)
Definition rounds (first second : bool -> Q) (past : list bool) : bool -> Q :=
  match past with [] => first | _ => second end.
Definition both (first second : bool -> Q) : list bool -> Q := run (rounds first second) [].
Definition two_rounds : list (list bool) := transcripts bits 2.

Ltac compare :=
  let held := fresh in
  intro held; apply close_iff_hockey_stick in held; vm_compute in held; apply held; reflexivity.

(** The definitions say something: (ln 3, 0) holds, and nothing smaller. *)
Theorem response_is_private : law bits (response true) /\ close bits 3 0 (response true) (response false).
Proof.
  split; [split; [intros [|] _; vm_compute; discriminate | reflexivity] |].
  apply close_iff_hockey_stick. vm_compute. discriminate.
Qed.

Theorem response_is_not_better : ~ close bits (29#10) 0 (response true) (response false).
Proof. compare. Qed.

(** Basic composition is attained at pure epsilons: two rounds cost 9, and no less. *)
Theorem composition_is_attained :
  ~ close two_rounds (89#10) 0 (both (response true) (response true)) (both (response false) (response false)).
Proof. compare. Qed.

(** Parallel composition without `once`: a record that is met in both rounds costs both. *)
Theorem once_is_needed :
  ~ close two_rounds 3 0 (both (response true) (response true)) (both (response false) (response false)).
Proof. compare. Qed.

(** Parallel composition without `absent`: the record's value picks the round. Each round costs at most 3/2 against a
    release that reads nothing, or 2 the other way; a replaced record empties one round and fills another. *)
Theorem public_key_is_needed :
  close bits (3#2) 0 (response true) (nothing true) /\ close bits 2 0 (nothing true) (response true) /\
  ~ close two_rounds 2 0 (both (response true) (nothing true)) (both (nothing false) (response true)).
Proof. repeat split; [| | compare]; apply close_iff_hockey_stick; vm_compute; discriminate. Qed.

(** Composition of marginals is not enough: a masked bit and then the mask itself. Each is uniform whatever the bit, and
    together they show it: delta = 1 at every factor. The noise of the second release is not fresh. *)
Definition masked_then_mask (bit : bool) (transcript : list bool) : Q :=
  match transcript with
  | [masked; mask] => if Bool.eqb (xorb masked mask) bit then 1#2 else 0
  | _ => 0
  end.
Definition first_alone (bit masked : bool) : Q := sum bits (fun mask => masked_then_mask bit [masked; mask]).
Definition second_alone (bit mask : bool) : Q := sum bits (fun masked => masked_then_mask bit [masked; mask]).

Theorem fresh_noise_is_needed :
  close bits 1 0 (first_alone true) (first_alone false) /\ close bits 1 0 (second_alone true) (second_alone false) /\
  forall factor delta, close two_rounds factor delta (masked_then_mask true) (masked_then_mask false) -> 1 <= delta.
Proof.
  split; [apply close_iff_hockey_stick; vm_compute; discriminate |].
  split; [apply close_iff_hockey_stick; vm_compute; discriminate |].
  intros factor delta held.
  specialize (held (fun t => match t with [a; b] => xorb a b | _ => false end)).
  unfold prob, two_rounds in held. simpl in held. lra.
Qed.

(** Post-processing that reads the data again: nothing is released, and then the bit itself is printed. *)
Theorem no_second_read_is_needed : forall factor delta,
  close bits factor delta
    (processed bits (fun _ b => if Bool.eqb b true then 1 else 0) (nothing true))
    (processed bits (fun _ b => if Bool.eqb b false then 1 else 0) (nothing false)) -> 1 <= delta.
Proof.
  intros factor delta held. specialize (held (fun b => b)). unfold prob, processed, nothing in held. simpl in held. lra.
Qed.

(** A coalition whose member's output reads the record of user 0, although the billboard reads nothing. *)
Definition leaky_view (data_bit : bool) (seen : bool * bool) : Q :=
  nothing data_bit (fst seen) * (if Bool.eqb (snd seen) data_bit then 1 else 0).

Theorem own_record_only_is_needed : forall factor delta,
  close (list_prod bits bits) factor delta (leaky_view true) (leaky_view false) -> 1 <= delta.
Proof.
  intros factor delta held. specialize (held snd). unfold prob, leaky_view, nothing in held. simpl in held. lra.
Qed.
