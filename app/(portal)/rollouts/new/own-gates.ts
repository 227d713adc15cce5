import type { SentGates, SentRing } from './definition.ts';

/**
 * Returns the gates of a ring whose gates differ from the rest, with those that it leaves out; null if they do not
 * differ.
 */
export const ownGates = ({ gates: own }: Pick<SentRing, 'gates'>, shared: SentGates): SentGates | null =>
  own === undefined ? null : { ...shared, ...own };

/** Gives one ring its own gates, or takes them away. No ring has a time without progress: all share it. */
export function withOwnGates(
  rings: readonly SentRing[],
  index: number,
  own: SentRing['gates'] | undefined,
): SentRing[] {
  return rings.map((ring, at) => {
    if (at !== index) return ring;
    const { gates: _, ...rest } = ring;
    if (own === undefined) return rest;
    const { noProgressSeconds: __, ...gates } = own;
    return { ...rest, gates };
  });
}
