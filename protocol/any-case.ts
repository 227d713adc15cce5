import { z } from 'zod';

/**
 * An object schema whose property names match regardless of case (AZ-S2), so `Message` counts as `message`. If an
 * object has several spellings of a name, the exact spelling wins, otherwise the last spelling. A known property that
 * is null counts as absent; unknown properties stay as they are.
 */
export function anyCase<S extends z.ZodObject>(schema: S) {
  const names = new Map(Object.keys(schema.shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((input) => (isPlainObject(input) ? renamed(input, names) : input), schema);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the value of a property. The name matches regardless of case: the exact spelling wins, otherwise the last
 * spelling.
 */
export function propertyOf(object: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const key = Object.keys(object).findLast((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}

function renamed(object: Record<string, unknown>, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(object)) {
    const name = names.get(key.toLowerCase());
    if (name === undefined) entries.push([key, value]);
    else if (value !== null && (name === key || !Object.hasOwn(object, name))) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}
