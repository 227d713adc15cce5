/** Beyond this what is known already is better than what is new. */
const longestMs = 2_000;

/** What comes of the work, or what is there instead when it takes long: the agent waits ten seconds, and then for good. */
export async function sooner<T>(work: Promise<T>, instead: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timeout = setTimeout(late.resolve, longestMs, instead);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
