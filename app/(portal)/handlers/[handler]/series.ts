/** One of the five colors of a chart, where 1 is the strongest; 0 for versions without their own color. */
export type Series = 0 | 1 | 2 | 3 | 4 | 5;

const colors = [1, 2, 3, 4, 5] as const;

/**
 * Assigns colors to the versions on the most VMs; the highest version gets the strongest color. If more than five
 * versions are in use, four get their own color and the other versions share the fifth. Expects the versions sorted,
 * highest first.
 */
export function seriesOf(versions: readonly { version: string; vms: number }[]): ReadonlyMap<string, Series> {
  const used = versions.filter(({ vms }) => vms > 0);
  const chosen = used.length > colors.length ? colors.length - 1 : used.length;
  const kept = new Set(
    used
      .toSorted((a, b) => b.vms - a.vms)
      .slice(0, chosen)
      .map(({ version }) => version),
  );
  const shown = versions.filter(({ version }) => kept.has(version));
  return new Map(shown.map(({ version }, index) => [version, colors[index] ?? 0]));
}

/** Fill colors as complete class names, because Tailwind does not find class names that are composed at run time. */
export const seriesFill: Readonly<Record<Series, string>> = {
  0: 'bg-series-5',
  1: 'bg-series-1',
  2: 'bg-series-2',
  3: 'bg-series-3',
  4: 'bg-series-4',
  5: 'bg-series-5',
};
