import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AgentOs, agents, extensionHealth, extensions, vmHealth } from '#db/schema/index.ts';
import { platformOf, supportsPlatform } from '#protocol/platform.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { listFleetFacets } from '#server/domain/fleet/index.ts';
import { planExtension, setExtension } from '#server/domain/goal-states/index.ts';
import { withdrawVersion } from '#server/domain/packages/index.ts';
import { rankOf } from '#server/domain/verdicts/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { findAvailableUpdates } from './available-updates.ts';
import { getInstanceView, listFleet, readFleetRows } from './index.ts';

let ctx: Context;
let count = 0;
beforeAll(async () => {
  ctx = await testContext({ services: await testServices() });
});

const debian = { name: 'Debian GNU/Linux', version: '12', arch: 'x64' };

async function newVm(os: AgentOs | null, kind: 'reference' | 'stock' = 'reference'): Promise<string> {
  count += 1;
  const { id: vmId } = await registerVm(ctx, { name: `update-${count}` });
  if (os === null) return vmId;
  const agent = { name: 'agent', version: '1', certificate: '', thumbprint: '', keyHash: vmId, credentialHash: vmId };
  await ctx.db.insert(agents).values({ ...agent, vmId, kind, os, enrolledAt: ctx.now });
  return vmId;
}

async function declare(vmId: string, handler: string, version: string, name = 'probe'): Promise<void> {
  await setExtension(ctx, { vmId, name, goal: { handler, version, state: 'enabled' } });
}

/** Stores the health as the worker would, because lists filter by the stored health. */
async function evaluate(vmId: string, handler: string, goalVersion: string): Promise<void> {
  const health = 'healthy' as const;
  const row = { vmId, name: `update-${vmId}`, tags: {}, health, rank: rankOf(health), agent: 'ready' as const };
  await ctx.db.insert(vmHealth).values({ ...row, since: ctx.now });
  const declared = { vmId, name: 'probe', handler, goalVersion, health, heartbeat: 'none' as const, since: ctx.now };
  await ctx.db.insert(extensionHealth).values(declared);
}

const updateOf = async (vmId: string, name = 'probe') =>
  (await findAvailableUpdates(ctx.db, [vmId])).get(vmId)?.get(name) ?? null;

describe('an available update', () => {
  test('is the highest published version above the declared version', async () => {
    const handler = 'Acme.Lab.Newer';
    for (const version of ['1.0', '1.9', '1.10']) await givenVersion(ctx.db, { handler, version });
    await givenVersion(ctx.db, { handler, version: '2.0', state: 'draft' });
    await givenVersion(ctx.db, { handler, version: '2.1', state: 'withdrawn' });
    await givenVersion(ctx.db, { handler: 'Acme.Lab.Other', version: '9.0' });
    const vmId = await newVm(debian);
    await declare(vmId, handler, '1.0');
    expect(await updateOf(vmId)).toBe('1.10');
    await withdrawVersion(ctx, { handler, version: '1.10', reason: 'leaks' });
    expect(await updateOf(vmId)).toBe('1.9');
    await declare(vmId, handler, '1.9');
    expect(await updateOf(vmId)).toBeNull();
  });

  test('is shown in the instance view and in lists, and not while the extension is being uninstalled', async () => {
    const handler = 'Acme.Lab.Shown';
    await givenVersion(ctx.db, { handler, version: '1.0' });
    await givenVersion(ctx.db, { handler, version: '1.1' });
    const vmId = await newVm(debian);
    await declare(vmId, handler, '1.0');
    const shown = async () => [
      (await getInstanceView(ctx, { vmId })).extensions.map(({ updateAvailable }) => updateAvailable),
      (await readFleetRows(ctx, { vmIds: [vmId] })).items[0]?.extensions.map((each) => each.updateAvailable),
    ];
    expect(await shown()).toEqual([['1.1'], ['1.1']]);
    await ctx.db.update(extensions).set({ state: 'uninstall' }).where(eq(extensions.vmId, vmId));
    expect(await shown()).toEqual([[null], [null]]);
  });

  const platforms = [{ os: 'linux', arch: 'x64' } as const];
  test.each<[AgentOs | null, 'reference' | 'stock']>([
    [null, 'reference'],
    [{}, 'reference'],
    [debian, 'reference'],
    [{ name: 'UBUNTU', arch: 'AMD64' }, 'reference'],
    [{ name: 'Ubuntu', arch: 'aarch64' }, 'reference'],
    [{ name: 'Windows Server 2025', arch: 'x64' }, 'reference'],
    [{ name: 'Mac OS X', arch: 'arm64' }, 'reference'],
    [{ name: 'Plan 9', arch: 'mips' }, 'reference'],
    [{ name: 'Windows-like Debian' }, 'stock'],
  ])('supports the platform by the rule of the plan: %j %s', async (os, kind) => {
    count += 1;
    const handler = `Acme.Lab.Platform${count}`;
    await givenVersion(ctx.db, { handler, version: '1.0' });
    await givenVersion(ctx.db, { handler, version: '2.0', platforms });
    const vmId = await newVm(os, kind);
    await declare(vmId, handler, '1.0');
    const goal = { handler, version: '2.0', state: 'enabled' as const };
    const { faults } = await planExtension(ctx, { vmId, name: 'probe', goal });
    expect(await updateOf(vmId)).toBe(faults.length === 0 ? '2.0' : null);
    if (kind === 'reference') {
      expect(supportsPlatform(platforms, platformOf(os ?? {}))).toBe(faults.length === 0);
    }

    await evaluate(vmId, handler, '1.0');
    const listed = async (updateAvailable: string[]) =>
      (await listFleet(ctx, { handler, updateAvailable } as never)).items.map(({ id }) => id);
    const [yes, no] = [await listed(['yes']), await listed(['no'])];
    expect([yes, no]).toEqual(faults.length === 0 ? [[vmId], []] : [[], [vmId]]);
    expect(await listed(['yes', 'no'])).toEqual([vmId]);
  });

  test('filters lists with the other conditions on the same extension', async () => {
    const handler = 'Acme.Lab.Listed';
    for (const version of ['1.0', '1.1']) await givenVersion(ctx.db, { handler, version });
    const [old, current] = [await newVm(debian), await newVm(null)];
    for (const [vmId, version] of [
      [old, '1.0'],
      [current, '1.1'],
    ] as const) {
      await declare(vmId, handler, version);
      await evaluate(vmId, handler, version);
    }
    const listed = async (filter: object) =>
      (await listFleet(ctx, filter as never)).items.map(({ id }) => id).toSorted();
    expect(await listed({ handler, updateAvailable: ['yes'] })).toEqual([old]);
    expect(await listed({ handler, version: '1.1', updateAvailable: ['yes'] })).toEqual([]);
    expect(await listed({ handler, updateAvailable: ['no'] })).toEqual([current]);
    const { items } = await listFleetFacets(ctx, { handler, facet: 'updateAvailable' });
    expect(items.map(({ name, count: vms }) => [name, vms])).toEqual([
      ['no', 1],
      ['yes', 1],
    ]);
  });
});
