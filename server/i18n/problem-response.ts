import type { Logger } from 'pino';
import { type DomainError, statusOfKind } from '#server/domain/error.ts';
import { foreseen } from './foreseen.ts';
import { languageFor, readerOf } from './languages.ts';
import { translateError } from './problem.ts';

/**
 * Converts any error to a problem document in the caller's language; `ofAccount` is the language of the signed-in
 * account. The log gets what the caller does not see: the details of an unexpected error, and why something was
 * unavailable.
 */
export function problemResponse(
  error: unknown,
  request: Request,
  requestId: string,
  log: Logger,
  ofAccount?: string,
): Response {
  const language = languageFor(readerOf(request.headers, ofAccount));
  const refusal = foreseen(error);
  if (!refusal) log.error({ requestId, err: error }, 'request failed');
  else if (refusal.kind === 'unavailable' || refusal.kind === 'insufficient_storage')
    warnOfOutage(refusal, requestId, log);
  else log.debug({ requestId, code: refusal.code, status: statusOfKind[refusal.kind] }, 'refused');

  const problem = translateError(error, language, requestId);
  const headers = new Headers({
    'content-type': 'application/problem+json',
    'content-language': language,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Language',
  });
  if (problem.status === 401) headers.set('www-authenticate', 'Bearer realm="annex"');
  if (refusal?.retryAfter !== undefined) headers.set('retry-after', String(Math.ceil(refusal.retryAfter)));
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

const quietMs = 5_000;
let warnedAt = Number.NEGATIVE_INFINITY;

/**
 * Logs an outage as a warning at most every five seconds, otherwise at debug level. During an outage, a warning for
 * every call of a fleet would fill the disk.
 */
function warnOfOutage(refusal: DomainError, requestId: string, log: Logger): void {
  const now = performance.now();
  const isQuiet = now - warnedAt < quietMs;
  if (!isQuiet) warnedAt = now;
  const facts = { requestId, err: refusal };
  if (isQuiet) log.debug(facts, 'not available');
  else log.warn(facts, 'not available');
}
