import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import type { Core } from './http.ts';
import type { OpenServices } from './services.ts';

/** How long the database's response is cached for all callers, in milliseconds. */
const freshMs = 500;
const patienceMs = 2_000;

const well = (): Response =>
  new Response('{"status":"ok"}\n', { headers: { 'content-type': 'application/json', 'cache-control': 'no-store' } });

/** `/healthz`: returns 200 as long as the process is running, with or without the database. */
export const healthz: Core = async () => well();

/** `/readyz`: returns 200 if the database responds, otherwise 503 with a problem document. */
export function createReadyz(services: OpenServices): Core {
  // Monitors call every second, so logging each failure would fill the log.
  const unlogged = services.log.child({}, { level: 'silent' });
  let last: { at: number; answer: Promise<boolean> } | null = null;
  return async (request) => {
    const now = performance.now();
    if (last === null || now - last.at > freshMs) last = { at: now, answer: databaseAnswers(services) };
    if (await last.answer) return well();
    const away = new DomainError('unavailable', 'database_away', { retryAfter: 2 });
    return problemResponse(away, request, request.headers.get('x-request-id') ?? '', unlogged);
  };
}

async function databaseAnswers({ db }: Services): Promise<boolean> {
  const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), patienceMs).unref());
  const answered = db.execute(sql`select 1`).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]);
}
