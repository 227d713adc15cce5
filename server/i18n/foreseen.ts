import { DomainError } from '#server/domain/error.ts';

/** Seconds after which callers should retry while the database is unavailable. */
const databaseRetry = 2;

/**
 * Error codes that mean that the database is unavailable, not that the statement is wrong. They include 25006 (the
 * primary became a standby), 53100 (disk full) and 58030 (I/O error).
 */
const awayCode =
  /^(ENOPRIMARY|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|08\w{3}|57P0[123]|57014|53\w{3}|58030|25006)$/;
const awayMessage =
  /^(Connection terminated|timeout (exceeded )?when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after)/;

function isDatabaseAway(error: Error): boolean {
  const { code, syscall } = error as Error & { code?: unknown; syscall?: unknown };
  // ENOENT can also mean a missing file, but only sockets fail in `connect`.
  if (code === 'ENOENT' && syscall !== 'connect') return false;
  return (typeof code === 'string' && awayCode.test(code)) || awayMessage.test(error.message);
}

/**
 * Whether a client disconnected before its request body had arrived. A lost database connection has a different
 * message.
 */
const hungUp = (error: Error): boolean =>
  error.message === 'aborted' && (error as Error & { code?: unknown }).code === 'ECONNRESET';

/** Whether a write failed because the disk or the user's quota is full. */
const isDiskFull = (error: Error): boolean =>
  /^(ENOSPC|EDQUOT)$/.test(String((error as Error & { code?: unknown }).code));

/** Whether PostgreSQL rejected a character that it cannot store: NUL, or a lone surrogate in JSON. */
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

/** Returns the domain error for an expected error, even if a library wrapped it; null for unexpected errors. */
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
