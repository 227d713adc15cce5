import { eq, inArray, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, vms } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { grantWireAccess } from '#server/domain/stock-agents/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { endHolds, holdOf, holdVm, readHold, releaseHold } from './index.ts';

const now = new Date('2030-01-01T10:00:00Z');
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const reason = 'Patch window';

let services: Services;
let operator: Context;
let portal: Context;
beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  operator = await testContext({ services, role: 'operator', now });
  portal = { ...operator, actor: systemActor, origin: systemOrigin };
});

const heldUntil = async (seconds: number) => {
  const { vmId } = await givenVm(services);
  await holdVm(operator, { vmId, reason, until: inSeconds(seconds).toISOString() });
  return vmId;
};
const endedOf = async (...vmIds: string[]) => {
  const rows = await readActs(services.db, inArray(auditEntries.vmId, vmIds));
  return rows.filter(({ action }) => action === 'hold.end').map(({ vmId }) => vmId);
};

describe('the end of holds', () => {
  test('comes in the order of their end times', async () => {
    const [last, first, second] = [await heldUntil(30), await heldUntil(10), await heldUntil(20)];
    expect(await endHolds({ ...portal, now: inSeconds(60) })).toBe(3);
    expect(await endedOf(last, first, second)).toEqual([first, second, last]);
  });

  test('of a VM that was deleted meanwhile does not count, and is not an error', async () => {
    const [deleted, other] = [await heldUntil(10), await heldUntil(20)];
    await services.db.update(vms).set({ deletedAt: now }).where(eq(vms.id, deleted));
    const errors: unknown[] = [];
    const log = Object.assign(Object.create(portal.log), { error: (fields: unknown) => errors.push(fields) });
    expect(await endHolds({ ...portal, log, now: inSeconds(60) })).toBe(1);
    expect(await endedOf(deleted, other)).toEqual([other]);
    expect(errors).toEqual([]);
  });

  test('that fails does not delay other holds, is logged, and is tried again', async () => {
    const [broken, other] = [await heldUntil(10), await heldUntil(20)];
    await services.db.execute(
      sql.raw(`
      create function fail_hold() returns trigger language plpgsql as $$ begin raise exception 'disk full'; end $$;
      create trigger fail_hold before update on holds for each row when (old.vm_id = '${broken}')
        execute function fail_hold();`),
    );
    const errors: unknown[] = [];
    const log = Object.assign(Object.create(portal.log), { error: (fields: unknown) => errors.push(fields) });
    const later = { ...portal, log, now: inSeconds(60) };
    expect(await endHolds(later)).toBe(1);
    expect(await endedOf(broken, other)).toEqual([other]);
    expect(errors).toMatchObject([{ vmId: broken }]);
    await services.db.execute(sql.raw('drop trigger fail_hold on holds'));
    expect(await endHolds(later)).toBe(1);
    expect(await readHold(services.db, broken)).toBeNull();
  });
});

test.each<[kind: string, newGoalStates: number]>([
  ['reference', 0],
  // A stock agent notices a hold only with a new goal state.
  ['stock', 1],
])('a %s agent gets %i new goal states with a hold, and as many with its release', async (kind, newGoalStates) => {
  const { vmId } = await givenVm(services);
  if (kind === 'stock') await grantWireAccess(operator, { vmId });
  const changesOf = () => services.db.$count(changes, eq(changes.key, vmId));
  const { incarnation } = await releaseHold(operator, { vmId });
  const before = await changesOf();
  const held = await holdVm(operator, { vmId, reason });
  expect(held.incarnation).toBe(incarnation + newGoalStates);
  const shownChanges = await changesOf();
  expect(shownChanges, 'pages show the hold').toBeGreaterThan(before);
  const changed = await holdVm(operator, { vmId, reason: 'Storage move' });
  expect(changed.incarnation, 'a changed reason is for people').toBe(held.incarnation);
  expect(await changesOf()).toBeGreaterThan(shownChanges);
  expect((await releaseHold(operator, { vmId })).incarnation).toBe(held.incarnation + newGoalStates);
});

const row = { since: now, reason, by: 'Ada', until: inSeconds(1) };
test.each<[what: string, stored: Parameters<typeof holdOf>[0], hold: object | null]>([
  ['no row', undefined, null],
  ['no row of a join', null, null],
  ['a row of a hold that is over', { since: null, reason: null, by: null, until: null }, null],
  ['a hold', row, { heldAt: now.toISOString(), reason, heldBy: 'Ada', until: inSeconds(1).toISOString() }],
  ['a hold without an end', { ...row, until: null }, { heldAt: now.toISOString(), reason, heldBy: 'Ada', until: null }],
  ['a hold without a reason', { ...row, reason: null }, expect.objectContaining({ reason: null })],
])('%s is read as it is', (_, stored, hold) => {
  expect(holdOf(stored)).toEqual(hold);
});
