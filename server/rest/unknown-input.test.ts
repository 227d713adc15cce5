import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { takesBody } from './route.ts';
import { routes } from './routes/index.ts';

let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

/** Valid values of the path parameters. */
const parts: Readonly<Record<string, string>> = {
  ...{ handler: 'Acme.Lab.Probe', version: '1.0.0.0', lang: 'de', name: 'probe', incarnation: '1', namespace: 'Acme' },
  ...{ other: '1.1.0.0', key: '0'.repeat(32), model: 'prod', machine: '0' },
  ...{ formula: 'Acme.Lab.blog', slot: 'production', protocol: 'tcp', port: '80' },
  ...{ service: 'blog', number: '1', unit: '1' },
};
const unknownId = '01920000-0000-7000-8000-000000000001';
const pathOf = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts[name] ?? unknownId));

test.each(routes.map((route) => [route.operationId, route] as const))(
  '%s rejects a query parameter that it does not have',
  async (_, { method, path }) => {
    for (const query of ['handlr=Nope', 'handlr=']) {
      expect(await door.call(method, `${pathOf(path)}?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid', errors: [{ path: '?handlr', code: 'field_unknown' }] },
      });
    }
  },
);

const withSingle = routes.flatMap((route) => {
  const single = Object.keys(route.query.shape).filter((name) => !route.repeated?.includes(name));
  return single.length === 0 ? [] : [[route.operationId, route, single] as const];
});

test.each(withSingle)('%s rejects a query parameter that is given twice', async (_, { method, path }, names) => {
  for (const name of names) {
    const fault = { path: `?${name}`, code: 'parameter_repeated' };
    expect(await door.call(method, `${pathOf(path)}?${name}=1&${name}=2`)).toMatchObject({
      status: 400,
      body: { code: 'invalid', errors: expect.arrayContaining([expect.objectContaining(fault)]) },
    });
  }
});

const guarded = routes.flatMap((route) =>
  ['plan', 'thumbprint']
    .filter((name) => name in route.query.shape)
    .map((name) => [route.operationId, name, route] as const),
);

test.each(guarded)('%s rejects an empty %s, as from a variable that is not set', async (_, name, { method, path }) => {
  expect(await door.call(method, `${pathOf(path)}?${name}=`)).toMatchObject({
    status: 400,
    body: { code: 'invalid', errors: [{ path: `?${name}` }] },
  });
});

const withoutBody = routes.filter((route) => route.method !== 'GET' && !takesBody(route));

test.each(withoutBody.map((route) => [route.operationId, route] as const))(
  '%s takes no body, and rejects the fields of one',
  async (_, { method, path }) => {
    expect(await door.call(method, pathOf(path), { body: { everyMinutes: 10 } })).toMatchObject({
      status: 422,
      body: { code: 'invalid', errors: [{ path: '/everyMinutes', code: 'field_unknown' }] },
    });
    const { status } = await door.call(method, pathOf(path), { body: {} });
    expect([400, 415, 422]).not.toContain(status);
  },
);

test('a misspelled filter is named, and no VM is listed', async () => {
  await door.expect('createVm', {}, 201, { body: { name: 'web-1' } });
  const misspelled = await door.call('GET', '/vms?handlr=Nope&limit=1');
  expect(misspelled.status).toBe(400);
  expect(misspelled.text).not.toContain('web-1');
  expect((await door.call('GET', '/vms?handler=&limit=1')).text).toContain('web-1');
});
