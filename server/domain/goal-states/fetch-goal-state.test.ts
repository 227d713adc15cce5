import { eq, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { goalStateHeads } from '#db/schema/index.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { fetchGoalState } from './fetch-goal-state.ts';

test('a goal state published during a fetch does not count as delivered before it is sent', async () => {
  const { db, ...services } = await testServices();
  await givenVersion(db);
  const vm = await givenVm({ ...services, db });
  await vm.declare('probe');
  // Fails the transaction that follows the first statement and would deliver the newer goal state.
  const failing: Database = Object.create(db, {
    transaction: { value: () => Promise.reject(new Error('the database is away')) },
  });
  const now = new Date();
  let fetching: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await tx.execute(sql`update goal_state_heads set incarnation = incarnation + 1 where vm_id = ${vm.vmId}`);
    fetching = expect(fetchGoalState(failing, vm.vmId, now)).rejects.toThrow('away');
    const waiting = sql`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await db.execute(waiting)).rows).toEqual([{ n: 1 }]);
  });
  await fetching;
  const headOf = async () => (await db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vm.vmId)))[0];
  const before = await headOf();
  expect(before?.deliveredIncarnation).not.toBe(before?.incarnation);
  expect(await fetchGoalState(db, vm.vmId, now)).toMatchObject({ etag: before?.etag });
  expect(await headOf()).toMatchObject({ deliveredIncarnation: before?.incarnation });
});
