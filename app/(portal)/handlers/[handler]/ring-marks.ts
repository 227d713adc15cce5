import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type ShownOpening = inferRouterOutputs<AppRouter>['rollouts']['ringOpenings']['items'][number];

/** Openings that are drawn as one mark. */
export interface RingMark {
  /** Position of the mark, from 0 to 1. */
  share: number;
  /** At least one opening, the earliest first. */
  openings: readonly [ShownOpening, ...ShownOpening[]];
}

/** Distance, as a share of the axis, below which openings share a mark. */
const together = 1 / 60;

/** Returns the marks of a time axis, from left to right. Openings outside the axis are omitted. */
export function ringMarks(openings: readonly ShownOpening[], axis: { from: Date; to: Date }): RingMark[] {
  const [from, to] = [axis.from.getTime(), axis.to.getTime()];
  const marks: { share: number; openings: [ShownOpening, ...ShownOpening[]] }[] = [];
  for (const opening of openings.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const share = (Date.parse(opening.at) - from) / (to - from);
    if (share < 0 || share > 1) continue;
    const last = marks.at(-1);
    if (last !== undefined && share - last.share < together) last.openings.push(opening);
    else marks.push({ share, openings: [opening] });
  }
  return marks;
}
