import { canonicalJson } from '#server/platform/canonical-json.ts';

/** A value that differs before and after a change. `undefined` means that the value is absent on that side. */
export interface Difference {
  /** Path of the value. A list is compared as one value. */
  path: string[];
  before?: unknown;
  after?: unknown;
}

/** Maximum number of differences; a changed schema can have thousands. */
const most = 200;

/** Returns the individual values that differ, sorted by path, and how many more there are. */
export function differencesOf(before: unknown, after: unknown): { items: Difference[]; more: number } {
  const all: Difference[] = [];
  walk([], before ?? undefined, after ?? undefined, all);
  return { items: all.slice(0, most), more: Math.max(0, all.length - most) };
}

function walk(path: string[], before: unknown, after: unknown, found: Difference[]): void {
  if (before === undefined && after === undefined) return;
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return;
  const sides = [before, after].filter((side) => side !== undefined);
  if (!sides.every(isOpen) || !sides.some((side) => Object.keys(side as object).length > 0)) {
    found.push({
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
    return;
  }
  const [old, now] = [before ?? {}, after ?? {}] as Record<string, unknown>[];
  for (const name of [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].sort()) {
    const get = (side: Record<string, unknown> | undefined): unknown =>
      side !== undefined && Object.hasOwn(side, name) ? side[name] : undefined;
    walk([...path, name], get(old), get(now), found);
  }
}

/**
 * Whether the value is compared field by field. Placeholders (`$cut`, `$sealed`) and everything that is not an object
 * are compared as one value.
 */
function isOpen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return names.length !== 1 || names[0]?.startsWith('$') !== true;
}
