/** Milliseconds after which a cached value is better than waiting for a fresh one. */
const timeoutMs = 2_000;

/** Returns the result of the work, or the fallback after a timeout: the agent waits only ten seconds for a response. */
export async function orAfterTimeout<T>(work: Promise<T>, fallback: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timeout = setTimeout(late.resolve, timeoutMs, fallback);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
