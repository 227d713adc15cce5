import { type VmHealth, vmHealths } from '#server/domain/verdicts/words.ts';
import type { FleetFilterInput, FleetSort } from '#server/domain/views/input.ts';

/** What can be filtered by from a menu. */
export type FilterField = 'health' | 'tag' | 'handler' | 'messageId';

const sorts: readonly FleetSort[] = ['name', '-name', 'health', '-health', 'since', '-since'];

/** What the list shows, and in which order: all of it lives in the address. */
export interface FleetQuery {
  filter: FleetFilterInput;
  sort: FleetSort;
}

export interface ReadAddress {
  query: FleetQuery;
  /** Names of parameters that are left out, because their values make no sense. */
  ignored: string[];
}

const longest = { q: 200, handler: 300, version: 64, messageId: 256, tag: 256 };
const mostTags = 16;
const versionForm = /^\d+(\.\d+){0,2}(\.\d+|\.\*)?$/;

/** Reads `?q=&health=failed,degraded&tag=env=prod&handler=&version=&messageId=&silentMinutes=&sort=`. Never throws. */
export function readAddress(parameters: URLSearchParams): ReadAddress {
  const ignored = new Set<string>();
  const text = (name: 'q' | 'handler' | 'version' | 'messageId', form = /^[^\0]*$/): string | undefined => {
    const value = parameters.get(name);
    if (value === null || value === '') return undefined;
    if (value.length <= longest[name] && form.test(value)) return value;
    ignored.add(name);
    return undefined;
  };
  const filter: FleetFilterInput = {
    q: text('q'),
    health: readHealth(parameters, ignored),
    tags: readTags(parameters, ignored),
    handler: text('handler'),
    version: text('version', versionForm),
    messageId: text('messageId'),
    silentMinutes: readMinutes(parameters, ignored),
  };
  return { query: { filter: withoutGaps(filter), sort: readSort(parameters, ignored) }, ignored: [...ignored] };
}

/** The address of a list: what is as usual is left out. */
export function writeAddress({ filter, sort }: FleetQuery): string {
  const parameters = new URLSearchParams();
  if (filter.q) parameters.set('q', filter.q);
  if (filter.health?.length) parameters.set('health', filter.health.join(','));
  for (const tag of filter.tags ?? []) parameters.append('tag', writeTag(tag));
  for (const name of ['handler', 'version', 'messageId', 'silentMinutes'] as const) {
    const value = filter[name];
    if (value !== undefined) parameters.set(name, String(value));
  }
  if (sort !== 'name') parameters.set('sort', sort);
  // Commas and equals signs are allowed behind `?`, and an address that people read is worth it.
  return parameters.toString().replaceAll('%2C', ',').replaceAll('%3D', '=');
}

/** Whether anything is asked at all. */
export function isFiltered(filter: FleetFilterInput): boolean {
  return Object.values(withoutGaps(filter)).length > 0;
}

/** Without what is absent or empty, so that equal filters are equal objects. */
export function withoutGaps(filter: FleetFilterInput): FleetFilterInput {
  return Object.fromEntries(
    Object.entries(filter).filter(
      ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** `name=value`, or the name alone; in the name, `%` and `=` are written as `%25` and `%3D`. */
function writeTag({ name, value }: { name: string; value?: string | undefined }): string {
  const key = name.replaceAll('%', '%25').replaceAll('=', '%3D');
  return value === undefined ? key : `${key}=${value}`;
}

function readTags(parameters: URLSearchParams, ignored: Set<string>): FleetFilterInput['tags'] {
  const tags = parameters.getAll('tag').flatMap((text) => {
    const at = text.indexOf('=');
    const name = (at < 0 ? text : text.slice(0, at)).replaceAll('%3D', '=').replaceAll('%25', '%');
    const value = at < 0 ? undefined : text.slice(at + 1);
    const fits =
      name !== '' && name.length <= longest.tag && (value ?? '').length <= longest.tag && !text.includes('\0');
    if (!fits) ignored.add('tag');
    return fits ? [{ name, ...(value === undefined ? {} : { value }) }] : [];
  });
  if (tags.length > mostTags) ignored.add('tag');
  return tags.slice(0, mostTags);
}

function readHealth(parameters: URLSearchParams, ignored: Set<string>): VmHealth[] {
  const words = (parameters.get('health') ?? '').split(',').filter((word) => word !== '');
  if (words.some((word) => !vmHealths.some((health) => health === word))) ignored.add('health');
  return vmHealths.filter((health) => words.includes(health));
}

function readMinutes(parameters: URLSearchParams, ignored: Set<string>): number | undefined {
  const text = parameters.get('silentMinutes');
  if (text === null || text === '') return undefined;
  const minutes = Number(text);
  if (/^\d+$/.test(text) && minutes >= 1 && minutes <= 525_600) return minutes;
  ignored.add('silentMinutes');
  return undefined;
}

function readSort(parameters: URLSearchParams, ignored: Set<string>): FleetSort {
  const text = parameters.get('sort');
  const sort = sorts.find((one) => one === text);
  if (text !== null && text !== '' && sort === undefined) ignored.add('sort');
  return sort ?? 'name';
}
