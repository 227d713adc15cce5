import { eq, sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { fleetCounts, healthChecks, vmHealth } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { checkCounts, foldCounts, foldHealth, readCountCheck, readFleetCounts } from './index.ts';

let services: Services;
const now = new Date();

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
});

test('counts are always right, before and after folding, and the check finds no difference', async () => {
  const given = await Promise.all(Array.from({ length: 6 }, () => givenVm(services, 'counted')));
  for (const vm of given) await vm.declare('probe');
  const [first, second] = given as [GivenVm, GivenVm];
  expect(await readFleetCounts(services.db)).toEqual({ extensions: 0 });
  await Promise.all([foldHealth(services, now), foldHealth(services, now)]);
  expect(await readFleetCounts(services.db)).toEqual({ unknown: 6, extensions: 6 });
  expect(await foldCounts(services)).toBeGreaterThan(0);
  await services.db.execute(sql`insert into agent_presence (vm_id, last_seen_at, next_expected_at)
    values (${first.vmId}, ${now.toISOString()}, ${now.toISOString()})`);
  await services.db.update(healthChecks).set({ dueAt: now }).where(eq(healthChecks.vmId, first.vmId));
  await foldHealth(services, now);
  expect(await readFleetCounts(services.db)).toEqual({ progressing: 1, unknown: 5, extensions: 6 });
  await removeExtension(await testContext({ services }), { vmId: first.vmId, name: 'probe', force: true });
  await removeVm(await testContext({ services }), { vmId: second.vmId, decommission: false });
  await foldHealth(services, now);
  expect(await readFleetCounts(services.db)).toMatchObject({ healthy: 1, progressing: 0, unknown: 4, extensions: 4 });
  await foldCounts(services);
  expect(await foldCounts(services)).toBe(0);
  expect(await checkCounts(services, now)).toEqual({});
  expect(await readCountCheck(services.db)).toEqual({ checkedAt: now.toISOString(), disagreedAt: null });
});

test('wrong counts are logged and corrected, even while VMs change', async () => {
  await services.db.update(fleetCounts).set({ n: 1_000 }).where(eq(fleetCounts.what, 'unknown'));
  await services.db.delete(fleetCounts).where(eq(fleetCounts.what, 'extensions'));
  const [{ n } = { n: 0 }] = (
    await services.db.execute<{ n: number }>(sql`select count(*)::int as n from vm_health where health = 'unknown'`)
  ).rows;
  const late = await givenVm(services, 'counted');
  const [difference] = await Promise.all([checkCounts(services, now), foldHealth(services, now)]);
  expect(difference).toMatchObject({ extensions: 4, unknown: expect.any(Number) });
  expect(await readFleetCounts(services.db)).toMatchObject({ unknown: n + 1, extensions: 4 });
  expect(await readCountCheck(services.db)).toMatchObject({ disagreedAt: now.toISOString() });
  expect(await services.db.select().from(vmHealth).where(eq(vmHealth.vmId, late.vmId))).toHaveLength(1);
  expect(await checkCounts(services, now)).toEqual({});
});
