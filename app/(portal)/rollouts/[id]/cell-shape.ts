import { type MemberCount, memberCounts } from '#server/domain/rollout-rules/words.ts';
import type { ShownCells } from '../rollout-data.ts';

type Cell = ShownCells['cells'][number];

/** States in the order in which one decides the look of a cell with several VMs: what needs attention first. */
const loudest: readonly MemberCount[] = [
  ...(['failed', 'reverted', 'inFlight', 'soaking', 'parked', 'unreached'] as const),
  ...(['overtaken', 'skipped', 'gone', 'queued', 'succeeded'] as const),
];

/** Returns the state that a cell shows. */
export const stateOfCell = ({ counts }: Pick<Cell, 'counts'>): MemberCount =>
  loudest.find((state) => (counts[state] ?? 0) > 0) ?? 'queued';

/** Returns the numbers of a cell by state, in the order of the counts. */
export const numbersOfCell = ({ counts }: Pick<Cell, 'counts'>): { state: MemberCount; n: number }[] =>
  memberCounts.flatMap((state) => ((counts[state] ?? 0) > 0 ? [{ state, n: counts[state] ?? 0 }] : []));

/** The drawing of each state in a cell of 10 units: shapes differ, so that color is not needed. */
export const shapeOfState: Readonly<Record<MemberCount, { path: string; fill: string }>> = {
  succeeded: { path: 'M0 0h8v8H0z', fill: 'var(--healthy-map)' },
  failed: {
    path: 'M0 0h8v8H0zM2 3.3 3.3 4.600 2 6 3 7 4.300 5.700 5.600 7 6.600 6 5.300 4.600 6.600 3.300 5.600 2.300 4.300 3.600 3 2.300z',
    fill: 'var(--failed-map)',
  },
  reverted: { path: 'M4 0 8 8H0z', fill: 'var(--warning-map)' },
  inFlight: { path: 'M0 0h8v8H0z', fill: 'var(--progressing-map)' },
  soaking: { path: 'M0 0h8L0 8z', fill: 'var(--progressing-map)' },
  parked: { path: 'M0 0h8v8H0zM1.500 1.500v5h5v-5z', fill: 'var(--unknown-map)' },
  overtaken: { path: 'M0 3h8v2H0z', fill: 'var(--unknown-map)' },
  skipped: { path: 'M0 3h8v2H0z', fill: 'var(--unknown-map)' },
  gone: { path: 'M3 0h2v8H3z', fill: 'var(--disabled-solid)' },
  unreached: { path: 'M4 0 8 4 4 8 0 4z', fill: 'var(--disabled-solid)' },
  queued: { path: 'M3 3h2v2H3z', fill: 'var(--disabled-solid)' },
};
