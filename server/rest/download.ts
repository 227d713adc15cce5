import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { readSession, requireOwnRead } from '#server/auth/index.ts';
import { type Actor, anonymous } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import { type AuthenticateBearer, bearerAuthentication } from './authenticate-bearer.ts';
import { createDoor, type DoorServices, type RequestPeer } from './create-door.ts';
import { activityLines } from './download-activity.ts';
import { fleetLines } from './download-fleet.ts';
import { executionFileRoutes } from './routes/executions.ts';
import { logFileRoutes } from './routes/logs.ts';
import { unitRunFileRoutes } from './routes/unit-runs.ts';

/**
 * Yields the lines of a file as the rows are read. The first chunk is read before the response starts, so that an error
 * can still set the status.
 */
type Download = (ctx: Context, query: URLSearchParams, form: 'csv' | 'jsonl') => AsyncGenerator<string, void>;

const files: Readonly<Record<string, Download>> = { activity: activityLines, vms: fleetLines };

/** Without this mark, some spreadsheets do not recognize UTF-8. */
const byteOrderMark = '\uFEFF';

const types = { csv: 'text/csv; charset=utf-8; header=present', jsonl: 'application/jsonl; charset=utf-8' } as const;

/**
 * Returns a function that handles downloads. `GET /download/<name>.csv` and `.jsonl` stream everything that matches the
 * query. Logs and executions of a VM, and output of
 * hooks, have the same paths as in `/api/v1`. A request from the portal's own pages needs a
 * session cookie; any other request needs an API token.
 */
export function createDownloadHandler(
  services: DoorServices,
  byToken: AuthenticateBearer = bearerAuthentication(services),
): (request: Request, info: RequestPeer) => Promise<Response> {
  const { log, clock, ...held } = services;
  const authenticate: AuthenticateBearer = async (request, info, now) => {
    if (hasToken(request)) return byToken(request, info, now);
    requireOwnRead(request.headers, services.config);
    return (await readSession(services, request.headers, now))?.actor ?? anonymous;
  };
  // Stored files use the same routes as `/api/v1`.
  const routes = [...logFileRoutes, ...executionFileRoutes, ...unitRunFileRoutes];
  const door = createDoor({ services, base: '/download', door: 'page', routes, authenticate });
  return async (request, info) => {
    const { remoteAddress } = info;
    const requestId = request.headers.get('x-request-id') ?? randomUUID();
    let actor: Actor = anonymous;
    try {
      const { pathname, searchParams } = new URL(request.url);
      const [, name, form] = /^\/download\/([a-z]+)\.(csv|jsonl)$/.exec(pathname) ?? [];
      if (name === undefined) return await door(request, info);
      const download = Object.hasOwn(files, name) ? files[name] : undefined;
      if (download === undefined) throw new DomainError('not_found', 'not_found');
      if (request.method !== 'GET') {
        throw new DomainError('method_not_allowed', 'method_not_allowed', { params: { methods: 'GET' } });
      }
      const now = clock?.() ?? new Date();
      actor = await authenticate(request, info, now);
      const client = request.headers.get('user-agent');
      const origin = { door: hasToken(request) ? ('api' as const) : ('page' as const), address: remoteAddress, client };
      const ctx: Context = { ...held, log, actor, origin, now, requestId };
      const lines = download(ctx, searchParams, form === 'csv' ? 'csv' : 'jsonl');
      const first = await lines.next();
      return new Response(streamOf(lines, (form === 'csv' ? byteOrderMark : '') + (first.value ?? ''), log), {
        headers: {
          'content-type': types[form === 'csv' ? 'csv' : 'jsonl'],
          'content-disposition': `attachment; filename="annex-${name}-${now.toISOString().slice(0, 10)}.${form}"`,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
      });
    } catch (error) {
      return problemResponse(error, request, requestId, log, actor.language);
    }
  };
}

const hasToken = (request: Request): boolean => request.headers.has('authorization');

/** Reads lines as fast as the client receives them, and stops if the client disconnects. */
function streamOf(lines: AsyncGenerator<string, void>, first: string, log: Logger): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: string | undefined = first;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          next ??= (await lines.next()).value ?? undefined;
          if (next === undefined) return controller.close();
          controller.enqueue(encoder.encode(next));
          next = undefined;
        } catch (error) {
          // The client notices the truncated transfer. The lines sent so far are correct.
          log.warn({ err: error }, 'a download was interrupted');
          controller.error(error);
        }
      },
      cancel: async () => void (await lines.return()),
    },
    { highWaterMark: 0 },
  );
}
