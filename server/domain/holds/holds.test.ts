import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, goalStateHeads, holds } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { listAgentNews, registerVm } from '#server/domain/enrollment/index.ts';
import { fetchGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import { getInstanceView, readFleetRows } from '#server/domain/views/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { endHolds, holdVm, readHold, releaseHold } from './index.ts';

let ctx: Context;
let count = 0;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices() });
  await givenVersion(ctx.db);
});

const newVm = async () => {
  count += 1;
  return (await registerVm(ctx, { name: `held-${count}` })).id;
};
const after = (seconds: number): Context => ({ ...ctx, now: new Date(ctx.now.getTime() + seconds * 1000) });
const inSeconds = (seconds: number) => after(seconds).now.toISOString();
const portal = (seconds: number): Context => ({ ...after(seconds), actor: systemActor, origin: systemOrigin });
const bob = (): Context => ({ ...ctx, actor: { ...ctx.actor, id: 'bob', name: 'Bob' } });
const reason = 'Patch window';
const declare = (vmId: string, word = 'a') =>
  setExtension(ctx, {
    vmId,
    name: 'probe',
    goal: { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', settings: { publicSettings: { word } } },
  });
const actsOf = async (vmId: string) => {
  const rows = await readActs(ctx.db, eq(auditEntries.vmId, vmId));
  return rows.filter(({ action }) => action.startsWith('hold.'));
};
const fetchedBy = async (vmId: string) => {
  const fetched = await fetchGoalState(ctx.db, vmId, ctx.now);
  return JSON.parse(fetched?.text ?? '{}') as { incarnation: number; extensions: { name: string }[] };
};

test('a hold has a reason, an author, a start and an end; it is recorded, and pages are notified', async () => {
  const vmId = await newVm();
  const { rows } = await ctx.db.$client.query<{ id: string }>('select coalesce(max(id), 0) as id from changes');
  const held = await holdVm(ctx, { vmId, reason: `  ${reason} `, until: inSeconds(3_600) });
  const hold = { reason, heldBy: 'Test operator', heldAt: ctx.now.toISOString(), until: inSeconds(3_600) };
  expect(held).toEqual({ vmId, hold, incarnation: 1 });
  expect(await readHold(ctx.db, vmId)).toEqual(hold);
  expect(await actsOf(vmId)).toMatchObject([
    { action: 'hold.set', actorName: 'Test operator', details: { reason, until: inSeconds(3_600) } },
  ]);
  const news = await ctx.db.select().from(changes).where(eq(changes.key, vmId));
  expect(news.filter(({ id }) => id > Number(rows[0]?.id))).toMatchObject([{ topic: 'vm' }]);
});

test('setting it again changes the reason and the end but not the start; an identical request changes nothing', async () => {
  const vmId = await newVm();
  await holdVm(ctx, { vmId, reason });
  const later = { ...bob(), now: after(60).now };
  const changed = await holdVm(later, { vmId, reason: 'Storage move', until: inSeconds(120) });
  expect(changed.hold).toEqual({
    ...{ reason: 'Storage move', heldBy: 'Bob' },
    ...{ heldAt: ctx.now.toISOString(), until: inSeconds(120) },
  });
  expect(await holdVm(after(90), { vmId, reason: 'Storage move', until: inSeconds(120) })).toEqual(changed);
  expect((await actsOf(vmId)).map(({ action, before }) => [action, before])).toEqual([
    ['hold.set', null],
    ['hold.change', { reason, until: null }],
  ]);
  expect((await holdVm(after(95), { vmId, reason: 'Storage move' })).hold?.until).toBeNull();
});

test('a release ends it and is recorded; releasing a VM that is not held changes nothing', async () => {
  const vmId = await newVm();
  await holdVm(ctx, { vmId, reason });
  expect(await releaseHold(after(30), { vmId })).toEqual({ vmId, hold: null, incarnation: 1 });
  expect(await releaseHold(after(31), { vmId })).toEqual({ vmId, hold: null, incarnation: 1 });
  expect((await actsOf(vmId)).map(({ action }) => action)).toEqual(['hold.set', 'hold.release']);
  const [row] = await ctx.db.select().from(holds).where(eq(holds.vmId, vmId));
  expect(row).toMatchObject({ since: null, reason: null, past: [[ctx.now.toISOString(), inSeconds(30)]] });
});

describe('input', () => {
  test.each([
    ['no reason', {}, '/reason', 'field_missing'],
    ['an empty reason', { reason: ' ' }, '/reason', 'field_empty'],
    ['a reason of 501 characters', { reason: 'r'.repeat(501) }, '/reason', 'field_too_long'],
    ['a line break', { reason: 'one\ntwo' }, '/reason', 'text_control'],
    ['an escape character', { reason: 'one\u001b[31m' }, '/reason', 'text_control'],
    ['a change of direction', { reason: 'one\u202etwo' }, '/reason', 'text_direction'],
    ['an end that is not a time', { reason, until: 'soon' }, '/until', 'field_format'],
    ['an end in the past', { reason, until: '2020-01-01T00:00:00Z' }, '/until', 'hold_until_past'],
    ['an end that is now', { reason, until: 0 }, '/until', 'hold_until_past'],
    ['an end in more than a year', { reason, until: 365 * 86_400 + 1 }, '/until', 'hold_until_far'],
  ])('rejects %s', async (_, { until, ...given }: { reason?: string; until?: string | number }, path, code) => {
    const vmId = await newVm();
    const end = typeof until === 'number' ? inSeconds(until) : until;
    const input = { vmId, ...given, ...(end !== undefined && { until: end }) } as Parameters<typeof holdVm>[1];
    await expect(holdVm(ctx, input)).rejects.toMatchObject({ kind: 'unprocessable', faults: [{ path, code }] });
    expect(await readHold(ctx.db, vmId)).toBeNull();
  });

  test.each([
    ['500 characters', { reason: 'r'.repeat(500) }, null],
    ['a year', { reason, until: 365 * 86_400 }, 365 * 86_400],
    ['a second', { reason, until: 1 }, 1],
  ])('accepts %s', async (_, { until, ...given }: { reason: string; until?: number }, end) => {
    const vmId = await newVm();
    const { hold } = await holdVm(ctx, { vmId, ...given, until: until === undefined ? null : inSeconds(until) });
    expect(hold?.until).toBe(end === null ? null : inSeconds(end));
    await releaseHold(ctx, { vmId });
  });

  test('an end with another offset is the same moment', async () => {
    const vmId = await newVm();
    const local = inSeconds(7_200).replace('Z', '+00:00');
    expect((await holdVm(ctx, { vmId, reason, until: local })).hold?.until).toBe(inSeconds(7_200));
  });

  test.each(['viewer', 'publisher', null] as const)('%s may neither hold nor release', async (role) => {
    const vmId = await newVm();
    const other = await testContext({ role, services: ctx });
    const kind = role === null ? 'unauthenticated' : 'forbidden';
    await expect(holdVm(other, { vmId, reason })).rejects.toMatchObject({ kind });
    await expect(releaseHold(other, { vmId })).rejects.toMatchObject({ kind });
  });

  test('rejects an outdated incarnation with 412, and an unknown or deleted VM with 404', async () => {
    const vmId = await newVm();
    const moved = { kind: 'precondition_failed', code: 'goal_state_moved_on' };
    await expect(holdVm(ctx, { vmId, reason, ifMatch: 7 })).rejects.toMatchObject(moved);
    await expect(releaseHold(ctx, { vmId, ifMatch: 7 })).rejects.toMatchObject(moved);
    expect((await holdVm(ctx, { vmId, reason, ifMatch: 1 })).hold).not.toBeNull();
    await removeVm(ctx, { vmId });
    for (const id of [vmId, '00000000-0000-4000-8000-000000000000']) {
      await expect(holdVm(ctx, { vmId: id, reason })).rejects.toMatchObject({ code: 'vm_unknown' });
      await expect(releaseHold(ctx, { vmId: id })).rejects.toMatchObject({ code: 'vm_unknown' });
    }
    expect(await ctx.db.select().from(holds).where(eq(holds.vmId, vmId)), 'a deletion ends the hold').toEqual([]);
  });
});

describe('delivery', () => {
  test('a held VM gets what it has, and what was declared meanwhile after the release', async () => {
    const vmId = await newVm();
    await declare(vmId);
    expect((await fetchedBy(vmId)).incarnation).toBe(2);
    await holdVm(ctx, { vmId, reason });
    const { incarnation } = await declare(vmId, 'b');
    expect(incarnation).toBe(3);
    expect((await fetchedBy(vmId)).incarnation).toBe(2);
    const [head] = await ctx.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
    expect(head).toMatchObject({ incarnation: 3, deliveredIncarnation: 2 });
    await releaseHold(ctx, { vmId });
    expect((await fetchedBy(vmId)).incarnation).toBe(3);
  });

  test('a VM that had nothing gets the empty goal state', async () => {
    const vmId = await newVm();
    await declare(vmId);
    await holdVm(ctx, { vmId, reason });
    expect(await fetchedBy(vmId)).toMatchObject({ protocol: 1, vmId, incarnation: 1, extensions: [] });
    await releaseHold(ctx, { vmId });
    expect(await fetchedBy(vmId)).toMatchObject({ incarnation: 2, extensions: [{ name: 'probe' }] });
  });

  test('a fetch and a hold at the same time: the VM keeps what was delivered last', async () => {
    for (let round = 0; round < 15; round += 1) {
      const vmId = await newVm();
      await declare(vmId);
      const [fetched] = await Promise.all([fetchedBy(vmId), holdVm(ctx, { vmId, reason })]);
      await declare(vmId, 'b');
      expect((await fetchedBy(vmId)).incarnation).toBe(fetched.incarnation);
    }
  });
});

test('a gateway that missed the wake-up finds holds and releases, with the goal state for the agent', async () => {
  const vmId = await newVm();
  await declare(vmId);
  const etag = async (since: Date) =>
    (await listAgentNews(ctx.db, since)).filter((news) => news.vmId === vmId).map((news) => news.etag);
  const given = (await fetchGoalState(ctx.db, vmId, ctx.now))?.etag ?? '';
  const [held, released] = [after(1_000), after(2_000)];
  await holdVm(held, { vmId, reason });
  const declared = await declare(vmId, 'b');
  expect(await etag(held.now)).toEqual([given]);
  await releaseHold(released, { vmId });
  expect(await etag(released.now)).toEqual([`"test.${declared.incarnation}"`]);
});

test('a deadline is paused during a hold and moves by its length, on the page and in the list', async () => {
  const vmId = await newVm();
  await declare(vmId);
  await fetchGoalState(ctx.db, vmId, ctx.now);
  const shownAt = async (seconds: number) => {
    const view = await getInstanceView(after(seconds), { vmId });
    const { items } = await readFleetRows(after(seconds), { vmIds: [vmId] });
    expect(items[0]?.extensions[0]?.health).toBe(view.extensions[0]?.health);
    return view.extensions[0]?.deadlineAt ?? null;
  };
  const before = Date.parse((await shownAt(1)) ?? '');
  await holdVm(after(100), { vmId, reason });
  expect([await shownAt(101), await shownAt(90_000)]).toEqual([null, null]);
  await releaseHold(after(90_000), { vmId });
  const moved = before + 89_900_000;
  expect(Date.parse((await shownAt(90_001)) ?? '')).toBe(moved);
  await holdVm(after(90_010), { vmId, reason });
  await releaseHold(after(90_020), { vmId });
  expect(Date.parse((await shownAt(90_021)) ?? '')).toBe(moved + 10_000);
});

describe('the end', () => {
  test('the portal ends expired holds, and no other holds', async () => {
    const [due, open, later] = [await newVm(), await newVm(), await newVm()];
    await holdVm(ctx, { vmId: due, reason, until: inSeconds(60) });
    await holdVm(ctx, { vmId: open, reason });
    await holdVm(ctx, { vmId: later, reason, until: inSeconds(61) });
    expect(await endHolds(portal(59))).toBe(0);
    expect(await endHolds(portal(60))).toBe(1);
    expect(await endHolds(portal(60))).toBe(0);
    expect(await readHold(ctx.db, due)).toBeNull();
    expect([await readHold(ctx.db, open), await readHold(ctx.db, later)]).not.toContain(null);
    expect((await actsOf(due)).at(-1)).toMatchObject({ action: 'hold.end', actorKind: 'system', door: 'system' });
    await releaseHold(ctx, { vmId: later });
  });

  test('the portal and a person at the same time: only one of them ends the hold', async () => {
    for (let round = 0; round < 10; round += 1) {
      const vmId = await newVm();
      await holdVm(ctx, { vmId, reason, until: inSeconds(1) });
      await Promise.all([endHolds(portal(2)), endHolds(portal(2)), releaseHold(after(2), { vmId })]);
      expect(await readHold(ctx.db, vmId)).toBeNull();
      expect((await actsOf(vmId)).slice(1)).toHaveLength(1);
    }
  });

  test('a person extends the hold just as it ends: it ends and a new hold begins, or it continues', async () => {
    for (let round = 0; round < 10; round += 1) {
      const vmId = await newVm();
      await holdVm(ctx, { vmId, reason, until: inSeconds(1) });
      await Promise.all([endHolds(portal(2)), holdVm(after(2), { vmId, reason, until: inSeconds(100) })]);
      const acts = (await actsOf(vmId)).map(({ action }) => action);
      expect([
        ['hold.set', 'hold.change'],
        ['hold.set', 'hold.end', 'hold.set'],
      ]).toContainEqual(acts);
      expect((await readHold(ctx.db, vmId))?.until).toBe(inSeconds(100));
      await releaseHold(after(3), { vmId });
    }
  });

  longTest('the newest 50 past holds are kept', async () => {
    const vmId = await newVm();
    for (let at = 0; at < 52; at += 1) {
      await holdVm(after(2 * at), { vmId, reason });
      await releaseHold(after(2 * at + 1), { vmId });
    }
    const [row] = await ctx.db.select().from(holds).where(eq(holds.vmId, vmId));
    expect(row?.past).toHaveLength(50);
    expect(row?.past.at(-1)).toEqual([inSeconds(102), inSeconds(103)]);
  });
});
