import type { Gates, RingDefinition, RolloutRules, Strategy } from './stored.ts';
import { failCauses } from './words.ts';

/** Causes of a failed step, for retries: those of health, and those of steps. */
export const retryCauses = [
  'exit',
  'timeout',
  'command',
  'status',
  'substatus',
  'heartbeat',
  'deadline',
  'stale',
  'waiting',
  ...failCauses,
] as const;

export const noRetry = { times: 0, afterSeconds: 300, causes: [...retryCauses] };

/** The defaults of what belongs to no strategy. */
export const definitionDefaults = { keepDays: 14, noProgressSeconds: 86_400, availabilitySets: 'respect' } as const;

const compare: Gates['compare'] = { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' };

const careful: Gates = {
  inFlight: { share: 1_000 },
  ramp: true,
  soakSeconds: 300,
  settleSeconds: 600,
  bakeSeconds: 1_800,
  errors: { share: 500, atLeast: 20 },
  success: { share: 9_500, atLeast: 1 },
  compare,
};

const automatic: Gates = {
  ...careful,
  inFlight: { share: 2_000 },
  bakeSeconds: 3_600,
  errors: { share: 200, atLeast: 50 },
};

const atOnce: Gates = {
  inFlight: { count: 200 },
  ramp: false,
  soakSeconds: 0,
  settleSeconds: 600,
  bakeSeconds: 0,
  errors: { share: 2_000, atLeast: 20 },
  success: null,
  compare: null,
};

const ring = (name: string, share: number, gates: Gates): RingDefinition => ({
  name,
  filter: null,
  upTo: { share },
  approval: false,
  windows: [],
  gates,
});

export const builtInStrategies: Readonly<Record<'careful' | 'automatic' | 'at-once', Strategy>> = {
  careful: {
    rings: [
      ring('first', 100, careful),
      ring('tenth', 1_000, careful),
      ring('half', 5_000, careful),
      ring('all', 10_000, careful),
    ],
    silent: 'wait',
    newcomers: 'ignore',
    onStepFailure: 'leave',
    onHalt: 'pause',
    retry: noRetry,
  },
  automatic: {
    rings: [ring('first', 100, automatic), ring('fifth', 2_000, automatic), ring('all', 10_000, automatic)],
    silent: 'wait',
    newcomers: 'include',
    onStepFailure: 'revert',
    onHalt: 'pause',
    retry: noRetry,
  },
  'at-once': {
    rings: [ring('all', 10_000, atOnce)],
    silent: 'declare',
    newcomers: 'ignore',
    onStepFailure: 'leave',
    onHalt: 'pause',
    retry: noRetry,
  },
};

export const builtInNames = Object.keys(builtInStrategies) as (keyof typeof builtInStrategies)[];
export const defaultStrategy = 'careful';

/** Returns a built-in strategy; null if the name is not of one. */
export const builtInStrategy = (name: string): Strategy | null =>
  Object.hasOwn(builtInStrategies, name) ? builtInStrategies[name as keyof typeof builtInStrategies] : null;

/** How a rollout is reverted (RO-31): one ring without soak, bake, comparison and error gate. */
export const revertStrategy: Strategy = {
  ...builtInStrategies['at-once'],
  rings: [ring('all', 10_000, { ...atOnce, errors: null })],
};

/**
 * Returns what a strategy means for a change of kind `run`: the step succeeds with code 0, so no health is watched
 * afterwards, no VM is compared with another, and nothing can be reverted. A run that waits for a silent VM waits as a
 * parked member, because an execution expires.
 */
export const forRuns = (strategy: Strategy): Strategy => ({
  ...strategy,
  rings: strategy.rings.map((of) => ({ ...of, gates: { ...of.gates, soakSeconds: 0, compare: null } })),
  silent: strategy.silent === 'declare' ? 'wait' : strategy.silent,
  onStepFailure: 'leave',
  onHalt: 'pause',
});

/** The portal's rules until an admin changes them. */
export const defaultRules: RolloutRules = {
  stepsPerSecond: 100,
  inFlight: 2_000,
  approval: null,
  availabilitySetTag: 'availability-set',
};
