import type { GateName, GateVerdict, MemberKind, RolloutChangeKind, SilentRule, StepState } from './words.ts';

/** A share in hundredths of a percent (10,000 is everything), or a number. */
export type Limit = { share: number } | { count: number };

/** The selection of a rollout. Filters have the fields of the VM list's filter and at least one condition. */
export type Selection =
  | { ids: string[] }
  | { all: true; exclude?: StoredFilter }
  /** `ring`: only the steps of this ring, for the revert of a rollout. */
  | { include: StoredFilter; exclude?: StoredFilter; ring?: number };

/** A filter of the VM list, as `fleetFilterInput` returns it. */
export type StoredFilter = Readonly<Record<string, unknown>>;

/** What a rollout does on each member. Fields that are null are not changed. */
export interface RolloutChange {
  kind: RolloutChangeKind;
  /** The handler whose extensions change; null for a revert of another rollout. */
  handler: string | null;
  /** One extension by name; null for every extension of the handler on the VM. */
  extension: string | null;
  version: string | null;
  state: 'enabled' | 'disabled' | null;
  autoUpgradeMinorVersion: boolean | null;
  dependsOn: string[] | null;
  timeouts: Readonly<Record<string, number>> | null;
  /** `merge` is a JSON merge patch (RFC 7396); `replace` is the whole object. */
  publicSettings: { merge: Readonly<Record<string, unknown>> } | { replace: Readonly<Record<string, unknown>> } | null;
  /** Whether the change replaces the protected settings (`given`), removes them, or keeps them (null). */
  protectedSettings: 'given' | 'removed' | null;
  onAbsent: 'skip' | 'install';
  allowLower: boolean;
  /** For a revert: the time whose contents are declared; null for the goal state before each step or change. */
  asOf: string | null;
  /** What a change of kind `run` runs; absent in every other change. */
  run?: RunChange;
}

/** What a rollout runs on each member. `RolloutChange.version` is the version of the runbook. */
export interface RunChange {
  runbook: string;
  parameters: Readonly<Record<string, unknown>>;
  /** The names of the secret parameters. Their values are sealed with the rollout. */
  secretParameters: string[];
  timeoutSeconds: number;
  validForSeconds: number;
}

/** A maintenance window, in local time of an IANA time zone. `to` before `from` ends on the next day. */
export interface Window {
  days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
  from: string;
  to: string;
  timeZone: string;
}

/** The limits and gates of a ring, with every default filled in. A gate that is null is off. Times are in seconds. */
export interface Gates {
  inFlight: Limit;
  ramp: boolean;
  soakSeconds: number;
  settleSeconds: number;
  bakeSeconds: number;
  /** `count`: halts with this failure. `share`: halts if more than this share of the decided failed. */
  errors: { count: number } | { share: number; atLeast: number } | null;
  success: { share: number; atLeast: number } | null;
  compare: { minEffectShare: number; minPairs: number; onTooFew: 'goOn' | 'pause' } | null;
}

export interface RingDefinition {
  name: string;
  filter: StoredFilter | null;
  /** Null: everything that matches the filter. */
  upTo: Limit | null;
  /** Whether a person must approve before the ring opens. */
  approval: boolean;
  windows: Window[];
  gates: Gates;
}

/** A rollout's definition with every default filled in. */
export interface Definition {
  strategy: string;
  select: Selection;
  change: RolloutChange;
  rings: RingDefinition[];
  /** Windows of every ring that has none. */
  windows: Window[];
  silent: SilentRule;
  newcomers: 'ignore' | 'include';
  keepDays: number;
  availabilitySets: 'respect' | 'ignore';
  onStepFailure: 'leave' | 'revert';
  onHalt: 'pause' | 'revert';
  retry: { times: number; afterSeconds: number; causes: string[] };
  /** Hundredths of a percent of the members; null for the default: 0 up to 100 members, otherwise 1%. */
  maxMovedShare: number | null;
  noProgressSeconds: number;
  stepsPerSecond: number | null;
  startAt: string | null;
}

/** A saved set of rings and gates, and what else a strategy decides. */
export type Strategy = Pick<Definition, 'rings' | 'silent' | 'newcomers' | 'onStepFailure' | 'onHalt' | 'retry'>;

/** A reason that has a sentence in `locales`. Times are in ISO 8601. */
export interface Reason {
  code: string;
  ring?: number;
  params?: Readonly<Record<string, string | number>>;
  since?: string;
  at?: string;
}

export interface RingVerdict {
  gate: GateName;
  verdict: GateVerdict;
  /** The reason's code and numbers, as the page shows them. */
  code: string;
  params: Readonly<Record<string, string | number>>;
}

/** Counts of a ring's steps by state. `healthy` counts steps that were seen healthy since the ring opened. */
export type RingCounts = Readonly<Record<StepState, number>> & {
  healthy: number;
  pairs: number;
  changedFirst: number;
  controlFirst: number;
  pairsBoth: number;
  pairsNeither: number;
  pairsVoid: number;
  pairsOpen: number;
};

export interface RolloutApproval {
  /** Null for the start of the rollout. */
  ring: number | null;
  approved: boolean;
  /** The approver as `kind:id`, and the name. */
  actor: string;
  by: string;
  at: string;
  planHash: string;
  note: string | null;
}

/** The figures of one ring in a plan. */
export interface RingPlan {
  name: string;
  size: number;
  kinds: Partial<Record<MemberKind, number>>;
  inFlight: number;
  /** Bytes of packages to download. */
  bytes: number;
  restarts: number;
  silent: number;
  sets: { touched: number; longest: number };
  /** The longest sum of timeouts of a member's planned commands. */
  longestSeconds: number;
}

export interface RolloutPlan {
  hash: string;
  at: string;
  by: string;
  members: number;
  unchanged: number;
  /** VMs that the selection matches. */
  matched: number;
  kinds: Partial<Record<MemberKind, number>>;
  refused: Readonly<Record<string, { count: number; examples: { vmId: string; name: string }[] }>>;
  rings: RingPlan[];
  notRevertible: Readonly<Record<string, number>>;
  overlaps: { id: string; name: string; members: number }[];
  /** Members whose settings are not checked before their turn. */
  uncheckedSettings: number;
  earliestEnd: string | null;
  likelyEnd: string | null;
  /** Whether the portal's rules ask for an approval of every execution, so that a person must approve this plan. */
  approval?: boolean;
  /** The stored files of the runbook that a run queues, with the contents that every member gets. */
  files?: RunFile[];
}

/** A stored file of a runbook. `file` is its id in the plan, `runbookFile` its id in the portal. */
export interface RunFile {
  file: string;
  runbookFile: string;
  sha256: string;
  size: number;
}

export interface Freeze {
  from: string;
  to: string;
  reason: string;
  /** Ids of the rollouts that an admin exempted. */
  exempt: string[];
}

/** The rules of all rollouts of the portal, apart from freezes. */
export interface RolloutRules {
  stepsPerSecond: number;
  inFlight: number;
  /** `automatic`: automatic rollouts need approvals too. */
  approval: {
    fromMembers: number;
    people: number;
    role: 'operator' | 'admin';
    automatic?: boolean | undefined;
  } | null;
  availabilitySetTag: string;
}

/** What failed when a step failed: the values that tell one failure from another, and what the handler reported. */
export interface StepFailure {
  extension: string | null;
  handler: string | null;
  version: string | null;
  /** The failed command and its exit code, if they are the cause. */
  command: string | null;
  exitCode: number | null;
  /** The message of the status that is the cause, or that the handler reported with the failed command. */
  messageId: string | null;
}
