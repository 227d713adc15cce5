import { BlockList } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapPeople, createAuthHandler, openSignIn } from '#server/auth/index.ts';
import { createToken } from '#server/auth/tokens/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { type Serving, serve } from '#server/process/http.ts';
import { testBootstrap, testContext, testServices } from '#server/testing/context.ts';
import { createDownloadHandler } from './download.ts';

const log = pino({ level: 'silent' });
const person = { email: 'ada@example.org', password: 'correct horse battery' };
const many = 2_100;

let ctx: Context;
let serving: Serving;
let cookie: string;

beforeAll(async () => {
  const services = await testServices({ config: { bootstrap: { token: null, person } } });
  await bootstrapPeople(services);
  ctx = await testContext({ services });
  await registerVm(ctx, { name: 'web-1', tags: { note: '=HYPERLINK("http://x")', '=1+1': 'x', plain: 'a;=b' } });
  await ctx.db.$client.query(
    `insert into vms (id, name, tags, created_at, created_by)
     select gen_random_uuid(), 'bulk-' || i, '{}', now(), 'test' from generate_series(1, $1::int) i`,
    [many],
  );
  await foldHealth(services, new Date());
  const download = createDownloadHandler({ ...services, log });
  const auth = createAuthHandler(services, openSignIn(services, log), log);
  serving = await serve({
    host: '127.0.0.1',
    port: 0,
    trustProxy: new BlockList(),
    limits: services.config.limits,
    log,
    route: (path) =>
      path.startsWith('/download/')
        ? { core: download }
        : { core: (request, { remoteAddress }) => auth(request, remoteAddress) },
  });
  const response = await fetch(`http://127.0.0.1:${serving.port}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: services.config.url },
    body: JSON.stringify(person),
  });
  cookie = (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
});
afterAll(() => serving.close(0));

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${serving.port}/download${path}`, { headers: { cookie, ...headers } });
}

test('all matching entries are exported, however many there are', async () => {
  const response = await get('/vms.csv');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-disposition')).toMatch(
    /^attachment; filename="annex-vms-\d{4}-\d\d-\d\d\.csv"$/,
  );
  const lines = (await response.text()).trimEnd().split('\r\n');
  expect(lines).toHaveLength(many + 2);
  expect(lines[0]).toMatch(/^\uFEFF?"Name","ID","Health"/);
  expect(new Set(lines).size).toBe(lines.length);
});

test('the filter applies, and no cell starts a formula', async () => {
  const text = await (await get('/vms.csv?q=WEB&lang=de')).text();
  const [head, row] = text.trimEnd().split('\r\n');
  expect(head).toContain('"Zustand"');
  expect(row).toMatch(/^"web-1",/);
  expect(row).toContain(`"'=1+1=x; note==HYPERLINK(""http://x""); plain=a;'=b"`);
});

test('a parameter that an export does not have is rejected', async () => {
  for (const path of ['/vms.csv?handlr=Nope', '/activity.csv?handlr=Nope']) {
    const response = await get(path);
    expect([response.status, ((await response.json()) as { errors: object[] }).errors]).toMatchObject([
      400,
      [{ path: '?handlr', code: 'field_unknown' }],
    ]);
  }
});

test('anonymous callers and requests from other sites are rejected', async () => {
  expect((await get('/vms.csv', { cookie: '' })).status).toBe(401);
  expect((await get('/vms.csv', { origin: 'https://elsewhere.example' })).status).toBe(403);
  expect((await get('/vms.csv', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
});

test('an API token exports without a session, and an invalid token is rejected as such', async () => {
  const { value } = await createToken(
    { ...ctx, actor: testBootstrap },
    { name: 'report', role: 'viewer', namespaces: [] },
  );
  const call = (path: string, token: string) => get(path, { cookie: '', authorization: `Bearer ${token}` });
  const response = await call('/vms.csv?q=web', value);
  expect(response.status).toBe(200);
  expect((await response.text()).trimEnd().split('\r\n')).toHaveLength(2);
  expect((await call('/activity.jsonl', value)).status).toBe(200);
  const refused = await call('/vms.csv', `${value}x`);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([401, 'token_refused']);
  const unknown = '01920000-0000-7000-8000-000000000001';
  expect((await call(`/vms/${unknown}/outputs/${unknown}`, value)).status).toBe(403);
});

test('an invalid filter is rejected, and named', async () => {
  const response = await get('/vms.csv?health=fine&version=x');
  expect(response.status).toBe(400);
  const { errors } = (await response.json()) as { errors: { path: string }[] };
  expect(errors.map(({ path }) => path).toSorted()).toEqual(['?health/0', '?version']);
});
