(** An adaptive choice between alternatives costs at most the maximum of their curves.

    In words: in every round, what was published before decides which of several alternatives a record meets. Take
    the pair of laws whose curve is the maximum of the curves of the alternatives, or any pair whose curve is
    nowhere below. Then n rounds are dominated by n independent copies of that pair, for both orders of the
    neighbours. The worst of the fixed ways to choose is no bound: an example closes the file.
    Used by docs/theory/composition.md ("An adaptive choice"). *)

From Proofs Require Export Maximum.

Section AdaptiveChoice.
  Context {A : Type} (outcomes : list A) (p q : list A -> A -> Q) (options : list pair).
  Hypothesis p_law : forall past, law outcomes (p past).
  Hypothesis q_law : forall past, law outcomes (q past).

  (** The past may pick the alternative: only that there is one is asked. *)
  Hypothesis picked : forall past, exists option,
    In option options /\ dominated outcomes (p past) (q past) option fst snd.

  (** n independent copies of one pair. *)
  Definition copies (n : nat) : pair -> list (list (Q * Q)) := fun w => transcripts w n.
  Definition copies_p : list (Q * Q) -> Q := independent (fun _ => fst) 0.
  Definition copies_q : list (Q * Q) -> Q := independent (fun _ => snd) 0.

  Theorem adaptive_choice : forall w, is_pair w ->
    (forall option, In option options -> dominated option fst snd w fst snd) ->
    forall n, dominated (transcripts outcomes n) (run p []) (run q []) (copies n w) copies_p copies_q.
  Proof.
    intros w [w_p w_q] above n.
    apply (rounds_dominated outcomes w p q (fun _ => fst) (fun _ => snd)); try assumption; try (intro; assumption).
    intro past. destruct (picked past) as [option [inside held]].
    eapply dominated_trans; [exact held | apply above; assumption].
  Qed.

  Corollary adaptive_choice_both_orders : forall w, is_pair w ->
    (forall option, In option options -> dominated option fst snd w fst snd) ->
    forall n, dominated (transcripts outcomes n) (run q []) (run p []) (copies n w) copies_q copies_p.
  Proof.
    intros w w_pair above n. pose proof (adaptive_choice w w_pair above n) as held. destruct w_pair as [w_p w_q].
    apply both_orders in held; try assumption.
    - apply run_law. assumption.
    - apply run_law. assumption.
    - apply independent_law. intro. assumption.
    - apply independent_law. intro. assumption.
  Qed.

  (** With the pair whose curve is the maximum. *)
  Corollary adaptive_choice_maximum : options <> [] -> (forall option, In option options -> is_pair option) ->
    forall n, dominated (transcripts outcomes n) (run p []) (run q []) (copies n (maximum options)) copies_p copies_q.
  Proof.
    intros some pairs. apply adaptive_choice.
    - apply maximum_is_pair; assumption.
    - apply connected_dominates; try assumption. apply sorted_increasing.
  Qed.

  (** With the pair that connects the dots of the maximum, at any knots: what an engine on a grid computes. *)
  Corollary adaptive_choice_connected : options <> [] -> (forall option, In option options -> is_pair option) ->
    forall knots, increasing 0 knots ->
    forall n, dominated (transcripts outcomes n) (run p []) (run q [])
                        (copies n (connected options knots)) copies_p copies_q.
  Proof.
    intros some pairs knots order. apply adaptive_choice.
    - apply connected_is_pair; assumption.
    - apply connected_dominates; assumption.
  Qed.

  (** One round costs at most the maximum itself, at every epsilon. *)
  Corollary one_choice : forall past x, 0 <= x -> hockey_stick outcomes x (p past) (q past) <= largest options x.
  Proof.
    intros past x ?. destruct (picked past) as [option [inside held]].
    eapply Qle_trans; [apply held; assumption | apply (largest_above options option x inside)].
  Qed.
End AdaptiveChoice.

(** The example: two rounds of randomised response with e^epsilon = 2, or of a release that shows the record with
    probability 1/10. At e^epsilon = 2 every fixed way has delta at most 2/9. To take the first alternative first,
    and again only after the outcome that speaks for the record, has 23/90. *)
Definition response (record : bool) (a : nat) : Q :=
  match a with
  | 0%nat => if record then 2#3 else 1#3
  | 1%nat => if record then 1#3 else 2#3
  | _ => 0
  end.
Definition showing (record : bool) (a : nat) : Q :=
  match a with
  | 0%nat => if record then 1#10 else 0
  | 1%nat => if record then 0 else 1#10
  | _ => 9#10
  end.
Definition fixed (first second : bool -> nat -> Q) (record : bool) (past : list nat) : nat -> Q :=
  match past with [] => first record | _ => second record end.
Definition choosing (record : bool) (past : list nat) : nat -> Q :=
  match past with [] | 0%nat :: _ => response record | _ => showing record end.
Definition delta_at_two (next : bool -> list nat -> nat -> Q) : Q :=
  hockey_stick (transcripts [0; 1; 2]%nat 2) 2 (run (next true) []) (run (next false) []).

Theorem fixed_ways_are_no_bound :
  delta_at_two choosing == 23#90 /\
  forall first second, In first [response; showing] -> In second [response; showing] ->
    delta_at_two (fixed first second) <= 2#9.
Proof.
  split; [vm_compute; reflexivity |].
  intros first second [<- | [<- | []]] [<- | [<- | []]]; vm_compute; discriminate.
Qed.
