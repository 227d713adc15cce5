import { settingsByName } from '../setting-entries.ts';

/** Applies a JSON merge patch (RFC 7396): null removes a property, objects are merged, other values are replaced. */
export function mergePatch(target: unknown, patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged = new Map(Object.entries(settingsByName(target) ?? {}));
  for (const [name, value] of Object.entries(patch)) {
    const nested = settingsByName(value);
    if (value === null) merged.delete(name);
    else merged.set(name, nested === null ? value : mergePatch(merged.get(name), nested));
  }
  return Object.fromEntries(merged);
}
