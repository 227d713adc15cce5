import type { AdvanceInput, RingFacts, RolloutFacts } from '../advance-facts.ts';
import { emptyCounts } from '../counts.ts';
import type { OpenStep, StepFacts, StepRules, StoredHealth } from '../step-facts.ts';
import type { Gates, RingCounts } from '../stored.ts';

/** The start of every test, and times after it. */
export const start = new Date('2026-07-06T12:00:00Z');
export const later = (seconds: number): Date => new Date(start.getTime() + seconds * 1_000);

/** A step that was published at `start`, with sequence number 2 and incarnation 5. */
export const step = (changes: Partial<OpenStep> = {}): OpenStep => ({
  state: 'inFlight',
  cause: null,
  kind: 'update',
  attempt: 1,
  touched: [{ name: 'probe', sequenceNumber: 2, before: null, version: '1.1.0.0' }],
  incarnation: 5,
  publishedAt: start,
  deliveredAt: null,
  concludedAt: null,
  healthyAt: null,
  breaks: 0,
  dueAt: null,
  ...changes,
});

export const health = (word: StoredHealth['health'], changes: Partial<StoredHealth> = {}): StoredHealth => ({
  sequenceNumber: 2,
  health: word,
  cause: null,
  since: later(20),
  deadlineAt: null,
  ...changes,
});

/** Facts of a VM that received the goal state after ten seconds. Its extension has this health. */
export const facts = (of: StoredHealth | null, changes: Partial<StepFacts> = {}): StepFacts => ({
  exists: true,
  decommissioning: false,
  extensions: [{ name: 'probe', declared: { sequenceNumber: 2, state: 'enabled', version: '1.1.0.0' }, health: of }],
  headIncarnation: 5,
  deliveredIncarnation: 5,
  deliveredAt: later(10),
  agent: 'ready',
  agentPromiseKept: true,
  isMarked: false,
  hold: null,
  laneSince: null,
  heldSeconds: 0,
  laneBusySeconds: 0,
  deadlineSeconds: 600,
  changedBy: null,
  ...changes,
});

export const stepRules = (changes: Partial<StepRules> = {}): StepRules => ({
  soakSeconds: 300,
  settleSeconds: 600,
  silent: 'wait',
  retry: { times: 0, afterSeconds: 60, causes: ['exit'] },
  onStepFailure: 'leave',
  stage: 'running',
  ...changes,
});

export const gates = (changes: Partial<Gates> = {}): Gates => ({
  inFlight: { count: 100 },
  ramp: false,
  soakSeconds: 300,
  settleSeconds: 600,
  bakeSeconds: 0,
  errors: { share: 500, atLeast: 20 },
  success: { share: 9_500, atLeast: 1 },
  compare: null,
  ...changes,
});

export const counts = (changes: Partial<RingCounts> = {}): RingCounts => ({ ...emptyCounts(), ...changes });

export const ring = (changes: Partial<RingFacts> = {}): RingFacts => ({
  ring: 0,
  state: 'open',
  size: 10,
  counts: counts(),
  gates: gates(),
  overruled: null,
  openedAt: start,
  metAt: null,
  passedAt: null,
  approval: false,
  isApproved: false,
  advanced: false,
  candidates: 0,
  windows: [],
  longestSeconds: 0,
  ready: 0,
  held: 0,
  setsBusy: 0,
  vmsBusy: 0,
  ...changes,
});

export const rollout = (changes: Partial<RolloutFacts> = {}): RolloutFacts => ({
  id: 'rollout-1',
  kind: 'rollout',
  state: 'running',
  pausedBy: null,
  why: [],
  onHalt: 'pause',
  newcomers: 'ignore',
  keepDays: 14,
  noProgressSeconds: 86_400,
  startAt: null,
  progressAt: start,
  isSuperseded: false,
  epochChanged: false,
  secretsLost: false,
  versionWithdrawn: null,
  ...changes,
});

export const advanceInput = (
  rings: readonly RingFacts[],
  of: Partial<RolloutFacts> = {},
  changes: Partial<AdvanceInput> = {},
): AdvanceInput => ({
  rollout: rollout(of),
  rings,
  freezes: [],
  nextBatchAt: null,
  portalInFlight: 0,
  maxPortalInFlight: 2_000,
  nextStepAt: null,
  isBehind: false,
  now: start,
  ...changes,
});
