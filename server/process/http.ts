import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, BlockList, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import { problemResponse } from '#server/i18n/index.ts';
import type { Limits } from '#server/platform/limits.ts';
import { type ForwardedOrigin, type Peer, readPeer, settleOrigin } from './forwarded.ts';
import { keepPace } from './pace.ts';
import { refusalText, refuseConnection, transportRefusal } from './refusal.ts';
import { newRequestId } from './request-id.ts';

/** What a core gets in addition to the request. The request id is in the header `X-Request-Id`. */
export interface RequestInfo {
  remoteAddress: string;
  /** Aborted when the process starts to drain, so that held polls and streams end. */
  closing: AbortSignal;
  /** Closes the connection, even while a response is being sent. */
  disconnect(): void;
}

/** Handles an entry point's requests. If the promise rejects, the response is a problem document. */
export type Core = (request: Request, info: RequestInfo) => Promise<Response>;

/** A request to be handled directly with Node's request and response objects. */
export interface DirectArrival extends Omit<RequestInfo, 'disconnect'> {
  /** The path with the query. */
  target: string;
  path: string;
  requestId: string;
}

/** How to handle the requests to a path. */
export interface HttpRoute {
  core: Core;
  /**
   * Handles some requests directly with Node's request and response objects. Returns whether it handled the request; if
   * not, the core handles it.
   */
  direct?(request: IncomingMessage, response: ServerResponse, arrival: DirectArrival): boolean;
  /**
   * If true, the core gets a lightweight stand-in for `Request`. It is faster, but cannot be copied with `new
   * Request(request)`.
   */
  light?: boolean;
  /** If true, bodies can be large: a minimum rate applies instead of a time limit. */
  upload?: boolean;
}

export interface ServeOptions {
  host: string;
  port: number;
  /** If true, other gateway processes can listen on the same port. The kernel distributes the connections. */
  shared?: boolean;
  tls?: { certFile: string; keyFile: string } | null;
  trustProxy: BlockList;
  limits: Limits;
  log: Logger;
  /**
   * Returns the route for a path without its query. If there is none, returns null, and `fallback` gets the request.
   */
  route(path: string, method: string): HttpRoute | null;
  /** Whether a request to this path may upgrade to a WebSocket. By default, no request may. */
  upgrades?(path: string): boolean;
  /** Handles requests without a route, such as those for pages. Without a fallback, `route` must cover every path. */
  fallback?(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface Serving {
  port: number;
  /**
   * Stops accepting connections, waits for running responses, and ends those that remain after `graceMs` milliseconds.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Milliseconds after which an idle connection is closed. Longer than any held poll and any pause in a stream, so that
 * only dead or stalled clients are disconnected.
 */
const idleSocketMs = 120_000;

/** Starts listening. Rejects with Node's error if the port is in use. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const closing = new AbortController();
  const server = createHttpServer(options);
  server.on('request', requestHandler(options, closing.signal));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const refusal = transportRefusal(error);
    if (refusal === null) return void socket.destroy();
    const seconds = options.limits.http.requestMs / 1_000;
    refuseConnection(socket, refusalText(refusal, { seconds, limit: options.limits.http.headerBytes }, newRequestId()));
  });
  server.listen({ host: options.host, port: options.port, backlog: 2_048, reusePort: options.shared ?? false });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: (graceMs = 8_000) => drain(server, closing, graceMs),
  };
}

function createHttpServer({ limits, tls, upgrades }: ServeOptions): Server {
  const settings = {
    maxHeaderSize: limits.http.headerBytes,
    headersTimeout: limits.http.requestMs,
    // Node's own limit is off. pace.ts limits the time of requests, with an exception for uploads.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(5_000, limits.http.requestMs),
    keepAliveTimeout: 70_000,
    noDelay: true,
    // Next.js would never respond to upgrades that it does not know. Clients that offer HTTP/2 (curl --http2, Java)
    // start with an upgrade, which must be handled as a plain request.
    shouldUpgradeCallback: ({ url = '' }: IncomingMessage) => upgrades?.(pathWithoutQuery(url)) ?? false,
  };
  const server = tls
    ? createTlsServer({
        ...settings,
        cert: readFileSync(tls.certFile),
        key: readFileSync(tls.keyFile),
        minVersion: 'TLSv1.2',
      })
    : createServer(settings);
  server.maxConnections = limits.heldPolls + 1_000;
  server.setTimeout(idleSocketMs);
  return server;
}

/** Methods that `Request` supports. It supports neither TRACE nor CONNECT. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Returns the path and query of a request target, which may be an absolute URL; null if it has no path (`OPTIONS *`).
 */
function pathOf(target: string): string | null {
  if (target.startsWith('/')) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  if (path.startsWith('/')) return path;
  return path !== target ? `/${path}` : null;
}

function pathWithoutQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

function requestHandler(options: ServeOptions, closing: AbortSignal) {
  const { limits, log } = options;
  const settled = new WeakMap<IncomingMessage, { origin: ForwardedOrigin; route: HttpRoute }>();
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const found = settled.get(incoming as IncomingMessage);
      if (found === undefined) throw new Error('a request without a route');
      const { socket } = incoming as IncomingMessage;
      const info = { remoteAddress: found.origin.remoteAddress, closing, disconnect: () => void socket.destroy() };
      const own = found.route.light === true ? request : fullRequest(request);
      const response = await found.route
        .core(own, info)
        .catch((error: unknown) => problemResponse(error, request, found.origin.requestId, log));
      // If the response is sent before the whole body has arrived, the connection cannot be used for another request.
      if (!incoming.complete && !outgoing.headersSent) outgoing.setHeader('Connection', 'close');
      return response;
    },
    { overrideGlobalObjects: false },
  );
  const peers = new WeakMap<Socket, Peer>();
  const peerOf = (socket: Socket): Peer => {
    const known = peers.get(socket) ?? readPeer(socket, options.trustProxy);
    peers.set(socket, known);
    return known;
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const peer = peerOf(request.socket);
    const target = methods.has(request.method ?? 'GET') ? pathOf(request.url ?? '') : null;
    const path = target === null ? '' : pathWithoutQuery(target);
    const route = target === null ? null : options.route(path, request.method ?? 'GET');
    // Direct handlers read no forwarded headers, so these need not be removed.
    const origin =
      route?.direct !== undefined && !peer.isTrusted
        ? { remoteAddress: peer.address, requestId: newRequestId() }
        : settleOrigin(request, peer, options.trustProxy);
    if (target === null) {
      refuseConnection(request.socket, refusalText('request_malformed', {}, origin.requestId));
      return;
    }
    request.url = target;
    keepPace(request, limits.http, route?.upload === true, (kind) => {
      const params = { seconds: limits.http.requestMs / 1_000, limit: limits.http.uploadBytesPerSecond };
      if (response.headersSent) request.socket.destroy();
      else refuseConnection(request.socket, refusalText(`${kind}_too_slow`, params, origin.requestId));
    });
    const { remoteAddress, requestId } = origin;
    if (route?.direct?.(request, response, { target, path, remoteAddress, requestId, closing })) return;
    // The request was not handled directly. The core may read any header, so forwarded headers are checked now.
    if (route?.direct !== undefined) settleOrigin(request, peer, options.trustProxy, requestId);
    response.setHeader('X-Request-Id', origin.requestId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (closing.aborted) response.setHeader('Connection', 'close');
    if (route !== null) {
      // Cores respond with data, so browsers must not load resources for a response or show it in a frame. Agents do
      // not need this header.
      if (route.light !== true)
        response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
      settled.set(request, { origin, route });
      void listener(request, response);
    } else {
      options.fallback?.(request, response).catch((error: unknown) => {
        log.error({ err: error, requestId: origin.requestId }, 'a page failed');
        response.destroy();
      });
    }
  };
}

/** Converts the stand-in to a real `Request`, which libraries can copy. */
function fullRequest(request: Request): Request {
  const bodiless = request.method === 'GET' || request.method === 'HEAD';
  return new Request(request.url, {
    method: request.method,
    headers: [...request.headers],
    signal: request.signal,
    ...(bodiless ? {} : { body: request.body, duplex: 'half' as const }),
  });
}

async function drain(server: Server, closing: AbortController, graceMs: number): Promise<void> {
  closing.abort();
  const closed = once(server, 'close');
  server.close();
  // Closes connections that become idle while draining.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
