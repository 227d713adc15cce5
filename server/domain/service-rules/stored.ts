import type { UnitRecord } from '#protocol/unit-record.ts';

/** What a unit has confirmed, from the runs of its hooks. The relations are in `relation_seen`. */
export type StoredUnitRecord = Omit<UnitRecord, 'relations' | 'failing' | 'skipped'>;

/** A hook that failed last. Times are in ISO 8601. */
export interface FailingHook {
  hook: string;
  /** The run that failed last. */
  run: string;
  /** Number of attempts for the same cause that failed. */
  failures: number;
  outcome: 'failed' | 'timed-out' | 'refused';
  exitCode: number | null;
  /** When the first of these attempts failed. */
  since: string;
  /** The member that a hook of a relation was for. */
  remoteUnit?: string;
}

/** The hooks that failed last: `unit` for a hook of the unit, and the relation’s id for a hook of a relation. */
export type FailingHooks = Readonly<Record<string, FailingHook>>;

/** A hook that an operator or a removal skipped and that has not succeeded since. */
export interface SkippedHook {
  hook: string;
  formula: string;
  at: string;
  by: string;
}

/** What an operator decided about a hook that failed in a particular run. */
export interface Resolution {
  run: string;
  how: 'retry' | 'skip';
  at: string;
  by: string;
}

/** A sealed value and its fingerprint, by key. */
export type SealedSettings = Readonly<Record<string, readonly [sealed: string, fingerprint: string]>>;

/** The sealed value of each changed key before and after; null if the node did not have the key. */
export type NodeDelta = Readonly<Record<string, readonly [before: string | null, after: string | null]>>;

/** Which version of a node, or of the service’s settings, a hook read. */
export type HookView = { relation: number; unit: string; version: number } | { settings: number };

/** Why a hook ran: what caused it, and the run or the act that was before it. */
export interface CauseOfRun {
  because: string;
  /** The run that wrote what this run is for. */
  run?: { vmId: string; id: string; unit: string; hook: string };
  /** The act of an operator, as in the activity. */
  act?: { action: string; at: string; by: string };
}

/** The last message of level ERROR with an id, or the portal’s own sentence. */
export interface StoredReason {
  id: string;
  params: readonly string[];
}

/** What a run stored: the new version of each changed node by relation, and relations whose changes were not stored. */
export interface RunResult {
  versions: Readonly<Record<string, number>>;
  dropped?: readonly number[];
}
