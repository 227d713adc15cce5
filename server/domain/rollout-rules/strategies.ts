import type { Gates, Ring, Strategy } from './stored.ts';

const ring = (name: string, share: number, gates: Gates): Ring => ({
  ...{ name, filter: null, upTo: { share }, approval: false, windows: [], gates },
});

const bulk: Gates = {
  ...{ inFlight: { count: 200 }, ramp: false, soakSeconds: 0, settleSeconds: 600, bakeSeconds: 0 },
  ...{ errors: { share: 2_000, atLeast: 20 }, success: null, compare: null },
};
const careful: Gates = {
  ...{ inFlight: { share: 1_000 }, ramp: true, soakSeconds: 300, settleSeconds: 600, bakeSeconds: 1_800 },
  ...{ errors: { share: 500, atLeast: 20 }, success: { share: 9_500, atLeast: 1 } },
  compare: { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' },
};
const retry = { times: 0, afterSeconds: 60, causes: [] };

export const builtInStrategies = {
  careful: {
    rings: [ring('first', 100, careful), ring('tenth', 1_000, careful), ring('half', 5_000, careful), ring('all', 10_000, careful)],
    ...{ silent: 'wait', newcomers: 'ignore', onStepFailure: 'leave', onHalt: 'pause', retry },
  },
  'at-once': {
    rings: [ring('all', 10_000, bulk)],
    ...{ silent: 'declare', newcomers: 'ignore', onStepFailure: 'leave', onHalt: 'pause', retry },
  },
} as const satisfies Record<string, Strategy>;
