import { type Preset, presets } from './presets.ts';

/** The filter of the activity page, as in its URL. Times are ISO 8601. */
export interface ActivityQuery {
  vmId?: string;
  actor?: string;
  action?: string;
  target?: string;
  q?: string;
  from?: string;
  to?: string;
  /** Only what people did, or only what happened in the fleet. */
  kind?: 'people' | 'fleet';
  /** A range that depends on the current time, instead of `from` and `to`. */
  since?: Preset;
}

const names = ['vmId', 'actor', 'action', 'target', 'q', 'from', 'to', 'kind', 'since'] as const;
const words: Readonly<Record<string, readonly string[]>> = { kind: ['people', 'fleet'], since: presets };

/** Reads the filter from a URL's parameters. Invalid parts are ignored. */
export function filterOfAddress(query: Readonly<Record<string, string | string[] | undefined>>): ActivityQuery {
  const filter: ActivityQuery = {};
  for (const name of names) {
    const value = query[name];
    if (typeof value !== 'string' || value === '' || value.length > 200) continue;
    if ((name === 'from' || name === 'to') && !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) continue;
    if (words[name]?.includes(value) === false) continue;
    if (name === 'vmId' && !/^[0-9a-f-]{36}$/.test(value)) continue;
    Object.assign(filter, { [name]: value });
  }
  return filter;
}

/** Returns the filter as a query string without `?`. Equal filters yield equal strings. */
export function addressOfFilter(filter: ActivityQuery): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = filter[name];
    if (value !== undefined && value !== '') query.set(name, value);
  }
  return query.toString();
}
