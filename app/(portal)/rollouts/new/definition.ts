import type { FleetFilter } from '#server/domain/fleet/index.ts';

/* A rollout's definition as the portal accepts it. Shares are percentages, times are in seconds. */

export type LimitInput = { percent: number } | { count: number };

export interface WindowInput {
  days: string[];
  from: string;
  to: string;
  timeZone: string;
}

export interface GatesInput {
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

export interface RingInput {
  name: string;
  filter?: FleetFilter | null;
  upTo?: LimitInput | null;
  approval?: boolean;
  windows?: WindowInput[];
  gates?: Partial<GatesInput>;
}

export type SelectionInput =
  | { ids: string[] }
  | { all: true; exclude?: FleetFilter }
  | { include: FleetFilter; exclude?: FleetFilter };

export const changeKinds = ['set', 'remove', 'retry', 'revert'] as const;

export interface ChangeInput {
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
}

/** What a strategy decides. */
export interface StrategyInput {
  rings: RingInput[];
  gates: GatesInput;
  silent: 'wait' | 'declare' | 'skip';
  newcomers: 'ignore' | 'include';
  onStepFailure: 'leave' | 'revert';
  onHalt: 'pause' | 'revert';
}

export interface DefinitionInput extends Partial<StrategyInput> {
  kind?: 'rollout' | 'bulk';
  name: string;
  note?: string | null;
  strategy?: string;
  select: SelectionInput;
  change: ChangeInput;
  windows?: WindowInput[];
  availabilitySets?: 'respect' | 'ignore';
  startAt?: string | null;
}
