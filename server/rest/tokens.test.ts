import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

test('a token is created, works with its role, is shown once, and is revoked', async () => {
  type Made = { id: string; token: string };
  const made = await door.expect<Made>('createToken', {}, 201, { body: { name: 'ci', role: 'viewer' } });
  expect((await door.call('GET', '/vms', { token: made.token })).status).toBe(200);
  expect((await door.call('GET', '/tokens', { token: made.token })).status).toBe(403);

  type List = { items: { id: string; revokedAt: string | null }[] };
  const list = await door.expect<List>('listTokens', {}, 200);
  expect(list.items[0]).toMatchObject({ id: made.id, name: 'ci', role: 'viewer', revokedAt: null });
  expect(JSON.stringify(list)).not.toContain(made.token);

  await door.expect('revokeToken', { token: made.id }, 204);
  await door.expect('revokeToken', { token: made.id }, [404, 'token_unknown']);
  expect((await door.call('GET', '/vms', { token: made.token })).status).toBe(401);
});

test('a token with the grant `scripts` may run any plan, other tokens of operators may not', async () => {
  const tokenWith = async (scripts: boolean) =>
    (await door.expect<{ token: string }>('createToken', {}, 201, { body: { name: 'ci', role: 'operator', scripts } }))
      .token;
  const { id } = await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'scripted' } });
  const queue = (token: string) =>
    door.call('POST', `/vms/${id}/executions`, { token, body: { plan: { FormatVersion: '2.0.0' } } });
  expect(await queue(await tokenWith(false))).toMatchObject({ status: 403, body: { code: 'scripts_forbidden' } });
  expect((await queue(await tokenWith(true))).status).toBe(201);
  const { items } = await door.expect<{ items: { scripts: boolean }[] }>('listTokens', {}, 200);
  expect(items.slice(0, 2).map(({ scripts }) => scripts)).toEqual([true, false]);
});

test('an expired token is rejected', async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  type Made = { id: string; token: string };
  const body = { name: 'short', role: 'viewer', expiresAt: soon };
  const made = await door.expect<Made>('createToken', {}, 201, { body });
  await door.services.db.$client.query('update api_tokens set expires_at = now() where id = $1', [made.id]);
  expect(await door.call('GET', '/vms', { token: made.token })).toMatchObject({
    status: 401,
    body: { code: 'token_refused' },
  });
});

test('one response lists all faults', async () => {
  type Answer = { errors: { path: string }[] };
  const body = { name: '', role: 'owner', expiresAt: 'tomorrow', more: 1 };
  const { errors } = await door.expect<Answer>('createToken', {}, [422, 'invalid'], { body });
  expect(errors.map(({ path }) => path).toSorted()).toEqual(['/expiresAt', '/more', '/name', '/role']);
});

test('every documented status of these calls was received', () => {
  expect(door.unmet(['createToken', 'listTokens', 'revokeToken'])).toEqual([]);
});
