import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Door } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import { requireJsonWanted } from './read-request.ts';
import type { RestRoute } from './route.ts';
import { jsonResponse, serve } from './serve.ts';

/** What an entry point needs from its process. */
export interface DoorServices extends Services {
  log: Logger;
  /** The portal's clock, which tests can replace. */
  clock?: Clock;
}

/** The IP address of a request's client. */
export interface RequestPeer {
  remoteAddress: string;
}

export interface DoorOptions {
  services: DoorServices;
  /** Prefix of all paths. */
  base: string;
  /** The name of this entry point in the activity log. */
  door: Door;
  routes: readonly RestRoute[];
  /** Functions that return JSON texts that anyone may read, by path. */
  documents?: Readonly<Record<string, () => string>>;
  /** Returns the caller, who may be anonymous. Throws if the credentials are invalid. */
  authenticate(request: Request, info: RequestPeer, now: Date): Promise<Actor>;
}

/**
 * Returns a function that handles the requests to a table of routes. It answers rejected requests with a problem
 * document.
 */
export function createDoor(options: DoorOptions): (request: Request, info: RequestPeer) => Promise<Response> {
  const { services, base, door, routes, documents = {}, authenticate } = options;
  const { log, clock = systemClock, ...held } = services;
  // Converts `/vms/{id}` to the router's `/vms/:id`. If a parameter has a suffix, its value includes the suffix.
  const pattern = (path: string): string =>
    base +
    path.replaceAll(/\{(\w+)\}(\.\w+)?/g, (_, name: string, ending = '') =>
      ending === '' ? `:${name}` : `:${name}{[^/]+\\${ending}}`,
    );
  const app = new Hono<{ Bindings: RequestPeer }>();

  for (const route of routes) {
    app.on(route.method, pattern(route.path), ({ req, env }) =>
      answer(log, req.raw, async (requestId) => {
        const now = clock();
        const actor = await authenticate(req.raw, env, now);
        const origin = { door, address: env.remoteAddress, client: req.header('user-agent') ?? null };
        const own = log.child({ requestId, call: route.operationId });
        const ctx = { ...held, actor, origin, now, requestId, log: own };
        return serve(ctx, route, req.raw, req.param()).catch((error: unknown) =>
          problemResponse(error, req.raw, requestId, log, actor.language),
        );
      }),
    );
  }
  for (const [path, read] of Object.entries(documents)) {
    app.get(pattern(path), ({ req }) =>
      answer(log, req.raw, async () => {
        requireJsonWanted(req.raw);
        return jsonResponse(200, read());
      }),
    );
  }
  for (const [path, methods] of methodsByPath(routes, Object.keys(documents))) {
    app.all(pattern(path), async ({ req }) => {
      const refusal = new DomainError('method_not_allowed', 'method_not_allowed', { params: { methods } });
      const response = await answer(log, req.raw, () => Promise.reject(refusal));
      response.headers.set('allow', methods);
      return response;
    });
  }
  app.notFound(({ req }) => answer(log, req.raw, () => Promise.reject(new DomainError('not_found', 'not_found'))));
  return async (request, info) => app.fetch(request, info);
}

/** Returns the methods of each path, as the header `Allow` lists them. */
function methodsByPath(routes: readonly RestRoute[], documents: readonly string[]): Map<string, string> {
  const reads = ['GET', 'HEAD'];
  const known = new Map<string, string[]>(documents.map((path) => [path, reads]));
  for (const { path, method } of routes) {
    known.set(path, [...(known.get(path) ?? []), ...(method === 'GET' ? reads : [method])]);
  }
  return new Map([...known].map(([path, methods]) => [path, methods.join(', ')]));
}

async function answer(log: Logger, request: Request, run: (requestId: string) => Promise<Response>): Promise<Response> {
  // The HTTP server has set the request id in `X-Request-Id`.
  const requestId = request.headers.get('x-request-id') ?? randomUUID();
  const response = await run(requestId).catch((error: unknown) => problemResponse(error, request, requestId, log));
  // The rejected body may still be in transit, so the connection cannot be used for another request.
  if (response.status === 413) response.headers.set('connection', 'close');
  return response;
}
