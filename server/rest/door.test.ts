import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import de from '#locales/de/errors.json' with { type: 'json' };
import { openRestDoor, type RestCall, type RestDoor } from '#server/testing/rest-door.ts';
import { routes } from './routes/index.ts';

let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

const json = { 'content-type': 'application/json' };
const problem = (status: number, code: string) => ({ status, body: { status, code } });

describe('paths and methods without a route', () => {
  test.each(['/', '/nothing', '/vms/', '/vms/x/y/z', '/openapi', '/..%2fetc', '/%', '/vms/%00'])(
    '%s is 404 with or without a token',
    async (path) => {
      const known = await door.call('GET', path);
      expect(known).toMatchObject({ status: 404 });
      expect(known.headers.get('content-type')).toBe('application/problem+json');
      expect([401, 404]).toContain((await door.call('GET', path, { as: null })).status);
    },
  );

  test.each([
    ['PUT', '/publishers', 'POST, GET, HEAD'],
    ['POST', '/vms/x', 'GET, HEAD, PATCH, DELETE'],
    ['OPTIONS', '/vms', 'POST, GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('%s %s is 405 with the allowed methods', async (method, path, allow) => {
    const reply = await door.call(method, path);
    expect(reply).toMatchObject(problem(405, 'method_not_allowed'));
    expect(reply.headers.get('allow')).toBe(allow);
  });

  test.each(['/vms', '/handlers'])('a NUL in the query of %s is rejected', async (path) => {
    expect(await door.call('GET', `${path}?q=%00`)).toMatchObject(problem(422, 'json_character'));
  });

  test('HEAD responds like GET without a body', async () => {
    const { status, text: body, headers } = await door.call('HEAD', '/vms');
    expect({ status, body }).toEqual({ status: 200, body: '' });
    expect(headers.get('content-type')).toBe('application/json');
  });
});

test('the OpenAPI document needs no token', async () => {
  const reply = await door.call('GET', '/openapi.json', { as: null });
  expect(reply).toMatchObject({ status: 200, body: { openapi: '3.1.0' } });
  expect(Object.keys((reply.body as { paths: object }).paths)).toHaveLength(
    new Set(routes.map(({ path }) => path)).size,
  );
  const refused = await door.call('GET', '/openapi.json', { headers: { accept: 'text/html' } });
  expect(refused).toMatchObject(problem(406, 'not_acceptable'));
});

describe('Accept', () => {
  test.each([
    ['application/json', 200],
    ['*/*', 200],
    ['text/html, application/*;q=0.1', 200],
    ['application/problem+json, application/json', 200],
    ['text/html', 406],
    ['application/json;q=0', 406],
    ['image/png, text/*', 406],
  ])('Accept: %s is %i', async (accept, status) => {
    expect((await door.call('GET', '/vms', { headers: { accept } })).status).toBe(status);
  });
});

describe('bodies', () => {
  const post = (body: string | Uint8Array, headers: Record<string, string> = json) =>
    door.call('POST', '/publishers', { body, headers });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json', 'x'])(
    '%s is 415',
    async (type) => {
      expect(await post('{}', { 'content-type': type })).toMatchObject(problem(415, 'media_type_unsupported'));
    },
  );

  test('a content encoding is 415', async () => {
    const reply = await post('{}', { ...json, 'content-encoding': 'gzip' });
    expect(reply).toMatchObject(problem(415, 'encoding_unsupported'));
  });

  test('parameters of the media type are ignored', async () => {
    const reply = await post('{}', { 'content-type': 'Application/JSON; charset=utf-8' });
    expect(reply).toMatchObject(problem(422, 'invalid'));
  });

  test.each<[string, string | Uint8Array, number, string]>([
    ['no body', '', 400, 'body_missing'],
    ['no JSON', 'nope', 400, 'json_malformed'],
    ['a truncated body', '{"namespace": "A', 400, 'json_malformed'],
    ['a trailing comma', '{"namespace": "A",}', 400, 'json_malformed'],
    ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, 'json_not_utf8'],
    ['a duplicate property', '{"namespace": "A", "namespace": "B"}', 422, 'json_duplicate_key'],
    ['a NUL', '{"namespace": "A\\u0000"}', 422, 'json_character'],
    ['65 levels of nesting', `${'['.repeat(65)}${']'.repeat(65)}`, 422, 'json_too_deep'],
    ['100,000 levels of nesting', '['.repeat(100_000), 422, 'json_too_deep'],
    ['an array', '[]', 422, 'invalid'],
    ['null', 'null', 422, 'invalid'],
    ['__proto__', '{"__proto__": {"x": 1}, "namespace": "A", "displayName": "A"}', 422, 'invalid'],
  ])('%s is rejected', async (_what, body, status, code) => {
    expect(await post(body)).toMatchObject(problem(status, code));
  });

  test('accepts a byte-order mark', async () => {
    expect(await post('\ufeff{}')).toMatchObject(problem(422, 'invalid'));
  });

  test('a body above the limit is 413 with the limit, whether its length is announced or not', async () => {
    const limit = door.services.config.limits.http.bodyBytes;
    const announced = await post('x'.repeat(limit + 1));
    expect(announced).toMatchObject(problem(413, 'body_too_large'));
    expect(announced.text).toContain('1 MiB');
    expect(announced.headers.get('connection')).toBe('close');
    const stream = new Blob(['x'.repeat(limit + 1)]).stream();
    const streamed = await door.call('POST', '/publishers', { body: stream, headers: json });
    expect(streamed).toMatchObject(problem(413, 'body_too_large'));
  });

  test('the body of an unauthenticated caller is not read', async () => {
    const { port } = new URL(door.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      'PUT /api/v1/handlers/Acme.Lab.Probe/versions/1.0/package HTTP/1.1\r\nHost: x\r\nContent-Length: 500000000\r\n' +
        'Content-Type: application/zip\r\nConnection: close\r\n\r\n',
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('the language of the caller', () => {
  test.each([
    ['de-AT, en;q=0.5', 'de'],
    ['fr', 'en'],
    ['', 'en'],
    ['*', 'en'],
    [';;q=,de', 'de'],
  ])('Accept-Language: %s is answered in %s', async (header, language) => {
    const reply = await door.call('GET', '/nothing', { headers: { 'accept-language': header } });
    expect(reply.headers.get('content-language')).toBe(language);
    expect(reply.headers.get('vary')).toBe('Accept-Language');
    expect((reply.body as { detail: string }).detail === de.not_found).toBe(language === 'de');
  });
});

describe('input is never echoed', () => {
  const marker = 'Marker-7f3a';
  const path = (route: (typeof routes)[number]): string => route.path.replaceAll(/\{\w+\}/g, `<${marker}>`);
  const nested = { [`<${marker}>`]: marker };
  const body = {
    ...Object.fromEntries(
      ['namespace', 'displayName', 'name', 'tags', 'handler', 'version', 'state', 'reason', 'role', 'timeouts'].map(
        (field) => [field, `<${marker}>`],
      ),
    ),
    settings: { publicSettings: marker, protectedSettings: [marker], [`<${marker}>`]: 1 },
    dependsOn: [`<${marker}>`, nested],
    [`<${marker}>`]: nested,
  };
  const headers = {
    'accept-language': marker,
    'if-match': marker,
    'user-agent': marker,
    'x-request-id': marker,
    'x-forwarded-for': marker,
    cookie: marker,
  };

  test.each(routes)('$operationId', async (route) => {
    for (const more of [{ body }, { body: `{"${marker}`, headers: json }, {}, { token: marker }]) {
      const takesBody = route.body !== null || route.takesZip || route.takesStream;
      const {
        status,
        text: said,
        headers: answered,
      } = await door.call(
        route.method,
        `${path(route)}?limit=${marker}&cursor=${marker}&force=${marker}&decommission=${marker}`,
        { ...more, ...(takesBody ? {} : { body: undefined }), headers: { ...headers, ...more.headers } },
      );
      expect(status).not.toBe(500);
      if (status >= 400) expect(said).not.toContain(marker);
      expect(JSON.stringify([...answered])).not.toContain(marker);
    }
  });

  test.each<[string, string, string, Record<string, unknown>]>([
    ['a handler', 'PUT', '/extensions/probe', { handler: `<${marker}>`, version: '1.0', state: 'enabled' }],
    ['a version', 'PUT', '/extensions/probe', { handler: 'Acme.Lab.Probe', version: marker, state: 'enabled' }],
    ['a dependency', 'PUT', '/extensions/probe', { handler: 'A.B', version: '1.0', state: 'x', dependsOn: ['<m>'] }],
    ['a tag', 'PATCH', '', { tags: { [`<${marker}>`]: 'x'.repeat(300) } }],
  ])('%s that is malformed is not echoed', async (_what, method, below, sentBody) => {
    const { body: vm } = await door.call('POST', '/vms', {
      body: { name: `vm-${Math.random().toString(36).slice(2)}` },
    });
    const { id } = vm as { id: string };
    const reply = await door.call(method, `/vms/${id}${below}`, { body: sentBody });
    expect(reply.status).toBe(422);
    expect(reply.text).not.toMatch(/Marker|<m>/);
  });

  test('tokens, media types and methods are not echoed', async () => {
    const calls: RestCall[] = [
      { headers: { authorization: `Basic ${marker}` }, as: null },
      { headers: { accept: `text/${marker}` } },
      { headers: { 'content-type': marker }, body: '{}' },
    ];
    for (const call of calls) {
      const reply = await door.call('POST', '/publishers', call);
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.text).not.toContain(marker);
    }
    expect((await door.call('MARKER', '/vms')).text).not.toContain('MARKER');
  });
});

test('a malformed name is rejected with the expected form', async () => {
  const { body: vm } = await door.call('POST', '/vms', { body: { name: 'forms' } });
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0', state: 'enabled' };
  const replies = [
    await door.call('POST', '/vms', { body: { name: 'web 1' } }),
    await door.call('PUT', `/vms/${(vm as { id: string }).id}/extensions/disk%201`, { body: goal }),
  ];
  expect(replies.map(({ status, body }) => [status, (body as { errors: unknown }).errors])).toEqual([
    [422, [{ path: '/name', code: 'vm_name_form', message: expect.stringContaining('For example: web-1') }]],
    [422, [{ path: '/name', code: 'extension_name_form', message: expect.stringContaining('For example: disk-1') }]],
  ]);
});

describe('failed attempts', () => {
  test('after 30 wrong tokens the address must wait, except for tokens that worked before', async () => {
    const own = await openRestDoor({ db: door.services.db });
    expect((await own.call('GET', '/vms', { as: 'viewer' })).status).toBe(200);
    for (let attempt = 0; attempt < 30; attempt++) {
      const reply = await own.call('GET', '/vms', { token: `wrong-${attempt}` });
      expect(reply).toMatchObject(problem(401, 'token_refused'));
    }
    const held = await own.call('GET', '/vms', { token: 'wrong-again' });
    expect(held).toMatchObject(problem(429, 'too_many_attempts'));
    expect(Number(held.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await own.call('GET', '/vms', { as: 'operator' })).status).toBe(429);
    expect((await own.call('GET', '/vms', { as: 'viewer' })).status).toBe(200);
    expect((await own.call('GET', '/vms', { as: null })).status).toBe(401);
    await own.close();
  });
});

test('an unavailable database is 503 with Retry-After and no details', async () => {
  const away = await openRestDoor();
  await away.services.db.$client.end();
  const reply = await away.call('GET', '/vms', { headers: { 'accept-language': 'de' } });
  expect(reply).toMatchObject({ status: 503, body: { code: 'database_away', detail: de.database_away } });
  expect(reply.headers.get('retry-after')).toBe('2');
  await away.close();
});
