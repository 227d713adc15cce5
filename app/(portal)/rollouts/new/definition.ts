import type { FleetFilter } from '#server/domain/fleet/index.ts';

/* A rollout's definition as the portal accepts it. Shares are percentages, times are in seconds. */

export type LimitInput = { percent: number } | { count: number };

export interface WindowInput {
  days: string[];
  from: string;
  to: string;
  timeZone: string;
}

export interface SentGates {
  inFlight: LimitInput;
  ramp: boolean;
  soakSeconds: number;
  settleSeconds: number;
  bakeSeconds: number;
  errors: { count: number } | { percent: number; atLeast: number } | null;
  success: { percent: number; atLeast: number } | null;
  compare: { minEffectPercent: number; minPairs: number; onTooFew: 'goOn' | 'pause' } | null;
  noProgressSeconds?: number;
}

/** A filter of the VM list in which tags are texts such as `env=prod`. */
export type SentFilter = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A ring, with filters as the VM list has them (`FleetFilter`) or as they are sent (`SentFilter`). */
export interface SentRing<F = FleetFilter> {
  name: string;
  filter?: F | null;
  upTo?: LimitInput | null;
  approval?: boolean;
  windows?: WindowInput[];
  gates?: Partial<SentGates>;
}

export type SelectionInput<F = FleetFilter> =
  | { ids: string[] }
  | { all: true; exclude?: F }
  | { include: F; exclude?: F };

export const changeKinds = ['set', 'remove', 'retry', 'revert', 'run'] as const;

export interface SentChange {
  kind: (typeof changeKinds)[number];
  handler?: string | null;
  extension?: string | null;
  version?: string | null;
  state?: 'enabled' | 'disabled' | null;
  publicSettings?: { merge: Record<string, unknown> } | { replace: Record<string, unknown> } | null;
  /** The whole object; null removes the settings. */
  protectedSettings?: unknown;
  onAbsent?: 'skip' | 'install';
  allowLower?: boolean;
  runbook?: string | null;
  parameters?: Record<string, unknown> | null;
  secretParameters?: Record<string, unknown> | null;
  timeoutSeconds?: number | null;
  validForSeconds?: number | null;
}

/** What a strategy decides. */
export interface SentStrategy<F = FleetFilter> {
  rings: SentRing<F>[];
  gates: SentGates;
  silent: 'wait' | 'declare' | 'skip';
  newcomers: 'ignore' | 'include';
  onStepFailure: 'leave' | 'revert';
  onHalt: 'pause' | 'revert';
}

export interface SentDefinition<F = FleetFilter> extends Partial<SentStrategy<F>> {
  kind?: 'rollout' | 'bulk';
  name: string;
  note?: string | null;
  strategy?: string;
  select: SelectionInput<F>;
  change: SentChange;
  windows?: WindowInput[];
  availabilitySets?: 'respect' | 'ignore';
  startAt?: string | null;
}
