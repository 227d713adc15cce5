import { randomUUID } from 'node:crypto';
import type { TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { Logger } from 'pino';
import { readBody, readSession, type Session, type SignIn } from '#server/auth/index.ts';
import type { Services } from '#server/domain/context.ts';
import { languageFor, problemResponse, readerOf } from '#server/i18n/index.ts';
import type { Live } from '#server/live/index.ts';
import { type AppCaller, appRouter, createCaller } from './root.ts';
import type { DoorContext } from './trpc.ts';

/** What the entry point needs from its process. */
export interface TrpcDoor {
  services: Services;
  live: Live;
  signIn: SignIn;
  log: Logger;
}

/** Maximum number of calls in a batch. A page sends only a few. */
const maxCallsInBatch = 50;

function contextOf(
  door: TrpcDoor,
  request: Pick<DoorContext, 'headers' | 'responseHeaders' | 'address' | 'isPage' | 'closing'>,
): DoorContext {
  let session: Promise<Session | null> | undefined;
  const now = new Date();
  const { live, signIn } = door;
  const reader = readerOf(request.headers);
  const ctx: DoorContext = {
    ...door.services,
    now,
    requestId: randomUUID(),
    log: door.log,
    ...request,
    reader,
    language: languageFor(reader),
    origin: { door: 'page', address: request.address, client: request.headers.get('user-agent') },
    live,
    signIn,
    rejection: { status: null },
    session() {
      session ??= readSession(door.services, request.headers, now).then((found) => {
        ctx.reader = readerOf(request.headers, found?.actor.language);
        ctx.language = languageFor(ctx.reader);
        return found;
      });
      return session;
    },
  };
  return ctx;
}

function logFailure(door: TrpcDoor, error: TRPCError, path: string | undefined, requestId: string | undefined): void {
  if (error.code === 'INTERNAL_SERVER_ERROR')
    door.log.error({ err: error.cause ?? error, path, requestId }, 'call failed');
  else if (error.code === 'SERVICE_UNAVAILABLE') door.log.debug({ path, requestId }, 'not available');
}

/**
 * Returns a function that handles `/api/trpc/*`. `address` is the browser's IP address as determined by the HTTP
 * server; `closing` ends live connections.
 */
export function createTrpcHandler(
  door: TrpcDoor,
): (request: Request, address?: string, closing?: AbortSignal) => Promise<Response> {
  return async (request, address = 'unknown', closing = undefined) => {
    try {
      return await fetchRequestHandler({
        endpoint: '/api/trpc',
        router: appRouter,
        req: await bounded(request, door.services.config.limits.http.bodyBytes),
        maxBatchSize: maxCallsInBatch,
        createContext: ({ resHeaders }) =>
          contextOf(door, { headers: request.headers, responseHeaders: resHeaders, address, isPage: false, closing }),
        responseMeta: ({ ctx }) => ({
          headers: new Headers({ 'cache-control': 'no-store' }),
          ...(ctx?.rejection.status == null ? {} : { status: ctx.rejection.status }),
        }),
        onError: ({ error, path, ctx }) => logFailure(door, error, path, ctx?.requestId),
      });
    } catch (error) {
      return problemResponse(error, request, randomUUID(), door.log);
    }
  };
}

/** Returns the request with its body already read. Throws 413 if the body exceeds the limit. */
async function bounded(request: Request, limit: number): Promise<Request> {
  if (request.method !== 'POST') return request;
  const body = await readBody(request, limit);
  const { method, headers, signal } = request;
  return new Request(request.url, { method, headers, signal, body });
}

/**
 * Returns the procedures for a page that is rendered in this process, called as the user whose session these headers
 * contain. They are read-only, because any site can make a browser open a page.
 */
export function createPageCaller(door: TrpcDoor, headers: Headers): AppCaller {
  const ctx = contextOf(door, {
    headers,
    responseHeaders: new Headers(),
    address: 'unknown',
    isPage: true,
    closing: undefined,
  });
  return createCaller(ctx, { onError: ({ error, path }) => logFailure(door, error, path, ctx.requestId) });
}
