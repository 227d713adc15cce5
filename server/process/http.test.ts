import { once } from 'node:events';
import { BlockList, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { defaultLimits } from '#server/platform/limits.ts';
import { type Core, type HttpRoute, type ServeOptions, type Serving, serve } from './http.ts';

let serving: Serving | undefined;

afterEach(async () => {
  await serving?.close(0);
  serving = undefined;
});

/** Serves one core at all paths, on its own port. */
async function start(
  core: Core,
  options: Partial<ServeOptions> & { as?: Omit<HttpRoute, 'core'> } = {},
): Promise<string> {
  const { as, ...rest } = options;
  serving = await serve({
    host: '127.0.0.1',
    port: 0,
    trustProxy: new BlockList(),
    limits: defaultLimits,
    log: pino({ level: 'silent' }),
    route: () => ({ core, ...as }),
    ...rest,
  });
  return `http://127.0.0.1:${serving.port}`;
}

const echo: Core = async (request, info) =>
  Response.json({
    headers: Object.fromEntries(request.headers),
    remote: info.remoteAddress,
    body: await request.text(),
  });

const shortRequests = { ...defaultLimits, http: { ...defaultLimits.http, requestMs: 300 } };

/** Sends text unchanged, and reads until the connection closes. */
async function raw(head: string, further: (socket: ReturnType<typeof connect>) => void = () => {}): Promise<string> {
  const socket = connect(serving?.port ?? 0, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(head);
  further(socket);
  return text(socket);
}

describe('limits', () => {
  test('headers above 16 KiB are 431, and the next caller is served', async () => {
    const url = await start(echo);
    const answer = await raw(`GET / HTTP/1.1\r\nHost: x\r\nBig: ${'b'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"headers_too_large"');
    expect((await fetch(url)).status).toBe(200);
  });

  test('bytes that are not HTTP get 400, and the connection closes', async () => {
    await start(echo);
    expect(await raw('HELO there\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"code":"request_malformed"/s);
  });

  test.each(['TRACE / HTTP/1.1', 'OPTIONS * HTTP/1.1'])('%s is rejected', async (line) => {
    await start(echo);
    expect(await raw(`${line}\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 .*request_malformed/s);
  });

  test('a request to upgrade to HTTP/2 is answered as a plain request', async () => {
    await start(echo);
    const head = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n';
    expect(await raw(head)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('an absolute URL as target is served by its path', async () => {
    const fallback: ServeOptions['fallback'] = async (request, response) => void response.end(`page ${request.url}`);
    await start(echo, { route: (path) => (path === '/door' ? { core: echo } : null), fallback });
    const ask = (target: string) => raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await ask('http://elsewhere.example/door?q=1')).toContain('"remote"');
    expect(await ask('http://elsewhere.example/other?q=1')).toContain('page /other?q=1');
  });

  test('a body that arrives too slowly is 408', async () => {
    await start(echo, { limits: shortRequests });
    const answer = await raw('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nbegun');
    expect(answer).toMatch(/^HTTP\/1\.1 408 .*"code":"request_too_slow"/s);
  });

  test('an upload may take longer while it keeps the minimum rate', async () => {
    await start(echo, { limits: shortRequests, as: { upload: true } });
    const pieces = 8;
    const good = await raw(
      `PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${pieces * 1024}\r\n\r\n`,
      (socket) => {
        let sent = 0;
        const timer = setInterval(() => {
          socket.write('u'.repeat(1024));
          if (++sent === pieces) clearInterval(timer);
        }, 100);
      },
    );
    expect(good).toMatch(/^HTTP\/1\.1 200 /);
    const slow = await raw('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nbegun');
    expect(slow).toMatch(/^HTTP\/1\.1 408 .*"code":"upload_too_slow"/s);
  });

  test('endless headers are cut off', async () => {
    const limits = { ...defaultLimits, http: { ...defaultLimits.http, requestMs: 200 } };
    await start(echo, { limits });
    expect(await raw('GET / HTTP/1.1\r\nHost: x\r\n')).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("the client's address", () => {
  const forged = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-host': 'evil.example',
    'x-request-id': 'forged-id-1234',
  };
  type Echo = { headers: Record<string, string>; remote: string };

  test('forwarded headers of an untrusted client are dropped', async () => {
    const url = await start(echo);
    const response = await fetch(url, { headers: forged });
    const seen = (await response.json()) as Echo;
    expect(seen.remote).toBe('127.0.0.1');
    expect(seen.headers).not.toHaveProperty('x-forwarded-for');
    expect(seen.headers).not.toHaveProperty('x-forwarded-host');
    expect(seen.headers['x-request-id']).not.toBe('forged-id-1234');
    expect(response.headers.get('x-request-id')).toBe(seen.headers['x-request-id']);
  });

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, 127.0.0.1', '203.0.113.9'],
    ['', '127.0.0.1'],
  ])('headers of a trusted proxy are accepted: %s', async (chain, client) => {
    const trustProxy = new BlockList();
    trustProxy.addAddress('127.0.0.1');
    const url = await start(echo, { trustProxy });
    const seen = (await (await fetch(url, { headers: { ...forged, 'x-forwarded-for': chain } })).json()) as Echo;
    expect(seen.remote).toBe(client);
    expect(seen.headers['x-request-id']).toBe('forged-id-1234');
  });
});

describe('cores', () => {
  test('receive a Request that can be copied', async () => {
    const url = await start(async (request) => new Response(await new Request(request).text()));
    expect(await (await fetch(url, { method: 'POST', body: 'copied' })).text()).toBe('copied');
  });

  test('that throw respond with 500 without details', async () => {
    const url = await start(() => Promise.reject(new Error('s3cret detail')));
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.text()).not.toContain('s3cret');
  });

  test('without a route, fall back to the pages', async () => {
    const url = await start(echo, {
      route: (path) => (path === '/door' ? { core: echo } : null),
      fallback: async (_request, response) => void response.end('a page'),
    });
    expect(await (await fetch(`${url}/other?x=/door`)).text()).toBe('a page');
  });

  test('are notified when the client disconnects', async () => {
    const left = Promise.withResolvers<void>();
    const url = await start((request) => {
      request.signal.addEventListener('abort', () => left.resolve());
      return new Promise(() => {});
    });
    const caller = new AbortController();
    const asked = fetch(url, { signal: caller.signal }).catch(() => {});
    setTimeout(() => caller.abort(), 50);
    await left.promise;
    await asked;
  });
});

describe('draining', () => {
  test('finishes running responses and accepts no connections', async () => {
    const reached = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const url = await start(async () => {
      reached.resolve();
      await finish.promise;
      return new Response('finished');
    });
    const asked = fetch(url);
    await reached.promise;
    const closed = serving?.close();
    await expect(fetch(url)).rejects.toThrow();
    finish.resolve();
    expect(await (await asked).text()).toBe('finished');
    await closed;
    serving = undefined;
  });

  test('notifies held requests, and closes requests that ignore the notification', async () => {
    let isNotified = false;
    const url = await start((_request, info) => {
      info.closing.addEventListener('abort', () => {
        isNotified = true;
      });
      return new Promise(() => {});
    });
    const asked = fetch(url).catch(() => 'cut');
    await expect.poll(() => fetch(`${url}/`, { signal: AbortSignal.timeout(50) }).catch(() => 'held')).toBe('held');
    await serving?.close(100);
    serving = undefined;
    expect(await asked).toBe('cut');
    expect(isNotified).toBe(true);
  });

  test('listening on a port in use is rejected', async () => {
    await start(echo);
    const taken = serving;
    await expect(start(echo, { port: taken?.port ?? 0 })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await taken?.close(0);
  });
});

test('several processes share a port, and the end of one does not affect the others', async () => {
  const named = (name: string, port = 0) => start(async () => new Response(name), { port, shared: true });
  const url = await named('one');
  const one = serving;
  await named('two', Number(new URL(url).port));
  const ask = async () => (await fetch(url, { headers: { connection: 'close' } })).text();
  const answers = await Promise.all(Array.from({ length: 64 }, ask));
  expect(new Set(answers)).toEqual(new Set(['one', 'two']));
  await one?.close(0);
  expect(new Set(await Promise.all(Array.from({ length: 16 }, ask)))).toEqual(new Set(['two']));
});
