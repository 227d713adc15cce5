import Negotiator from 'negotiator';
import { DomainError } from '#server/domain/error.ts';
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

/**
 * Parses the parameters of a path. Throws 404 for a malformed id, as for an unknown id. For any other malformed
 * parameter, throws 422 with the fault if the method is `PUT`, otherwise 404.
 */
export function readParams(route: RestRoute, raw: Record<string, string>): unknown {
  const result = route.params.safeParse(raw, { reportInput: true });
  if (result.success) return result.data;
  const { issues } = result.error;
  if (issues.some((issue) => issue.path[0] === 'id')) throw new DomainError('not_found', 'vm_unknown');
  if (route.method !== 'PUT') throw new DomainError('not_found', 'not_found');
  throw new DomainError('unprocessable', 'invalid', { faults: issues.flatMap(faultsOfIssue) });
}

/** Parses the query. Throws 400 with all faults, whose paths are `?name`. */
export function readQuery(route: RestRoute, request: Request): unknown {
  const given = new URL(request.url).searchParams;
  const known = Object.keys(route.query.shape).filter((name) => given.get(name));
  const result = route.query.safeParse(
    Object.fromEntries(
      known.map((name) => [name, route.repeated?.includes(name) ? given.getAll(name) : given.get(name)]),
    ),
    {
      reportInput: true,
    },
  );
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap(faultsOfIssue);
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
