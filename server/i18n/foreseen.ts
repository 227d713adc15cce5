import { DomainError } from '#server/domain/error.ts';

/**
 * Seconds after which to retry if the database is unavailable: the launcher restarts the embedded one within a second.
 */
const databaseRetry = 2;

/**
 * Error codes of an unavailable database, as opposed to a wrong statement. 25006 means that a primary became a standby.
 * The codes for a full disk and unreadable files are included.
 */
const awayCode =
  /^(ENOPRIMARY|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|08\w{3}|57P0[123]|57014|53\w{3}|58030|25006)$/;
const awayMessage =
  /^(Connection terminated|timeout (exceeded )?when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after)/;

function isDatabaseAway(error: Error): boolean {
  const { code, syscall } = error as Error & { code?: unknown; syscall?: unknown };
  // A missing file causes ENOENT too, but only a socket fails in `connect`.
  if (code === 'ENOENT' && syscall !== 'connect') return false;
  return (typeof code === 'string' && awayCode.test(code)) || awayMessage.test(error.message);
}

/**
 * Node's error if a client disconnects before its body has arrived. A lost database connection has a different message.
 */
const hungUp = (error: Error): boolean =>
  error.message === 'aborted' && (error as Error & { code?: unknown }).code === 'ECONNRESET';

/** Whether the disk with the portal's files, or the quota of its user, is full. */
const isDiskFull = (error: Error): boolean =>
  /^(ENOSPC|EDQUOT)$/.test(String((error as Error & { code?: unknown }).code));

/**
 * Whether PostgreSQL rejected NUL in a text or in JSON, or a lone surrogate in JSON. These come from entry points that
 * do not parse their input as JSON; otherwise the JSON that the portal writes is valid.
 */
function isUnstorable(error: Error): boolean {
  const { code, message } = error as Error & { code?: unknown };
  return code === '22021' || code === '22P05' || (code === '22P02' && /input syntax for type json/.test(message));
}

function* chain(error: unknown): Generator<Error> {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++) {
    yield current;
    if (current instanceof AggregateError) for (const one of current.errors) if (one instanceof Error) yield one;
    current = current.cause;
  }
}

/** Returns the domain error behind an error, even if a library wrapped it; null for an unexpected error. */
export function foreseen(error: unknown): DomainError | null {
  for (const link of chain(error)) {
    if (link instanceof DomainError) return link;
    if (hungUp(link)) return new DomainError('bad_request', 'upload_broken', { cause: error });
    if (isDiskFull(link)) return new DomainError('insufficient_storage', 'storage_full', { cause: error });
    if (isUnstorable(link)) return new DomainError('unprocessable', 'json_character', { cause: error });
    if (isDatabaseAway(link)) {
      return new DomainError('unavailable', 'database_away', { retryAfter: databaseRetry, cause: error });
    }
  }
  return null;
}
