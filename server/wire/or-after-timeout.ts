/** Milliseconds to wait before returning the fallback. */
const timeoutMs = 2_000;

/**
 * Returns the result of the work or, after a timeout, the fallback, because the agent waits only ten seconds for a
 * response.
 */
export async function orAfterTimeout<T>(work: Promise<T>, fallback: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timeout = setTimeout(late.resolve, timeoutMs, fallback);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
