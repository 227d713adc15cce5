const patienceMs = 2_000;
const keptMs = 2_000;

const lately = new Map<string, { at: number; answer: Promise<boolean> }>();

/**
 * Whether something answers at this address, whatever it says: only a refused, dead or silent connection counts as
 * away, not a certificate that is unknown here. Asked at most every two seconds, however many want to know.
 */
export function isReachable(url: string): Promise<boolean> {
  const now = Date.now();
  const known = lately.get(url);
  if (known && now - known.at < keptMs) return known.answer;
  const answer = ask(url);
  lately.set(url, { at: now, answer });
  return answer;
}

const away = /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|UND_ERR_\w+)$/;

async function ask(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(patienceMs), redirect: 'manual' });
    await response.body?.cancel();
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return false;
    const cause = error instanceof Error ? error.cause : undefined;
    const codes = cause instanceof AggregateError ? cause.errors : [cause];
    return !codes.some((one) => away.test(String((one as { code?: unknown } | undefined)?.code)));
  }
}
