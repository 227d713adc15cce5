import type { Freeze, Gates, Reason, RingCounts, RingVerdict, Window } from './stored.ts';
import type { Pauser, RingState, RolloutKind, RolloutState } from './words.ts';

/** What an operator overruled in a ring: its gates count from these values. */
export interface Overruled {
  decided: number;
  failed: number;
  success: boolean;
  changedFirst: number;
  controlFirst: number;
  pairs: number;
  /** Whether the comparison was overruled. */
  compare?: boolean;
}

/** A ring, as far as its gates and its opening depend on it. */
export interface RingFacts {
  ring: number;
  state: RingState;
  size: number;
  counts: RingCounts;
  gates: Gates;
  overruled: Overruled | null;
  openedAt: Date | null;
  metAt: Date | null;
  passedAt: Date | null;
  /** Whether the ring may open only after a person approved it, and whether a person did. */
  approval: boolean;
  isApproved: boolean;
  /** Whether an operator opens the ring before the earlier one passed. */
  advanced: boolean;
  /** Members of later rings that can be watched alongside members of this ring. */
  candidates: number;
  /** The ring's windows, or those of the rollout. */
  windows: readonly Window[];
  /** The longest sum of timeouts of a member's planned commands. */
  longestSeconds: number;
  /** Parked members whose obstacle is gone. */
  ready: number;
  /** Delivered steps in flight on VMs that are on hold: they have no place in flight. */
  held: number;
  /** Members whose turn has come, but whose availability set or VM has an open step. */
  setsBusy: number;
  vmsBusy: number;
}

export interface RolloutFacts {
  id: string;
  kind: RolloutKind;
  state: RolloutState;
  pausedBy: Pauser | null;
  why: readonly Reason[];
  onHalt: 'pause' | 'revert';
  newcomers: 'ignore' | 'include';
  keepDays: number;
  noProgressSeconds: number;
  startAt: Date | null;
  /** When a step last began or was decided, or a person last started or resumed the rollout. */
  progressAt: Date | null;
  /** Whether a newer rollout supersedes it. */
  isSuperseded: boolean;
  /** Whether the database was restored from a backup since the last pass. */
  epochChanged: boolean;
  /** Whether the portal no longer keeps the protected settings of the change. */
  secretsLost: boolean;
  /** The version of the change if it was withdrawn. */
  versionWithdrawn: { handler: string; version: string } | null;
}

export interface AdvanceInput {
  rollout: RolloutFacts;
  rings: readonly RingFacts[];
  freezes: readonly Freeze[];
  /** When the rates of portal and rollout allow the next batch; null for now. */
  nextBatchAt: Date | null;
  /** Steps in flight of all rollouts, this one included, and how many the portal allows. */
  portalInFlight: number;
  maxPortalInFlight: number;
  /** When the first open step must be judged. */
  nextStepAt: Date | null;
  /** Whether changes of health are not judged yet. */
  isBehind: boolean;
  now: Date;
}

/** The new values of a ring. */
export interface RingAdvance {
  ring: number;
  state: RingState;
  verdicts: RingVerdict[];
  openedAt: Date | null;
  metAt: Date | null;
  passedAt: Date | null;
  overruled: Overruled | null;
}

/** The outcome of one pass for a rollout. */
export interface Advance {
  state: RolloutState;
  pausedBy: Pauser | null;
  /** Why it does not move; empty if it does. */
  why: Reason[];
  next: Reason | null;
  rings: RingAdvance[];
  /** Whether this pass opened, passed or halted rings, by position, for the activity. */
  opened: number[];
  passed: number[];
  halted: number[];
  /** The ring whose members may begin, how many of them, and until when. */
  mayBegin: { ring: number; room: number; until: Date | null } | null;
  /** Whether goal states that were not delivered must be taken back. */
  recall: boolean;
  /** Whether the rollout must be aborted and reverted, because a gate halted it. */
  revertSelf: boolean;
  /** Whether parked members are unreached, because the rollout ends. */
  unreach: boolean;
  /** When the rollout must be looked at next; null if only a person moves it. */
  dueAt: Date | null;
}
