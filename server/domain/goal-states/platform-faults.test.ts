import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AgentOs, agents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { planExtension } from './plan-extension.ts';
import { planRevert } from './revert-goal-state.ts';
import { setExtension } from './set-extension.ts';

const debian = { name: 'Debian GNU/Linux', version: '12', arch: 'x64' };
let ctx: Context;
let count = 0;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices() });
  const several = [{ os: 'linux', arch: 'arm64' } as const, { os: 'windows' } as const];
  await givenVersion(ctx.db, { version: '1.0', platforms: [{ os: 'linux', arch: 'x64' }] });
  await givenVersion(ctx.db, { version: '2.0', platforms: several });
  await givenVersion(ctx.db, { version: '3.0' });
});

async function newVm(os: AgentOs | null, kind: 'reference' | 'stock' = 'reference'): Promise<string> {
  count += 1;
  const { id: vmId } = await registerVm(ctx, { name: `platform-${count}` });
  if (os === null) return vmId;
  const agent = { name: 'agent', version: '1', certificate: '', thumbprint: '', keyHash: vmId, credentialHash: vmId };
  await ctx.db.insert(agents).values({ ...agent, vmId, kind, os, enrolledAt: ctx.now });
  return vmId;
}

const becomes = (vmId: string, os: AgentOs) => ctx.db.update(agents).set({ os }).where(eq(agents.vmId, vmId));
const goal = (version: string, state: 'enabled' | 'disabled' = 'enabled') => ({
  handler: 'Acme.Lab.Probe',
  version,
  state,
});
const codesOf = async (vmId: string, version: string) =>
  (await planExtension(ctx, { vmId, name: 'probe', goal: goal(version) })).faults.map(({ code }) => code);

describe('a version with platforms', () => {
  test('is a fault of the plan, and rejected, for a VM of another platform', async () => {
    const vmId = await newVm(debian);
    const fault = {
      path: '/version',
      code: 'platform_unsupported',
      params: { handler: 'Acme.Lab.Probe', version: '2.0', supported: 'linux arm64, windows', machine: 'linux x64' },
    };
    const plan = await planExtension(ctx, { vmId, name: 'probe', goal: goal('2.0') });
    expect(plan).toMatchObject({ faults: [fault], planHash: null });
    await expect(setExtension(ctx, { vmId, name: 'probe', goal: goal('2.0') })).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'platform_unsupported',
    });
    expect(await codesOf(vmId, '1.0')).toEqual([]);
    expect(await codesOf(vmId, '3.0')).toEqual([]);
  });

  const other = ['platform_unsupported'];
  test.each<[AgentOs | null, 'reference' | 'stock', string, string[]]>([
    [null, 'reference', '2.0', []],
    [{}, 'reference', '2.0', []],
    [{ name: 'Plan 9', arch: 'mips' }, 'reference', '2.0', []],
    [{ name: 'Ubuntu' }, 'reference', '2.0', []],
    [{ name: 'UBUNTU', arch: 'AMD64' }, 'reference', '2.0', other],
    [{ name: 'UBUNTU', arch: 'AMD64' }, 'reference', '1.0', []],
    [{ name: 'Ubuntu', arch: 'aarch64' }, 'reference', '2.0', []],
    [{ name: 'Windows_NT', arch: 'x64' }, 'reference', '2.0', []],
    [{ name: 'Windows Server 2025' }, 'reference', '1.0', other],
    [{ arch: 'riscv64' }, 'reference', '1.0', other],
    [{ name: 'Darwin', arch: 'x64' }, 'reference', '1.0', other],
    [{ name: 'some appliance' }, 'stock', '1.0', []],
  ])('an agent that reports %j (%s), version %s: %j', async (os, kind, version, codes) => {
    expect(await codesOf(await newVm(os, kind), version)).toEqual(codes);
  });

  test('may be disabled, but not changed, once a machine of another platform replaced the first machine', async () => {
    const vmId = await newVm(debian);
    await setExtension(ctx, { vmId, name: 'probe', goal: goal('1.0') });
    await becomes(vmId, { name: 'Debian GNU/Linux', arch: 'arm64' });
    expect(await codesOf(vmId, '1.0')).toEqual(['platform_unsupported']);
    const off = await setExtension(ctx, { vmId, name: 'probe', goal: goal('1.0', 'disabled') });
    expect(off.state).toBe('disabled');
  });

  test('is a fault of a revert', async () => {
    const vmId = await newVm(debian);
    const { incarnation } = await setExtension(ctx, { vmId, name: 'probe', goal: goal('1.0') });
    await becomes(vmId, { name: 'Debian GNU/Linux', arch: 'arm64' });
    await setExtension(ctx, { vmId, name: 'probe', goal: goal('2.0') });
    const plan = await planRevert(ctx, { vmId, incarnation });
    expect(plan.faults.map(({ path, code }) => [path, code])).toEqual([
      ['/extensions/probe/version', 'platform_unsupported'],
    ]);
  });
});
