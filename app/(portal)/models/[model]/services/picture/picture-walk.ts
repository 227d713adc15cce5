import type { ServiceLayout } from './picture-layout.ts';

export type Direction = 'left' | 'right' | 'up' | 'down';

/**
 * Returns the service to which an arrow key leads: left and right along relations, or to the nearest service of another
 * column if there is none; up and down within the column.
 */
export function walk({ services, relations }: ServiceLayout, from: string, direction: Direction): string {
  const start = services.get(from);
  if (start === undefined) return services.keys().next().value ?? from;
  const all = [...services.values()].filter(({ name }) => name !== from);
  const nearest = (some: typeof all) =>
    some.toSorted((a, b) => distance(a, start) - distance(b, start) || (a.name < b.name ? -1 : 1))[0]?.name;
  if (direction === 'up' || direction === 'down') {
    const column = all.filter(
      ({ x, y }) => Math.abs(x - start.x) < 1 && (direction === 'up' ? y < start.y : y > start.y),
    );
    return nearest(column) ?? from;
  }
  const isBeyond = ({ x }: { x: number }) => (direction === 'left' ? x < start.x - 1 : x > start.x + 1);
  const related = new Set(
    relations.flatMap((one) => (one.from === from ? [one.to] : one.to === from ? [one.from] : [])),
  );
  const beyond = all.filter(isBeyond);
  return nearest(beyond.filter(({ name }) => related.has(name))) ?? nearest(beyond) ?? from;
}

/** Returns the services to which a service is related, in the order of its relations. */
export const neighborsOf = ({ relations }: Pick<ServiceLayout, 'relations'>, name: string): string[] => [
  ...new Set(relations.flatMap(({ from, to }) => (from === name ? [to] : to === name ? [from] : []))),
];

/** The related services of one service, and which of them was visited last. */
export interface RelatedRing {
  names: readonly string[];
  at: number;
}

/** Continues to the next related service if the last key went to the current one; otherwise begins with its own. */
export function nextInRing(ring: RelatedRing | null, own: readonly string[], current: string): RelatedRing {
  return ring !== null && ring.names[ring.at] === current && ring.names.length > 1
    ? { names: ring.names, at: (ring.at + 1) % ring.names.length }
    : { names: own, at: 0 };
}

/** Columns count more than rows, so that the path keeps its direction. */
const distance = (a: { x: number; y: number }, b: { x: number; y: number }): number =>
  Math.abs(a.x - b.x) * 2 + Math.abs(a.y - b.y);
