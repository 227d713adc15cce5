import Negotiator from 'negotiator';
import type { z } from 'zod';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { faultsOfIssue } from '#server/domain/parse.ts';
import type { RestRoute } from './route.ts';

const json = 'application/json';

/** Throws 406 if the caller does not accept JSON. */
export function requireJsonWanted(request: Request): void {
  const accept = request.headers.get('accept');
  if (!accept) return;
  if (new Negotiator({ headers: { accept } }).mediaType([json]) === undefined) {
    throw new DomainError('not_acceptable', 'not_acceptable', { params: { type: json } });
  }
}

/** Returns the type that the caller prefers, by default the first. Throws 406 if the caller accepts none of them. */
export function typeWanted(request: Request, types: readonly string[]): string {
  const [first = json] = types;
  const accept = request.headers.get('accept');
  if (!accept) return first;
  const wanted = new Negotiator({ headers: { accept } }).mediaType([...types]);
  if (wanted === undefined) throw new DomainError('not_acceptable', 'not_acceptable', { params: { type: first } });
  return wanted;
}

/**
 * Parses the parameters of a path. Throws 404 for a malformed id, as for an unknown id. For any other malformed
 * parameter, throws 422 with the fault if the method is `PUT`, otherwise 404.
 */
export function readParams(route: RestRoute, raw: Record<string, string>): unknown {
  const result = route.params.safeParse(raw, { reportInput: true });
  if (result.success) return result.data;
  const { issues } = result.error;
  if (issues.some((issue) => issue.path[0] === 'id')) {
    throw new DomainError('not_found', route.path.startsWith('/rollouts/') ? 'rollout_unknown' : 'vm_unknown');
  }
  if (route.method !== 'PUT') throw new DomainError('not_found', 'not_found');
  throw new DomainError('unprocessable', 'invalid', { faults: issues.flatMap(faultsOfIssue) });
}

/** Parameters that guard an act. They do not count as absent, so an unset variable of a script does not remove the guard. */
const guards = new Set(['plan', 'thumbprint']);

/**
 * Parses the query. An empty parameter counts as absent, except a guard. Throws 400 with all faults, whose paths are `?name`. Unknown
 * parameters are faults, because a misspelled filter would otherwise match everything. A repeated parameter is a fault
 * unless the route accepts several values.
 */
export function readQuery(route: RestRoute, request: Request): unknown {
  return parseQuery(route.query, new URL(request.url).searchParams, route.repeated);
}

/** Parses query parameters, as `readQuery` does. The parameters in `repeated` are arrays. */
export function parseQuery<S extends z.ZodObject>(
  schema: S,
  given: URLSearchParams,
  repeated: readonly string[] = [],
): z.output<S> {
  const isGiven = (name: string): boolean =>
    !Object.hasOwn(schema.shape, name) || guards.has(name) || given.get(name) !== '';
  const values = [...new Set(given.keys())]
    .filter(isGiven)
    .map((name) => [name, repeated.includes(name) ? given.getAll(name) : given.get(name)]);
  const result = schema.strict().safeParse(Object.fromEntries(values), { reportInput: true });
  const isSingle = (name: string): boolean => Object.hasOwn(schema.shape, name) && !repeated.includes(name);
  const twice = [...new Set(given.keys())].filter((name) => isSingle(name) && given.getAll(name).length > 1);
  if (result.success && twice.length === 0) return result.data as z.output<S>;
  const faults = [
    ...twice.map((name): Fault => ({ path: `?${name}`, code: 'parameter_repeated' })),
    ...(result.error?.issues.flatMap(faultsOfIssue) ?? []),
  ];
  throw new DomainError('bad_request', 'invalid', {
    faults: faults.map((fault) => ({ ...fault, path: fault.path.replace(/^\//, '?') })),
  });
}

/**
 * Returns the incarnation or revision in `If-Match: "7"`; undefined if the header is absent or `*`. Throws 400 if it is
 * malformed.
 */
export function readIfMatch(request: Request): number | undefined {
  const header = request.headers.get('if-match')?.trim();
  if (header === undefined || header === '*') return undefined;
  const seen = /^(?:W\/)?"?(\d{1,9})"?$/.exec(header)?.[1];
  if (seen === undefined) throw new DomainError('bad_request', 'if_match_form');
  return Number(seen);
}
