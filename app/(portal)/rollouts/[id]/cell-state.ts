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
