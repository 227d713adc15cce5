import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, vmRoles, vms } from '#db/schema/index.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { addMachine, destroyModel, removeMachine } from './index.ts';
import { countWaitingRoles, findOpenRoles } from './open-roles.ts';
import { newStage, type Stage, type Staged } from './testing/stage.ts';

let stage: Stage;
let ctx: Stage['ctx'];

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
});

const add = ({ model, provider }: Staged) => addMachine(ctx, { model }, provider);

/** Removes a machine whose agent still has extensions to uninstall. Returns its VM. */
async function givenWaiting(staged: Staged): Promise<string> {
  const { vmId, machine } = await add(staged);
  const unknown = { credentialHash: vmId, certificate: '', thumbprint: '', keyHash: vmId, os: {}, enrolledAt: ctx.now };
  await ctx.db.insert(agents).values({ vmId, name: 'test', version: '1', ...unknown });
  await removeMachine(ctx, { model: staged.model, machine });
  await ctx.db.update(vms).set({ decommissioningAt: ctx.now }).where(eq(vms.id, vmId));
  return vmId;
}

describe('roles that wait for their agents', () => {
  test('keep no other role from being deleted, and are counted', async () => {
    const staged = await stage.bootstrapped();
    const vmId = await givenWaiting(staged);
    const { machine, vmId: next } = await add(staged);
    await removeMachine(stage.after(1), { model: staged.model, machine });
    expect(await findOpenRoles(ctx, { limit: 1 })).toEqual([next]);
    expect(await countWaitingRoles(ctx)).toBe(1);
    expect(await stage.mend(staged.provider)).toBe(1);
    expect(await ctx.db.select({ vmId: vmRoles.vmId }).from(vmRoles)).toEqual([{ vmId }]);
  });

  test.each([
    ['the VM is deleted', () => ctx.db.update(vms).set({ deletedAt: ctx.now })],
    ['the VM no longer has an agent', () => ctx.db.delete(agents)],
    ['the removal is forced', () => ctx.db.update(vmRoles).set({ forced: true })],
  ])('are deleted when %s', async (_, change) => {
    const staged = await stage.bootstrapped();
    const vmId = await givenWaiting(staged);
    const modelId = (await ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId)))[0]?.modelId ?? '';
    expect(await findOpenRoles(ctx, { limit: 9, modelId })).toEqual([]);
    await change();
    expect(await findOpenRoles(ctx, { limit: 9, modelId })).toEqual([vmId]);
  });
});

test('a role is open once the lease of its request has ended', async () => {
  const staged = await stage.bootstrapped();
  const { vmId } = await add(staged);
  await ctx.db
    .update(vmRoles)
    .set({ state: 'creating', leaseUntil: stage.after(60).now })
    .where(eq(vmRoles.vmId, vmId));
  expect(await findOpenRoles(stage.after(59), { limit: 99 })).not.toContain(vmId);
  expect(await findOpenRoles(stage.after(60), { limit: 99 })).toContain(vmId);
});

test('the destruction of a model marks all its machines with one statement', async () => {
  const counts: number[] = [];
  for (const machines of [1, 4]) {
    const staged = await stage.bootstrapped();
    for (let n = 0; n < machines; n += 1) await add(staged);
    const { model } = staged;
    counts.push((await statementsOf(() => destroyModel(ctx, { model, confirm: model }))).length);
  }
  expect(counts[1]).toBe(counts[0]);
});
