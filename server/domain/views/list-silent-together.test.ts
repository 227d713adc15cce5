import { beforeAll, expect, test } from 'vitest';
import { agentPresence, vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { testContext } from '#server/testing/context.ts';
import { listSilentTogether } from './index.ts';

let ctx: Context;
let viewer: Context;
const silentAt = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(silentAt.getTime() + seconds * 1000);

beforeAll(async () => {
  ctx = await testContext();
  viewer = await testContext({ services: ctx, role: 'viewer' });
});

async function given(name: string, lastSeenAt: Date, health: 'unresponsive' | 'healthy' = 'unresponsive') {
  const { id: vmId } = await registerVm(ctx, { name });
  await ctx.db.insert(agentPresence).values({ vmId, lastSeenAt, nextExpectedAt: lastSeenAt });
  const row = { vmId, name, tags: {}, health, rank: 0, agent: 'unresponsive' as const, since: ctx.now };
  await ctx.db.insert(vmHealth).values(row).onConflictDoUpdate({ target: vmHealth.vmId, set: row });
  return vmId;
}

test('lists the VMs whose agents became unresponsive within the same minute, and counts all of them', async () => {
  const vmId = await given('rack-0', silentAt);
  expect(await listSilentTogether(viewer, { vmId })).toEqual({ total: 0, items: [] });
  for (let index = 7; index > 0; index--) await given(`rack-${index}`, after(index % 2 ? 60 : -60));
  await given('earlier', after(-61));
  await given('later', after(61));
  await given('alive', silentAt, 'healthy');
  const { total, items } = await listSilentTogether(viewer, { vmId });
  expect(total).toBe(7);
  expect(items.map(({ name }) => name)).toEqual(['rack-1', 'rack-2', 'rack-3', 'rack-4', 'rack-5']);
});

test('for a VM whose agent has never called, no other VMs are listed', async () => {
  const { id: vmId } = await registerVm(ctx, { name: 'never' });
  expect(await listSilentTogether(viewer, { vmId })).toEqual({ total: 0, items: [] });
});
