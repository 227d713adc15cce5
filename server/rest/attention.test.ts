import { afterAll, beforeAll, expect, test } from 'vitest';
import { users } from '#db/schema/index.ts';
import { exit51, insertVms } from '#server/domain/attention/testing/insert-vms.ts';
import type { Attention } from '#server/domain/views/index.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let key: string;

beforeAll(async () => {
  door = await openRestDoor();
  const { db } = door.services;
  await db.insert(users).values({ id: 'ada', name: 'Ada', email: 'ada@example.net', role: 'operator' });
  await insertVms(db, new Date(), [
    { name: 'well', count: 2, extension: {} },
    { name: 'exit', count: 3, health: 'failed', extension: exit51 },
  ]);
  key = (await door.expect<Attention>('listAttention', {}, 200)).items[0]?.key ?? '';
});
afterAll(() => door.close());

test('a problem is listed with its VMs, and its query lists the same VMs', async () => {
  const { items, open, vms } = await door.expect<Attention>('listAttention', {}, 200);
  expect([open, vms, items.map((item) => item.vms)]).toEqual([1, 3, [3]]);
  const names = ({ items: rows }: { items: { name: string }[] }) => rows.map(({ name }) => name);
  const own = names(await door.expect('listAttentionVms', { key }, 200));
  const { body } = await door.call('GET', `/vms?${items[0]?.query}`);
  expect(own).toEqual(['exit-1', 'exit-2', 'exit-3']);
  expect(names(body as { items: { name: string }[] })).toEqual(own);
});

test('a problem is assigned and snoozed, and both are undone', async () => {
  expect(await door.expect('listAssignees', {}, 200)).toEqual({ items: [{ id: 'ada', name: 'Ada' }] });
  const assigned = await door.expect('assignProblem', { key }, 200, { body: { memberId: 'ada' } });
  expect(assigned).toMatchObject({ assignee: { name: 'Ada' }, snooze: null });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  expect(await door.expect('snoozeProblem', { key }, 200, { body: { until } })).toMatchObject({ snooze: { until } });
  expect(await door.expect('snoozeProblem', { key }, 200, { body: {} })).toMatchObject({ snooze: { until: null } });
  expect(await door.expect('listAttention', {}, 200)).toMatchObject({ open: 0, items: [], snoozed: [{ key }] });
  await door.expect('unsnoozeProblem', { key }, 204);
  await door.expect('unassignProblem', { key }, 204);
  expect(await door.expect('listAttention', {}, 200)).toMatchObject({
    items: [{ key, assignee: null, snooze: null }],
    snoozed: [],
  });
});

test.each([
  ['PUT', 'assignee', {}, '/memberId', 'field_missing'],
  ['PUT', 'assignee', { memberId: 'no-member' }, '/memberId', 'member_unknown'],
  ['PUT', 'snooze', { until: '2020-01-01T00:00:00Z' }, '/until', 'snooze_until_past'],
  ['PUT', 'snooze', { until: '2999-01-01T00:00:00Z' }, '/until', 'snooze_until_far'],
  ['PUT', 'snooze', { forever: true }, '/forever', 'field_unknown'],
] as const)('%s %s rejects %j', async (method, what, body, path, code) => {
  const answer = await door.call(method, `/attention/${key}/${what}`, { body });
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ path, code }] } });
});

test('a problem that no VM has is not found', async () => {
  const gone = '0'.repeat(32);
  await door.expect('listAttentionVms', { key: gone }, 404);
  await door.expect('snoozeProblem', { key: gone }, 404, { body: {} });
  await door.expect('unassignProblem', { key: gone }, 404);
});
