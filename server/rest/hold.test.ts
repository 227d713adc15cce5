import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hold } from '#server/domain/holds/index.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let id: string;
const reason = 'Patch window';

beforeAll(async () => {
  door = await openRestDoor();
  id = (await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'held' } })).id;
  await door.expect('createVm', {}, 201, { body: { name: 'free' } });
});
afterAll(() => door.close());

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const namesOf = async (query: string) => {
  const { body } = await door.call('GET', `/vms?${query}`);
  return (body as { items: { name: string }[] }).items.map(({ name }) => name);
};

test('a hold is in the response, with the VM, in the instance view and in the list', async () => {
  const until = inAnHour();
  const hold = await door.expect<Hold>('holdVm', { id }, 200, { body: { reason, until } });
  expect(hold).toEqual({ heldAt: expect.any(String), heldBy: expect.any(String), reason, until });
  const shown = { at: hold.heldAt, by: hold.heldBy, reason, until };
  expect(await door.expect('getVm', { id }, 200)).toMatchObject({ hold });
  expect(await door.expect('getInstanceView', { id }, 200)).toMatchObject({ agent: { hold: shown } });
  const { body } = await door.call('GET', '/vms?held=yes');
  expect(body).toMatchObject({ items: [{ name: 'held', hold }] });
  expect([await namesOf('held=no'), await namesOf('held=yes,no')]).toEqual([['free'], ['free', 'held']]);
  await door.expect('releaseHold', { id }, 204);
  expect(await door.expect('getVm', { id }, 200)).toMatchObject({ hold: null });
  expect(await namesOf('held=yes')).toEqual([]);
});

test.each([
  [undefined, '', 'bad_request'],
  [{}, '/reason', 'field_missing'],
  [{ reason: 'two\nlines' }, '/reason', 'text_control'],
  [{ reason: 'two\u2028lines' }, '/reason', 'text_control'],
  [{ reason, until: '2020-01-01T00:00:00Z' }, '/until', 'hold_until_past'],
  [{ reason, until: '2999-01-01T00:00:00Z' }, '/until', 'hold_until_far'],
  [{ reason, forever: true }, '/forever', 'field_unknown'],
])('rejects the body %j', async (body, path, code) => {
  const answer = await door.call('PUT', `/vms/${id}/hold`, { body });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  if (path !== '') expect(answer).toMatchObject({ status: 422, body: { errors: [{ path, code }] } });
});

test('faults are in the language of the caller', async () => {
  const headers = { 'accept-language': 'de' };
  const { body } = await door.call('PUT', `/vms/${id}/hold`, {
    body: { reason, until: '2020-01-01T00:00:00Z' },
    headers,
  });
  expect((body as { errors: { message: string }[] }).errors[0]?.message).toMatch(/in der Vergangenheit/);
});

test('If-Match is respected, and a viewer is rejected', async () => {
  const headers = { 'if-match': '"9"' };
  for (const [method, body] of [
    ['PUT', { reason }],
    ['DELETE', undefined],
  ] as const) {
    const moved = await door.call(method, `/vms/${id}/hold`, { body, headers });
    expect(moved).toMatchObject({ status: 412, body: { code: 'goal_state_moved_on' } });
    const unknown = await door.call(method, '/vms/00000000-0000-4000-8000-000000000000/hold', { body });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'vm_unknown' } });
  }
});
