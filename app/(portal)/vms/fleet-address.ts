import { readParameter, writeParameter } from '#server/domain/fleet/address.ts';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import type { FleetSort } from '#server/domain/fleet/input.ts';
import type { FieldValue, ValueOf } from '#server/domain/fleet-field.ts';

/** The filter and order of the list, as stored in the URL. */
export interface FleetQuery {
  filter: FleetFilter;
  sort: FleetSort;
}

export interface ReadAddress {
  query: FleetQuery;
  /** Names of invalid parameters, which are ignored. */
  ignored: string[];
}

type Values = Readonly<Record<string, ValueOf<FieldValue> | undefined>>;

/** Reads the filter and the order from a URL such as `?q=&health=failed,degraded&tag=env=prod&sort=`. Never throws. */
export function readAddress(fields: readonly ListedField[], parameters: URLSearchParams): ReadAddress {
  const read = fields.map((field) => ({ field, ...readParameter(field, parameters) }));
  const filter: Values = Object.fromEntries(read.map(({ field, value }) => [field.name, value]));
  const sorts = fields.flatMap(({ orders = [] }) => orders).flatMap((order) => [order, `-${order}`] as const);
  const text = parameters.get('sort') ?? '';
  const sort = sorts.find((one) => one === text);
  const given = withoutGaps(filter);
  const ignored = read.flatMap(({ field, isValid }) => (isValid ? [] : [field.parameter]));
  return {
    query: { filter: given, sort: sort ?? usualSort(given) },
    ignored: text !== '' && sort === undefined ? [...ignored, 'sort'] : ignored,
  };
}

/** Writes the filter and the order as a query string, and omits defaults. */
export function writeAddress(fields: readonly ListedField[], { filter, sort }: FleetQuery): string {
  const parameters = new URLSearchParams();
  const values: Values = filter;
  for (const field of fields) writeParameter(field, values[field.name], parameters);
  if (sort !== usualSort(filter)) parameters.set('sort', sort);
  // Commas and equals signs are allowed in a query string, and people read these URLs.
  return parameters.toString().replaceAll('%2C', ',').replaceAll('%3D', '=');
}

/**
 * Returns the order that applies if the reader chose none: the least healthy VMs first, or by name for a search. A
 * search sorted by name finds new VMs immediately, because it does not need their health.
 */
export function usualSort({ q }: FleetFilter): FleetSort {
  return q === undefined || q === '' ? 'health' : 'name';
}

/** Returns the order for the next filter: the chosen order, or the usual order if none was chosen. */
export const sortAfter = ({ filter, sort }: FleetQuery, next: FleetFilter): FleetSort =>
  sort === usualSort(filter) ? usualSort(next) : sort;

/** Whether the filter has any condition. */
export function isFiltered(filter: FleetFilter): boolean {
  return Object.values(withoutGaps(filter)).length > 0;
}

/** Removes absent and empty values, so that equivalent filters have the same properties. */
export function withoutGaps(filter: FleetFilter): FleetFilter {
  return Object.fromEntries(
    Object.entries(filter).filter(
      ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  );
}
