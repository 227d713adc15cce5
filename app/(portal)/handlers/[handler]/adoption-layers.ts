import type { Series } from './series.ts';

export interface Layer {
  /** Null for the layer of all versions that share the last color. */
  version: string | null;
  series: Series;
  /** Number of versions that this layer has had. */
  count: number;
  /** The versions of this layer that VMs have now. */
  versions: string[];
}

export interface StackedPoint {
  at: Date;
  /** Number of VMs in each layer. */
  vms: number[];
}

interface Counted {
  versions: readonly string[];
  points: readonly { at: Date; vms: readonly number[] }[];
}

/**
 * Returns the points of the chart and its layers from bottom to top: other versions, then the versions with their own
 * color, the highest version on top. The last point is for the current time.
 */
export function layersOf(
  counted: Counted,
  series: ReadonlyMap<string, Series>,
  current: readonly { version: string; vms: number }[],
  now: Date,
): { layers: Layer[]; points: StackedPoint[] } {
  const colored = [...series]
    .reverse()
    .map(([version, color]) => ({ version, series: color, count: 1, versions: [version] }));
  const others = counted.versions.filter((version) => !series.has(version));
  const rest = current.filter(({ version, vms }) => vms > 0 && !series.has(version));
  const counts = new Set([...others, ...rest.map(({ version }) => version)]).size;
  const shared = { version: null, series: 0 as const, count: counts, versions: rest.map(({ version }) => version) };
  const layers: Layer[] = [...(counts > 0 ? [shared] : []), ...colored];
  const stacked = (vmsOf: ReadonlyMap<string, number>) => {
    const others = [...vmsOf].reduce((sum, [version, vms]) => (series.has(version) ? sum : sum + vms), 0);
    return layers.map(({ version }) => (version === null ? others : (vmsOf.get(version) ?? 0)));
  };
  const points = counted.points
    .filter(({ at }) => at < now)
    .map(({ at, vms }) => ({
      at,
      vms: stacked(new Map(counted.versions.map((version, index) => [version, vms[index] ?? 0]))),
    }));
  points.push({ at: now, vms: stacked(new Map(current.map(({ version, vms }) => [version, vms]))) });
  return { layers, points };
}

/**
 * Moves positions, given from bottom to top, at least `gap` apart, then keeps them at least half a gap from 0 and
 * `height`.
 */
export function spread(middles: readonly number[], gap: number, height: number): number[] {
  const placed = [...middles];
  for (let index = 1; index < placed.length; index += 1) {
    placed[index] = Math.min(placed[index] ?? 0, (placed[index - 1] ?? 0) - gap);
  }
  for (let index = placed.length - 1, least = gap / 2; index >= 0; index -= 1, least += gap) {
    placed[index] = Math.max(placed[index] ?? 0, least);
  }
  return placed.map((middle) => Math.min(middle, height - gap / 2));
}
