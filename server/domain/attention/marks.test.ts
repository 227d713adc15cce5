import { eq } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import { attentionMarks, auditEntries, users } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import {
  assignProblem,
  currentMark,
  endSnoozes,
  listAssignees,
  readMarks,
  readProblems,
  snoozeProblem,
  unassignProblem,
  unsnoozeProblem,
} from './index.ts';
import { exit51, type GivenVms, insertVms, recover } from './testing/insert-vms.ts';

const now = new Date('2026-03-04T12:00:00Z');
const inMinutes = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000);
const failing: GivenVms = { name: 'a', count: 2, health: 'failed', extension: exit51 };

let ctx: Context;
let key: string;
beforeEach(async () => {
  ctx = await testContext({ role: 'operator', now });
  await insertVms(ctx.db, now, [failing]);
  key = (await readProblems(ctx.db)).items[0]?.key ?? '';
});

const givenMember = async (id: string, role: Role): Promise<string> => {
  await ctx.db.insert(users).values({ id, name: `Member ${id}`, email: `${id}@example.net`, role });
  return id;
};
const at = (minutes: number): Context => ({ ...ctx, now: inMinutes(minutes) });
const portal = (minutes: number): Context => ({ ...at(minutes), actor: systemActor, origin: systemOrigin });
/** Returns the mark as readers see it this many minutes later. */
const markAt = async (minutes: number) => {
  const [problem] = (await readProblems(ctx.db, [key])).items;
  const [stored] = await readMarks(ctx.db, [key]);
  return problem && currentMark(stored, problem, inMinutes(minutes));
};
const acts = async () => {
  const rows = await readActs(ctx.db, eq(auditEntries.targetId, key));
  return rows.map(({ action, details, actorKind }) => [action, details, actorKind]);
};

test('a problem is assigned, reassigned and unassigned; the last write wins, and its author is recorded', async () => {
  await givenMember('ada', 'operator');
  await givenMember('bob', 'admin');
  await assignProblem(ctx, { key, memberId: 'ada' });
  const other = await testContext({ services: ctx, role: 'admin', now: inMinutes(1) });
  expect(await assignProblem(other, { key, memberId: 'bob' })).toEqual({
    assignee: { id: 'bob', name: 'Member bob', by: 'Test admin', at: inMinutes(1).toISOString() },
    snooze: null,
  });
  expect(await unassignProblem(ctx, { key })).toEqual({ assignee: null, snooze: null });
  expect(await unassignProblem(ctx, { key })).toEqual({ assignee: null, snooze: null });
  const name = 'Acme.Lab.Mount enable 51';
  expect(await acts()).toEqual([
    ['attention.assign', { name, to: 'Member ada' }, 'user'],
    ['attention.assign', { name, to: 'Member bob' }, 'user'],
    ['attention.unassign', { name, from: 'Member bob' }, 'user'],
  ]);
});

test('only operators and admins can be assigned, and they are listed by name', async () => {
  for (const [id, role] of [
    ['zoe', 'operator'],
    ['ada', 'admin'],
    ['eve', 'viewer'],
    ['pub', 'publisher'],
  ] as const) {
    await givenMember(id, role);
  }
  expect((await listAssignees(ctx)).items.map(({ id }) => id)).toEqual(['ada', 'zoe']);
  const assign = (memberId: string) => assignProblem(ctx, { key, memberId });
  await expect(assign('eve')).rejects.toMatchObject({ faults: [{ path: '/memberId', code: 'assignee_role' }] });
  await expect(assign('no-member')).rejects.toMatchObject({ faults: [{ path: '/memberId', code: 'member_unknown' }] });
});

test('a removed member is no longer an assignee', async () => {
  await givenMember('ada', 'operator');
  await assignProblem(ctx, { key, memberId: 'ada' });
  await ctx.db.delete(users).where(eq(users.id, 'ada'));
  expect(await markAt(1)).toEqual({ assignee: null, snooze: null });
});

test('a snooze with an end time ends then, and the activity log records it', async () => {
  const until = inMinutes(60).toISOString();
  const { snooze } = await snoozeProblem(ctx, { key, until });
  expect(snooze).toEqual({ until, by: 'Test operator', at: now.toISOString(), vms: 2 });
  await insertVms(ctx.db, now, [{ ...failing, name: 'more' }]);
  expect((await markAt(59))?.snooze).toEqual(snooze);
  expect(await endSnoozes(portal(59))).toBe(0);
  expect((await markAt(60))?.snooze).toBeNull();
  expect(await endSnoozes(portal(60))).toBe(1);
  expect(await endSnoozes(portal(61))).toBe(0);
  expect((await acts()).map(([action, , by]) => [action, by])).toEqual([
    ['attention.snooze', 'user'],
    ['attention.wake', 'system'],
  ]);
});

test.each<[string, GivenVms | null, boolean]>([
  ['nothing changes', null, true],
  ['another problem appears', { ...failing, name: 'b', extension: { ...exit51, exitCode: 3 } }, true],
  ['another VM gets the problem', { ...failing, name: 'b', count: 1 }, false],
])('an open-ended snooze: %s', async (_, added, isSnoozed) => {
  await snoozeProblem(ctx, { key });
  if (added) await insertVms(ctx.db, now, [added]);
  expect((await markAt(10_000))?.snooze !== null).toBe(isSnoozed);
  expect(await endSnoozes(portal(10_000))).toBe(isSnoozed ? 0 : 1);
});

test('an open-ended snooze ends when a VM has another version, but not when a VM recovers', async () => {
  await snoozeProblem(ctx, { key, until: null });
  await recover(ctx.db, 'a-1');
  expect((await markAt(1))?.snooze).toMatchObject({ vms: 2 });
  await insertVms(ctx.db, now, [{ ...failing, name: 'b', count: 1, extension: { ...exit51, version: '2.0.0.0' } }]);
  expect((await markAt(1))?.snooze).toBeNull();
});

test('people can change and end a snooze', async () => {
  await snoozeProblem(ctx, { key, until: inMinutes(60).toISOString() });
  await snoozeProblem(at(1), { key, until: inMinutes(90).toISOString() });
  expect((await markAt(80))?.snooze).toMatchObject({ until: inMinutes(90).toISOString() });
  expect(await unsnoozeProblem(ctx, { key })).toEqual({ assignee: null, snooze: null });
  expect(await unsnoozeProblem(ctx, { key })).toEqual({ assignee: null, snooze: null });
  expect((await acts()).map(([action]) => action)).toEqual([
    'attention.snooze',
    'attention.snooze',
    'attention.unsnooze',
  ]);
});

test.each([
  [inMinutes(0).toISOString(), 'snooze_until_past'],
  [inMinutes(91 * 24 * 60).toISOString(), 'snooze_until_far'],
])('a snooze cannot end at %s', async (until, code) => {
  await expect(snoozeProblem(ctx, { key, until })).rejects.toMatchObject({ faults: [{ path: '/until', code }] });
});

test('the mark of a problem that is gone is kept for a day, and applies again if the problem comes back', async () => {
  await givenMember('ada', 'operator');
  await assignProblem(ctx, { key, memberId: 'ada' });
  await recover(ctx.db, 'a');
  await expect(assignProblem(ctx, { key, memberId: 'ada' })).rejects.toMatchObject({ code: 'problem_unknown' });
  await endSnoozes(portal(0));
  await insertVms(ctx.db, now, [{ ...failing, name: 'again' }]);
  await endSnoozes(portal(60));
  expect((await markAt(60))?.assignee).toMatchObject({ id: 'ada' });
  await recover(ctx.db, 'again');
  await endSnoozes(portal(120));
  await endSnoozes(portal(120 + 24 * 60));
  expect(await ctx.db.$count(attentionMarks)).toBe(1);
  await endSnoozes(portal(121 + 24 * 60));
  expect(await ctx.db.$count(attentionMarks)).toBe(0);
});

test('viewers and publishers see problems, but only operators can act on them', async () => {
  for (const role of ['viewer', 'publisher'] as const) {
    const reader = await testContext({ services: ctx, role });
    for (const act of [unassignProblem, unsnoozeProblem, snoozeProblem]) {
      await expect(act(reader, { key })).rejects.toMatchObject({ kind: 'forbidden' });
    }
    await expect(assignProblem(reader, { key, memberId: 'ada' })).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(listAssignees(reader)).rejects.toMatchObject({ kind: 'forbidden' });
  }
});

test('concurrent assignments and snoozes of a problem are all kept', async () => {
  await givenMember('ada', 'operator');
  await Promise.all([
    ...Array.from({ length: 5 }, () => assignProblem(ctx, { key, memberId: 'ada' })),
    ...Array.from({ length: 5 }, () => snoozeProblem(ctx, { key })),
  ]);
  expect(await markAt(0)).toMatchObject({ assignee: { id: 'ada' }, snooze: { vms: 2 } });
});

test('the activity log has the assignee and the end of the snooze before and after each act', async () => {
  await givenMember('ada', 'operator');
  const until = inMinutes(60).toISOString();
  await assignProblem(ctx, { key, memberId: 'ada' });
  await snoozeProblem(ctx, { key, until });
  await snoozeProblem(ctx, { key });
  const rows = await readActs(ctx.db, eq(auditEntries.targetId, key));
  const assignee = 'Member ada';
  expect(rows.map(({ before, after }) => [before, after])).toEqual([
    [null, { assignee, snooze: null }],
    [
      { assignee, snooze: null },
      { assignee, snooze: until },
    ],
    [
      { assignee, snooze: until },
      { assignee, snooze: 'change' },
    ],
  ]);
  expect(rows.every(({ targetKind }) => targetKind === 'problem')).toBe(true);
});

test.each([
  ['a short key', { key: 'abc' }, '/key'],
  ['no key', {}, '/key'],
  ['a day without a time', { until: '2026-03-05' }, '/until'],
])('a snooze with %s is rejected', async (_, given, path) => {
  const input = { ...(path === '/key' ? {} : { key }), ...given } as Parameters<typeof snoozeProblem>[1];
  await expect(snoozeProblem(ctx, input)).rejects.toMatchObject({ code: 'invalid', faults: [{ path }] });
});

test('the snooze of a problem that is gone ends only when the problem is back', async () => {
  await snoozeProblem(ctx, { key, until: inMinutes(10).toISOString() });
  await recover(ctx.db, 'a');
  expect(await endSnoozes(portal(20))).toBe(0);
  await insertVms(ctx.db, now, [{ ...failing, name: 'again' }]);
  expect(await endSnoozes(portal(30))).toBe(1);
  expect(await ctx.db.$count(attentionMarks)).toBe(0);
});

test('a problem that was snoozed again in the meantime remains snoozed', async () => {
  await snoozeProblem(ctx, { key, until: inMinutes(10).toISOString() });
  await Promise.all([endSnoozes(portal(20)), snoozeProblem(at(20), { key, until: inMinutes(90).toISOString() })]);
  await snoozeProblem(at(21), { key, until: inMinutes(90).toISOString() });
  expect(await endSnoozes(portal(22))).toBe(0);
  expect((await markAt(22))?.snooze).toMatchObject({ until: inMinutes(90).toISOString() });
});
