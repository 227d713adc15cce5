const timeoutMs = 2_000;
const freshMs = 2_000;

/**
 * Checks whether an HTTP server responds, with any status. An unknown host or a refused, broken or silent connection
 * counts as unreachable; an untrusted certificate does not. Requests each URL at most once every two seconds,
 * regardless of the number of callers.
 */
export class Reachability {
  readonly #checks = new Map<string, { at: number; answer: Promise<boolean> }>();

  check(url: string): Promise<boolean> {
    const now = Date.now();
    const known = this.#checks.get(url);
    if (known && now - known.at < freshMs) return known.answer;
    const answer = request(url);
    this.#checks.set(url, { at: now, answer });
    return answer;
  }
}

const away = /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|UND_ERR_\w+)$/;

async function request(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    await response.body?.cancel();
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return false;
    const cause = error instanceof Error ? error.cause : undefined;
    const codes = cause instanceof AggregateError ? cause.errors : [cause];
    return !codes.some((one) => away.test(String((one as { code?: unknown } | undefined)?.code)));
  }
}
