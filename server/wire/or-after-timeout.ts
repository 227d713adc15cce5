/** After this time a cached value is better than a fresh one. */
const timeoutMs = 2_000;

/** The result of the work, or the fallback after a time-out: an agent that waits ten seconds for an answer gives up. */
export async function orAfterTimeout<T>(work: Promise<T>, fallback: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timeout = setTimeout(late.resolve, timeoutMs, fallback);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
