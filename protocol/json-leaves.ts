import { jsonPointer } from './pointer.ts';

/** A value that is compared as a whole, and its path. */
export interface JsonLeaf {
  path: readonly string[];
  value: unknown;
}

/**
 * Returns the leaves of a JSON value with their JSON pointers. Lists and empty objects are leaves; other objects are
 * not. An empty object at the root has no leaves.
 */
export function jsonLeaves(value: unknown, path: readonly string[] = []): [pointer: string, JsonLeaf][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    if (entries.length > 0 || path.length === 0) {
      return entries.flatMap(([name, part]) => jsonLeaves(part, [...path, name]));
    }
  }
  return [[jsonPointer(path), { path, value }]];
}
