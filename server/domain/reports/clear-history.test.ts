import { sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { clearHistory } from './clear-history.ts';

let services: Services;

beforeAll(async () => {
  const limits = { ...defaultLimits, vm: { ...defaultLimits.vm, historyBytes: 100_000 } };
  services = await testServices({ config: { limits } });
});

/** Writes documents that do not compress, one minute apart. */
const write = (vmId: string, count: number) =>
  services.db.execute(sql`
    insert into report_history (vm_id, at, kind, extension, current, document)
    select ${vmId}::uuid, now() - n * interval '1 minute', 'handler', 'probe', true, json_build_object('n', n, 'x',
      (select string_agg(md5(random()::text || g), '') from generate_series(1, 300) g))
      from generate_series(1, ${count}::int) n`);
const kept = async (vmId: string) =>
  (
    await services.db.execute<{ n: number }>(
      sql`select (document ->> 'n')::int as n from report_history where vm_id = ${vmId} order by at desc`,
    )
  ).rows.map(({ n }) => n);

test("deletes the oldest reports of a VM above its limit, and shows it on the VM's page", async () => {
  const [loud, calm] = await Promise.all([givenVm(services, 'loud'), givenVm(services, 'calm')]);
  await write(loud.vmId, 60);
  await write(calm.vmId, 5);
  const gone = await clearHistory(services, new Date());
  expect(gone).toBeGreaterThan(20);
  const left = await kept(loud.vmId);
  expect(left).toEqual(Array.from({ length: 60 - gone }, (_, index) => index + 1));
  expect(await kept(calm.vmId)).toHaveLength(5);
  const shown = async (vmId: string) =>
    (await getInstanceView(await testContext({ services }), { vmId })).agent.refusals;
  const { rows } = await services.db.execute<{ at: string }>(sql`
    select to_char(min(at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from report_history
     where vm_id = ${loud.vmId}`);
  expect(await shown(loud.vmId)).toEqual([
    { code: 'history_cleared', at: expect.any(String), limitBytes: 100_000, keptFrom: rows[0]?.at },
  ]);
  expect(await shown(calm.vmId)).toEqual([]);
  expect(await clearHistory(services, new Date()), 'there is nothing left to do').toBe(0);
});
