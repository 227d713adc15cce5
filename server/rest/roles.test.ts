import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Role, roles } from '#db/schema/auth.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { routes } from './routes/index.ts';

let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

/** Who may make a call that needs the role: as the contract says it, written out once more. */
const mayCall: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer', 'operator', 'publisher', 'admin'],
  operator: ['operator', 'admin'],
  publisher: ['publisher', 'admin'],
  admin: ['admin'],
};

/** A path with parts that have the right form and lead to nothing. */
const emptyPath = (path: string): string =>
  path
    .replace('{id}', '00000000-0000-4000-8000-000000000000')
    .replace('{handler}', 'Acme.Lab.Nothing')
    .replace('{version}', '1.0.0.0')
    .replace('{token}', '00000000-0000-4000-8000-000000000000')
    .replace('{incarnation}', '1')
    .replace('{lang}', 'en')
    .replace('{name}', 'probe');

const cells = routes.flatMap((route) => roles.map((role) => ({ route, role })));

describe('the roles of the contract', () => {
  test.each(cells)('$route.operationId as $role', async ({ route, role }) => {
    const { status, body } = await door.call(route.method, emptyPath(route.path), { as: role });
    if (route.role !== null && mayCall[route.role].includes(role)) {
      expect([401, 403], JSON.stringify(body)).not.toContain(status);
    } else {
      expect({ status, body }).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
  });

  test.each(routes)('$operationId without a token is 401', async (route) => {
    const { status, body, headers } = await door.call(route.method, emptyPath(route.path), { as: null });
    expect({ status, body }).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test.each(routes.filter((route) => route.inNamespace))(
    '$operationId in a foreign namespace is 403',
    async (route) => {
      const bodies: Readonly<Record<string, unknown>> = {
        withdrawVersion: { reason: 'x' },
        setSettingsSchema: {},
        setResources: [],
        importXliff: '<xliff/>',
      };
      const body = bodies[route.operationId];
      const headers: Record<string, string> = typeof body === 'string' ? { 'content-type': 'text/xml' } : {};
      const reply = await door.call(route.method, emptyPath(route.path), { as: 'outsider', body, headers });
      expect(reply).toMatchObject({ status: 403, body: { code: 'namespace_forbidden' } });
    },
  );

  test('a cookie is not looked at', async () => {
    const cookie = `annex.session_token=${door.tokens.admin}; token=${door.tokens.admin}`;
    const reply = await door.call('GET', '/vms', { as: null, headers: { cookie } });
    expect(reply.status).toBe(401);
  });
});
