import { jsonPointer } from './pointer.ts';

/** A value without parts that could be compared one by one, and its place. */
export interface JsonLeaf {
  path: readonly string[];
  value: unknown;
}

/** The leaves of a JSON value by their pointers: objects are walked, lists and empty objects are leaves. */
export function jsonLeaves(value: unknown, path: readonly string[] = []): [pointer: string, JsonLeaf][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    if (entries.length > 0 || path.length === 0) {
      return entries.flatMap(([name, part]) => jsonLeaves(part, [...path, name]));
    }
  }
  return [[jsonPointer(path), { path, value }]];
}
