import { BlockList } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { users } from '#db/schema/index.ts';
import { bootstrapPeople, createAuthHandler, openSignIn } from '#server/auth/index.ts';
import type { Services } from '#server/domain/context.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { type Serving, serve } from '#server/process/http.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { samplePackage } from '#server/testing/sample-package.ts';
import { createUploadHandler } from './upload.ts';

const log = pino({ level: 'silent' });
const person = { email: 'ada@example.org', password: 'correct horse battery' };

let services: Services;
let serving: Serving;
let cookie: string;
let zip: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  services = await testServices({ config: { bootstrap: { token: null, person } } });
  await bootstrapPeople(services);
  await createPublisher(await testContext({ services }), { namespace: 'Acme.Lab', displayName: 'Acme' });
  zip = await samplePackage();
  const upload = createUploadHandler({ ...services, log });
  const auth = createAuthHandler(services, openSignIn(services, log), log);
  serving = await serve({
    host: '127.0.0.1',
    port: 0,
    trustProxy: new BlockList(),
    limits: services.config.limits,
    log,
    route: (path) =>
      path.startsWith('/upload/')
        ? { core: upload, upload: true }
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

interface Asked {
  headers?: Record<string, string>;
  signedIn?: boolean;
  handler?: string;
  method?: string;
}

/** Sends a request as a browser does. Returns the fields of the response that the tests check. */
async function send({ headers = {}, signedIn = true, handler = 'Acme.Lab.Probe', method = 'PUT' }: Asked = {}) {
  const response = await fetch(`http://127.0.0.1:${serving.port}/upload/handlers/${handler}/versions/1.0.0.0/package`, {
    method,
    headers: { 'content-type': 'application/zip', ...(signedIn && { cookie }), ...headers },
    ...(method === 'PUT' && { body: zip }),
  });
  const { code, state, errors } = (await response.json()) as { code?: string; state?: string; errors?: unknown };
  return { status: response.status, code, state, errors };
}

const own = () => ({ origin: services.config.url, 'sec-fetch-site': 'same-origin' });

describe("the pages' uploads of zips", () => {
  test("accept a package from the portal's pages, and the same package again", async () => {
    expect(await send({ headers: own() })).toEqual({ status: 201, state: 'draft' });
    expect(await send({ headers: own() })).toEqual({ status: 200, state: 'draft' });
  });

  test.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'https://evil.test' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another subdomain', { 'sec-fetch-site': 'same-site' }],
    ['no origin', {}],
    ['the origin "null"', { origin: 'null' }],
  ])('reject %s', async (_what, headers) => {
    expect(await send({ headers })).toMatchObject({ status: 403, code: 'origin_refused' });
  });

  test('require a session, not a bearer token', async () => {
    const refused = { status: 401, code: 'unauthenticated' };
    expect(await send({ headers: own(), signedIn: false })).toMatchObject(refused);
    const bearer = { ...own(), authorization: 'Bearer x' };
    expect(await send({ headers: bearer, signedIn: false })).toMatchObject(refused);
  });

  test('require the role', async () => {
    await services.db.update(users).set({ role: 'operator' });
    expect(await send({ headers: own() })).toMatchObject({ status: 403, code: 'forbidden' });
    await services.db.update(users).set({ role: 'publisher', namespaces: ['Other.Lab'] });
    expect(await send({ headers: own() })).toMatchObject({ status: 403, code: 'namespace_forbidden' });
  });

  test('have no other routes', async () => {
    expect(await send({ headers: own(), method: 'DELETE' })).toMatchObject({ status: 405 });
    expect(await send({ headers: own(), handler: 'a/b' })).toMatchObject({ status: 404 });
  });
});
