(** The words of every statement here: laws on finitely many outcomes, events, closeness, transcripts.

    A finite outcome space is a list of places. A law gives each place a rational weight of at least 0, and the
    weights sum to 1. A rational number `factor` stands for e^epsilon; `delta` is rational too. *)

From Proofs Require Export Sums.

Definition law {A : Type} (outcomes : list A) (p : A -> Q) : Prop :=
  (forall a, In a outcomes -> 0 <= p a) /\ sum outcomes p == 1.

(** The probability of an event, given by a yes-or-no question on outcomes. *)
Definition prob {A : Type} (outcomes : list A) (p : A -> Q) (event : A -> bool) : Q :=
  sum outcomes (fun a => if event a then p a else 0).

(** P(event) <= e^epsilon Q(event) + delta for every event. *)
Definition close {A : Type} (outcomes : list A) (factor delta : Q) (p q : A -> Q) : Prop :=
  forall event, prob outcomes p event <= factor * prob outcomes q event + delta.

(** The hockey-stick divergence: the sum of (p - e^epsilon q)_+ . As a function of `factor`: the curve of the pair. *)
Definition hockey_stick {A : Type} (outcomes : list A) (factor : Q) (p q : A -> Q) : Q :=
  sum outcomes (fun a => pos (p a - factor * q a)).

(** A mechanism is (epsilon, delta)-private: every ordered pair of neighbouring data sets is close. *)
Definition private {data A : Type} (neighbours : data -> data -> Prop) (outcomes : list A)
    (mechanism : data -> A -> Q) (factor delta : Q) : Prop :=
  forall one other, neighbours one other -> close outcomes factor delta (mechanism one) (mechanism other).

(** All lists of n outcomes: what n rounds can publish, in order of time. *)
Fixpoint transcripts {A : Type} (outcomes : list A) (n : nat) : list (list A) :=
  match n with
  | O => [[]]
  | S m => flat_map (fun a => map (cons a) (transcripts outcomes m)) outcomes
  end.

(** The law of what the rounds after `past` publish. `next past` is the law of the next outcome; it may depend on
    everything published before. `past` has the latest outcome first. *)
Fixpoint run {A : Type} (next : list A -> A -> Q) (past : list A) (transcript : list A) : Q :=
  match transcript with
  | [] => 1
  | a :: later => next past a * run next (a :: past) later
  end.

Lemma sum_transcripts : forall {A : Type} (outcomes : list A) n f,
  sum (transcripts outcomes (S n)) f
    == sum outcomes (fun a => sum (transcripts outcomes n) (fun later => f (a :: later))).
Proof.
  intros. simpl. rewrite sum_flat_map. apply sum_ext. intros a _. apply sum_map.
Qed.

Lemma law_nonneg : forall {A : Type} (outcomes : list A) p, law outcomes p -> forall a, In a outcomes -> 0 <= p a.
Proof. intros A outcomes p [nonneg _]. exact nonneg. Qed.

Lemma in_transcripts : forall {A : Type} (outcomes : list A) n a later,
  In (a :: later) (transcripts outcomes (S n)) -> In a outcomes /\ In later (transcripts outcomes n).
Proof.
  intros A outcomes n a later inside. apply in_flat_map in inside as [b [known inside]].
  apply in_map_iff in inside as [rest [same inside]].
  injection same as -> ->. split; assumption.
Qed.

Lemma in_transcripts_cons : forall {A : Type} (outcomes : list A) n a later,
  In a outcomes -> In later (transcripts outcomes n) -> In (a :: later) (transcripts outcomes (S n)).
Proof. intros. apply in_flat_map. exists a. split; [assumption |]. apply in_map. assumption. Qed.

(** A run of any number of rounds is a law on transcripts. *)
Lemma run_law : forall {A : Type} (outcomes : list A) next,
  (forall past, law outcomes (next past)) -> forall n past, law (transcripts outcomes n) (run next past).
Proof.
  intros A outcomes next laws. induction n as [| n IH]; intro past; split.
  - simpl. intros transcript [<- | []]. simpl. lra.
  - simpl. ring.
  - intros [| a later] inside; [simpl; lra |].
    apply in_transcripts in inside as [known rest].
    simpl. apply Qmult_le_0_compat; [apply (laws past) | apply (IH (a :: past))]; assumption.
  - rewrite sum_transcripts. destruct (laws past) as [_ <-]. apply sum_ext. intros a _. simpl.
    rewrite sum_scale. destruct (IH (a :: past)) as [_ ->]. ring.
Qed.

Lemma hockey_stick_nonneg : forall {A : Type} (outcomes : list A) factor p q, 0 <= hockey_stick outcomes factor p q.
Proof. intros. apply sum_nonneg. intros. apply pos_nonneg. Qed.

(** The first round and the rest: how the divergence of a longer run is summed. *)
Lemma hockey_stick_run : forall {A : Type} (outcomes : list A) factor p q past n,
  hockey_stick (transcripts outcomes (S n)) factor (run p past) (run q past)
    == sum outcomes (fun a => sum (transcripts outcomes n) (fun later =>
         pos (p past a * run p (a :: past) later - factor * (q past a * run q (a :: past) later)))).
Proof. intros. unfold hockey_stick. rewrite sum_transcripts. reflexivity. Qed.
