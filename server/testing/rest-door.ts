import { BlockList } from 'node:net';
import { pino } from 'pino';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Role } from '#db/schema/auth.ts';
import { createToken } from '#server/auth/tokens/index.ts';
import type { Services } from '#server/domain/context.ts';
import { serve } from '#server/process/http.ts';
import { createRestHandler, restUploads } from '#server/rest/door.ts';
import type { RestRoute } from '#server/rest/route.ts';
import { routes } from '#server/rest/routes/index.ts';
import { type TestServicesOptions, testBootstrap, testContext, testServices } from './context.ts';

export interface RestCall {
  /** The role whose token to send, unless `token` is given; null sends none. Default `admin`. */
  as?: Role | 'outsider' | null;
  token?: string;
  /** The body. It is sent as JSON, unless it is bytes, text or a stream. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

export interface RestReply {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined if there is none. */
  body: unknown;
}

/** A management API on its own port, and a token for each role. */
export interface RestDoor {
  url: string;
  services: Services;
  tokens: Readonly<Record<Role | 'outsider', string>>;
  /** Makes a call. The response to a successful call must have exactly the documented shape. */
  call(method: string, path: string, call?: RestCall): Promise<RestReply>;
  /**
   * Makes a documented call and asserts its status. A successful response must have exactly the documented shape; any
   * other response must be a problem document with this code.
   */
  expect<T = Record<string, unknown>>(
    operation: string,
    params: Readonly<Record<string, string | number>>,
    outcome: number | readonly [status: number, code: string],
    call?: RestCall & { query?: string },
  ): Promise<T>;
  /** Returns the documented statuses of these operations that `expect` has not received yet. */
  unmet(operations: readonly string[]): string[];
  close(): Promise<void>;
}

/** Namespace of the publisher's token. The outsider has another namespace. */
export const ownNamespace = 'Acme.Lab';

/** Serves the API as the portal does, with the same HTTP server and handler. */
export async function openRestDoor(options: TestServicesOptions = {}): Promise<RestDoor> {
  const services = await testServices({
    ...options,
    config: { url: 'http://annex.test', bootstrap: { token: null, person: null }, ...options.config },
  });
  const ctx = await testContext({ services, actor: testBootstrap });
  const made = (name: string, role: Role, namespaces: string[] = []) =>
    createToken(ctx, { name, role, namespaces }).then(({ value }) => value);
  const tokens = {
    viewer: await made('viewer', 'viewer'),
    operator: await made('operator', 'operator'),
    publisher: await made('publisher', 'publisher', [ownNamespace]),
    outsider: await made('outsider', 'publisher', ['Other.Lab']),
    admin: await made('admin', 'admin'),
  };

  const log = pino({ level: 'silent' });
  const core = createRestHandler({ ...services, log });
  const serving = await serve({
    host: '127.0.0.1',
    port: 0,
    trustProxy: new BlockList(),
    limits: services.config.limits,
    log,
    route: (path) => ({ core, upload: restUploads.test(path) }),
  });
  const url = `http://127.0.0.1:${serving.port}`;
  const met = new Set<string>();
  const door: RestDoor = {
    url,
    services,
    tokens,
    async call(method, path, call) {
      const reply = await send(`${url}/api/v1${path}`, method, tokens, call);
      const route = routeAt(method, path);
      if (route && reply.status < 400) expectShape(route, reply);
      return reply;
    },
    async expect<T>(...[operation, params, outcome, call]: Parameters<RestDoor['expect']>): Promise<T> {
      const route = routeOf(operation);
      const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
      const reply = await door.call(route.method, `${path}${call?.query ?? ''}`, call);
      const [status, code] = typeof outcome === 'number' ? [outcome] : outcome;
      // Includes the response text in the comparison, so that a failure shows it.
      const { text } = reply;
      const expected = { status, code: code ?? codeOf(reply), text };
      expect({ status: reply.status, code: codeOf(reply), text }).toEqual(expected);
      met.add(`${operation} ${status}`);
      if (status >= 400) expectProblem(reply, status);
      return reply.body as T;
    },
    unmet: (operations) =>
      operations
        .map(routeOf)
        .flatMap((route) =>
          [...Object.keys(route.answers), ...route.refusals].map((status) => `${route.operationId} ${status}`),
        )
        .filter((documented) => !met.has(documented)),
    close: () => serving.close(0),
  };
  return door;
}

function routeOf(operation: string): RestRoute {
  const route = routes.find(({ operationId }) => operationId === operation);
  if (!route) throw new Error(`no call ${operation}`);
  return route;
}

/** Returns the first route that a call matches, as in the portal. */
function routeAt(method: string, path: string): RestRoute | undefined {
  const [pathname = ''] = path.split('?');
  return routes.find(
    (route) => route.method === method && new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
}

const codeOf = ({ body }: RestReply): unknown => (body as { code?: unknown } | undefined)?.code;

/** Asserts that the response has the documented shape, and no undocumented fields. */
function expectShape(route: RestRoute, reply: RestReply): void {
  expect(Object.keys(route.answers)).toContain(String(reply.status));
  const { schema, types } = route.answers[reply.status] ?? {};
  if (types !== undefined) {
    expect(types).toContain(reply.headers.get('content-type')?.split(';')[0]);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    return;
  }
  if (!schema) {
    expect(reply.text).toBe('');
    return;
  }
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(z.encode(schema, schema.parse(reply.body))).toEqual(reply.body);
}

function expectProblem(reply: RestReply, status: number): void {
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  const { type, title, status: said, detail, code, requestId } = reply.body as Record<string, unknown>;
  expect({ status: said, requestId }).toEqual({ status, requestId: reply.headers.get('x-request-id') });
  for (const text of [type, title, detail, code]) expect(text).toMatch(/\S/);
}

async function send(
  url: string,
  method: string,
  tokens: RestDoor['tokens'],
  { as = 'admin', token, body, headers }: RestCall = {},
): Promise<RestReply> {
  const credential = token ?? (as === null ? undefined : tokens[as]);
  const raw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
  const response = await fetch(url, {
    method,
    headers: {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
    ...(body instanceof ReadableStream && { duplex: 'half' as const }),
  });
  const text = await response.text();
  const isJson = text !== '' && /json\b/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
