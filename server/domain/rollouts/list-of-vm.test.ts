import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rolloutRules, rolloutSteps, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { reserve } from '#server/domain/reservations/index.ts';
import { defaultRules } from '#server/domain/rollout-rules/strategies.ts';
import { openStates, rolloutStates } from '#server/domain/rollout-rules/words.ts';
import { listFleet } from '#server/domain/views/index.ts';
import { testContext } from '#server/testing/context.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { listRolloutsOfVm } from './index.ts';
import { givenMachines } from './testing/given-machines.ts';
import { givenMembers, givenRollout, givenStep } from './testing/given-rollout.ts';

let ctx: Context;
let viewer: Context;
let machines: GivenVm[];
const vm = (n: number): string => machines[n]?.vmId ?? '';
const all = (): string[] => machines.map(({ vmId }) => vmId);

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  machines = await givenMachines(ctx, 6);
});

describe('the rollouts of a VM', () => {
  test.each(rolloutStates)('list its place in the queue of a rollout in the state %s', async (state) => {
    const { id } = await givenRollout(ctx, { state });
    await givenMembers(ctx, id, [all().slice(0, 2), all().slice(2)]);
    const own = (await listRolloutsOfVm(viewer, { vmId: vm(4) })).items.filter(({ rollout }) => rollout.id === id);
    if (!(openStates as readonly string[]).includes(state)) return expect(own).toEqual([]);
    expect(own).toEqual([
      {
        rollout: {
          ...{ id, name: 'probe 1.1 in production', kind: 'rollout', state, handler: 'Acme.Lab.Probe' },
          ...{ extension: null, runbook: null, createdAt: ctx.now.toISOString() },
        },
        ring: { index: 1, name: 'tenth', size: 3 },
        ...{ place: 2, state: 'queued', cause: null, waitsFor: null },
        ...{ incarnation: null, publishedAt: null, decidedAt: null },
      },
    ]);
  });

  test.each(['running', 'finished', 'aborted'] as const)('list its step of a rollout that is %s', async (state) => {
    const { id } = await givenRollout(ctx, { state });
    await givenMembers(ctx, id, [all()]);
    const step = { cause: 'exit', incarnation: 9, publishedAt: new Date(0), decidedAt: new Date(1_000) };
    await givenStep(ctx, { rolloutId: id, vmId: vm(0), state: 'failed', place: 5, ring: 2, ...step });
    const own = (await listRolloutsOfVm(viewer, { vmId: vm(0) })).items.filter(({ rollout }) => rollout.id === id);
    expect(own).toMatchObject([
      {
        ...{ ring: { index: 2, name: 'all', size: 5 }, place: 5, state: 'failed', cause: 'exit', incarnation: 9 },
        ...{ publishedAt: '1970-01-01T00:00:00.000Z', decidedAt: '1970-01-01T00:00:01.000Z' },
      },
    ]);
  });

  test('name what a parked VM waits for: a VM of its availability set, or another rollout', async () => {
    const own = await testContext({ role: 'operator' });
    const [web1, web2] = await givenMachines(own, 2);
    const [vmId, other] = [web1?.vmId ?? '', web2?.vmId ?? ''];
    await own.db.update(vms).set({ tags: { set: 'web' } });
    await own.db.insert(rolloutRules).values({
      ...{ id: 1, rules: { ...defaultRules, availabilitySetTag: 'set' } },
      ...{ changedAt: own.now, changedBy: 'Test operator' },
    });
    const { id } = await givenRollout(own, { state: 'running' });
    await givenStep(own, { rolloutId: id, vmId, state: 'parked', cause: 'set-busy' });
    const waitsFor = async () =>
      (await listRolloutsOfVm(own, { vmId })).items.find(({ rollout }) => rollout.id === id)?.waitsFor;
    expect(await waitsFor()).toBeNull();
    const upgrade = { kind: 'service', id: 'shop' } as const;
    const terms = { tag: 'set', limit: 1, now: own.now };
    await own.db.transaction((tx) => reserve(tx, upgrade, [{ vmId: other, group: 'web' }], terms));
    expect(await waitsFor()).toEqual({ kind: 'vm', id: other, name: web2?.name });
    await own.db.update(rolloutSteps).set({ cause: 'vm-busy' }).where(eq(rolloutSteps.vmId, vmId));
    expect(await waitsFor()).toBeNull();
    const busy = await givenRollout(own, { state: 'running', definition: { name: 'probe 1.2' } });
    await givenStep(own, { rolloutId: busy.id, vmId, state: 'soaking' });
    expect(await waitsFor()).toEqual({ kind: 'rollout', id: busy.id, name: 'probe 1.2' });
  });

  test('are listed newest first, at most 100 of them', async () => {
    const own = await testContext({ role: 'operator' });
    const [machine] = await givenMachines(own, 1);
    const vmId = machine?.vmId ?? '';
    for (let n = 0; n < 101; n += 1) {
      const { id } = await givenRollout({ ...own, now: new Date(n * 1_000) }, { definition: { name: `r${n}` } });
      await givenStep(own, { rolloutId: id, vmId, state: 'succeeded' });
    }
    const names = (await listRolloutsOfVm(own, { vmId })).items.map(({ rollout }) => rollout.name);
    expect(names).toEqual(Array.from({ length: 100 }, (_, n) => `r${100 - n}`));
  });

  test('are found by an id in upper case, and after the VM was deleted', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    await givenStep(ctx, { rolloutId: id, vmId: vm(5), state: 'gone' });
    const found = async () =>
      (await listRolloutsOfVm(viewer, { vmId: vm(5).toUpperCase() })).items.find(({ rollout }) => rollout.id === id);
    expect(await found()).toMatchObject({ state: 'gone' });
    await ctx.db
      .update(vms)
      .set({ deletedAt: ctx.now })
      .where(eq(vms.id, vm(5)));
    expect(await found()).toMatchObject({ state: 'gone' });
    await ctx.db
      .update(vms)
      .set({ deletedAt: null })
      .where(eq(vms.id, vm(5)));
  });

  test('of an unknown VM are not listed', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await outcomeOf(listRolloutsOfVm(viewer, { vmId: unknown }))).toBe('not_found vm_unknown');
    expect(await outcomeOf(listRolloutsOfVm(viewer, { vmId: 'web-1' }))).toBe(
      'unprocessable invalid; /vmId field_format',
    );
  });
});

describe('the list of VMs, filtered by a rollout', () => {
  const found = async (filter: object) => (await listFleet(viewer, filter)).items.map(({ id }) => id).toSorted();
  const chosen = (...places: number[]) => places.map(vm).toSorted();

  /** A VM without a step, and one with a step in each of two states that share a count. */
  async function given(state: 'running' | 'finished' = 'running'): Promise<string> {
    const { id } = await givenRollout(ctx, { state });
    await givenMembers(ctx, id, [all().slice(0, 5)]);
    for (const [place, step] of (['recalled', 'retrying', 'inFlight', 'stuck'] as const).entries()) {
      const closed = state === 'running' ? step : 'failed';
      await givenStep(ctx, { rolloutId: id, vmId: vm(place), state: closed, place });
    }
    return id;
  }

  test('shows the members, by the counts that the rollout shows', async () => {
    const rollout = await given();
    expect(await found({ rollout })).toEqual(chosen(0, 1, 2, 3, 4));
    expect(await found({ rollout: rollout.toUpperCase() })).toEqual(chosen(0, 1, 2, 3, 4));
    expect(await found({ rollout, step: ['queued'] })).toEqual(chosen(0, 4));
    expect(await found({ rollout, step: ['inFlight'] })).toEqual(chosen(1, 2));
    expect(await found({ rollout, step: ['failed'] })).toEqual(chosen(3));
    expect(await found({ rollout, step: ['queued', 'failed'] })).toEqual(chosen(0, 3, 4));
    expect(await found({ rollout, step: ['gone'] })).toEqual([]);
    expect(await found({ rollout, q: machines[2]?.name })).toEqual(chosen(2));
    await ctx.db.delete(rolloutSteps);
  });

  test('shows the steps of open rollouts if no rollout is named', async () => {
    const ended = await given('finished');
    expect(await found({ step: ['failed'] })).toEqual([]);
    expect(await found({ rollout: ended, step: ['failed'] })).toEqual(chosen(0, 1, 2, 3));
    await given();
    expect(await found({ step: ['failed'] })).toEqual(chosen(3));
    expect(await found({ step: ['queued'] })).toEqual(chosen(0));
  });

  test('shows no VM for an unknown rollout, and rejects invalid ids and states', async () => {
    expect(await found({ rollout: '00000000-0000-4000-8000-000000000000' })).toEqual([]);
    expect(await outcomeOf(listFleet(viewer, { rollout: 'probe' } as object))).toMatch('/rollout field_format');
    expect(await outcomeOf(listFleet(viewer, { step: ['stuck'] } as object))).toMatch('/step/0 field_choice');
  });
});
