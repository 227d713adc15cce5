import { executionLimits } from './limits.ts';
import type { Path } from './plan-faults.ts';

/** A fault that prevents a value from being read as a plan. */
interface ShapeFault {
  path: Path;
  code: 'json_too_deep' | 'json_character';
  params?: Record<string, number>;
}

/** Whether a value has no more than `limit` levels of arrays and objects; by default, as many as a plan may have. */
export function isWithinDepth(value: unknown, limit: number = executionLimits.planDepth): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const containers = level.filter((one) => typeof one === 'object' && one !== null) as object[];
    if (depth >= limit && containers.length > 0) return false;
    level = containers.flatMap((one) => Object.values(one) as unknown[]);
  }
  return true;
}

/** Returns a fault if a value is nested too deeply. Call this first, because other functions recurse into the value. */
export function deepestFault(value: unknown): ShapeFault | null {
  if (isWithinDepth(value)) return null;
  return { path: [], code: 'json_too_deep', params: { limit: executionLimits.planDepth } };
}

/**
 * Returns a fault for the first text that contains a NUL character or half of a surrogate pair, because the portal does
 * not accept such texts.
 */
export function unstorableFault(value: unknown, path: Path = []): ShapeFault | null {
  if (typeof value === 'string') return isStorable(value) ? null : { path, code: 'json_character' };
  if (typeof value !== 'object' || value === null) return null;
  for (const [index, [key, inner]] of Object.entries(value).entries()) {
    // The path cannot contain this name, so it contains the property's position, as in the portal's other faults.
    if (!isStorable(key)) return { path: [...path, index], code: 'json_character' };
    const fault = unstorableFault(inner, [...path, key]);
    if (fault !== null) return fault;
  }
  return null;
}

const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();
