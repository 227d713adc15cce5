import { BlockList } from 'node:net';
import { pino } from 'pino';
import type { Role } from '#db/schema/auth.ts';
import { createToken } from '#server/auth/tokens/index.ts';
import type { Services } from '#server/domain/context.ts';
import { serve } from '#server/process/http.ts';
import { createRestHandler } from '#server/rest/handler.ts';
import { type TestServicesOptions, testContext, testServices } from './context.ts';

export interface RestCall {
  /** Role of the caller's token, or the token itself; null sends none. Default `admin`. */
  as?: Role | 'outsider' | null;
  token?: string;
  /** Sent as JSON, unless it is bytes or text. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

export interface RestReply {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON, or undefined where there is none. */
  body: unknown;
}

/** A management door on a port of its own, with a token for each role. */
export interface RestDoor {
  url: string;
  services: Services;
  tokens: Readonly<Record<Role | 'outsider', string>>;
  call(method: string, path: string, call?: RestCall): Promise<RestReply>;
  close(): Promise<void>;
}

/** Namespace of the publisher's token; the outsider publishes in another one. */
export const ownNamespace = 'Acme.Lab';

/** Opens the door as the portal does: the same server, the same core. */
export async function openRestDoor(options: TestServicesOptions = {}): Promise<RestDoor> {
  const services = await testServices({
    ...options,
    config: { url: 'http://annex.test', bootstrap: { token: null, person: null }, ...options.config },
  });
  const ctx = await testContext({ services });
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
    route: (path) => ({ core, upload: path.endsWith('/package') }),
  });
  const url = `http://127.0.0.1:${serving.port}`;
  return {
    url,
    services,
    tokens,
    call: (method, path, call) => send(`${url}/api/v1${path}`, method, tokens, call),
    close: () => serving.close(0),
  };
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
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
