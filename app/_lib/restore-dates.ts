import type { Sent } from '#server/trpc/transformer.ts';

type Container = Record<string | number, unknown>;

/** Returns the data of a response, with its dates as `Date`. */
export function restoreDates({ json, dates = [] }: Sent): unknown {
  const root: Container = { json };
  for (const path of dates) {
    let parent = root;
    let last: string | number = 'json';
    for (const key of path) {
      parent = parent[last] as Container;
      last = key;
    }
    parent[last] = new Date(parent[last] as string);
  }
  return root.json;
}
