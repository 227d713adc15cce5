import { and, eq, isNull, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  auditEntries,
  availabilitySets,
  cloudServices,
  deployments,
  endpoints,
  enrollmentTokens,
  goalStateHeads,
  models,
  vmRoles,
  vms,
} from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { deleteRole, markRole } from './discard-role.ts';
import { leaseOf } from './lease.ts';
import { type Reservation, reserveInstance } from './reserve-instance.ts';
import { dropService, storeServiceAddress } from './service-rows.ts';
import { newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
const ids = new Map<string, string>();

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
  for (const [name, availabilitySetsEnabled] of [
    ['on', true],
    ['off', false],
  ] as const) {
    await stage.bootstrapped({ name, availabilitySetsEnabled });
    const [row] = await ctx.db.select().from(models).where(eq(models.name, name));
    ids.set(name, row?.id ?? '');
  }
});

const reserve = (model: 'on' | 'off', kind: 'machine' | 'controller', draws = 10): Promise<Reservation> =>
  reserveInstance(ctx, ids.get(model) ?? '', { kind }, draws);
const serviceOf = async (name: string) =>
  (await ctx.db.select().from(cloudServices).where(eq(cloudServices.name, name)))[0];

describe('a reservation', () => {
  test('stores cloud service, deployment, role, VM and endpoints, all as being created', async () => {
    const { role, vm, instanceId } = await reserve('off', 'machine');
    const { cloudService, vmId, deployment } = role;
    expect(await serviceOf(cloudService)).toMatchObject({
      state: 'creating',
      label: null,
      leaseUntil: leaseOf(ctx.now),
    });
    expect(role).toMatchObject({ state: 'creating', leaseUntil: leaseOf(ctx.now), assignedAddress: null });
    expect(deployment).toBe(`${cloudService}-v2`);
    const placed = await ctx.db.select().from(deployments).where(eq(deployments.cloudService, cloudService));
    expect(placed).toMatchObject([{ name: deployment, slot: 'production' }]);
    expect(await ctx.db.$count(availabilitySets, eq(availabilitySets.cloudService, cloudService))).toBe(0);
    expect((await ctx.db.select().from(vms).where(eq(vms.id, vmId)))[0]).toMatchObject({ instanceId, name: vm.name });
    for (const table of [goalStateHeads, enrollmentTokens, endpoints]) {
      expect(await ctx.db.$count(table, eq(table.vmId, vmId))).toBe(1);
    }
    const acts = await readActs(ctx.db, eq(auditEntries.vmId, vmId));
    expect(acts.map(({ action }) => action)).toEqual(['vm.create']);
  });

  test('JU-6 has the availability set of its cloud service, if the model has availability sets', async () => {
    const { role } = await reserve('on', 'controller');
    expect(role.availabilitySet).toBe('juju');
    const sets = await ctx.db
      .select()
      .from(availabilitySets)
      .where(eq(availabilitySets.cloudService, role.cloudService));
    expect(sets.map(({ name }) => name)).toEqual(['juju']);
  });

  test('JU-10 of a second controller joins the cloud service, although the first one is still being created', async () => {
    const [first, second] = await Promise.all([reserve('on', 'controller'), reserve('on', 'controller')]);
    expect(second.role.cloudService).toBe(first.role.cloudService);
    expect(second.role.name).not.toBe(first.role.name);
    expect(Math.abs(second.role.machine - first.role.machine)).toBe(1);
  });

  test('JU-8 that the mode does not allow stores nothing', async () => {
    const before = [await ctx.db.$count(vms), await ctx.db.$count(cloudServices)];
    await expect(reserve('on', 'machine')).rejects.toMatchObject({ code: 'machine_placement_unsupported' });
    expect([await ctx.db.$count(vms), await ctx.db.$count(cloudServices)]).toEqual(before);
  });

  test('JU-3 without a draw left stores nothing', async () => {
    await expect(reserve('off', 'machine', 0)).rejects.toMatchObject({
      ...{ kind: 'unavailable', code: 'cloud_service_name_exhausted' },
    });
  });

  test('in a cloud service without a deployment in Production is rejected', async () => {
    const { role } = await reserve('on', 'controller');
    const ofService = eq(deployments.cloudService, role.cloudService);
    await ctx.db.update(deployments).set({ slot: 'staging' }).where(ofService);
    await expect(reserve('on', 'controller')).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'production_empty', params: { service: role.cloudService } },
    });
    await ctx.db.update(deployments).set({ slot: 'production' }).where(ofService);
  });

  test('in a model before its bootstrap is rejected', async () => {
    const { id } = (await ctx.db.select().from(models).where(eq(models.name, 'off')))[0] ?? { id: '' };
    await ctx.db.update(models).set({ bootstrappedAt: null }).where(eq(models.id, id));
    await expect(reserve('off', 'machine')).rejects.toMatchObject({ code: 'model_not_bootstrapped' });
    await ctx.db.update(models).set({ bootstrappedAt: ctx.now }).where(eq(models.id, id));
  });
});

describe('JU-4 the slots of a cloud service', () => {
  test('one UPDATE swaps two deployments, and none can take the slot of another', async () => {
    const { role } = await reserve('off', 'machine');
    const { cloudService } = role;
    const created = { createdAt: ctx.now, createdBy: 'Test' };
    const staged = { cloudService, name: `${cloudService}-v3`, slot: 'staging' as const };
    await ctx.db.insert(deployments).values({ ...staged, ...created });
    const third = ctx.db.insert(deployments).values({ ...staged, name: `${cloudService}-v4`, ...created });
    await expect(third).rejects.toMatchObject({ cause: { constraint: 'deployments_slot' } });
    await ctx.db
      .update(deployments)
      .set({ slot: sql`case ${deployments.slot} when 'production' then 'staging' else 'production' end` })
      .where(eq(deployments.cloudService, cloudService));
    const swapped = await ctx.db.select().from(deployments).where(eq(deployments.cloudService, cloudService));
    expect(Object.fromEntries(swapped.map(({ name, slot }) => [name.slice(-2), slot]))).toEqual({
      v2: 'staging',
      v3: 'production',
    });
  });
});

describe('the address of a cloud service', () => {
  test('is another one if a concurrent request took it first', async () => {
    const [first, second] = [await reserve('off', 'machine'), await reserve('off', 'machine')];
    const at = (last: number, name: string) => ({ dnsName: `${name}.test`, publicAddress: `192.0.2.${last}` });
    await storeServiceAddress(ctx, first.role.cloudService, async () => at(1, 'first'));
    let tries = 0;
    await storeServiceAddress(ctx, second.role.cloudService, async () => {
      tries += 1;
      return at(tries, 'second');
    });
    expect((await serviceOf(second.role.cloudService))?.publicAddress).toBe('192.0.2.2');
  });

  test('fails the request if the provider assigns a taken one ten times', async () => {
    const { role } = await reserve('off', 'machine');
    let tries = 0;
    const taken = storeServiceAddress(ctx, role.cloudService, async () => {
      tries += 1;
      return { dnsName: 'third.test', publicAddress: '192.0.2.1' };
    });
    await expect(taken).rejects.toMatchObject({ cause: { constraint: 'cloud_services_address' } });
    expect(tries).toBe(10);
  });

  test('does not change once it is stored', async () => {
    const { role } = await reserve('off', 'machine');
    const store = (publicAddress: string) =>
      storeServiceAddress(ctx, role.cloudService, async () => ({ dnsName: 'fixed.test', publicAddress }));
    await store('192.0.2.50');
    await store('192.0.2.51');
    expect((await serviceOf(role.cloudService))?.publicAddress).toBe('192.0.2.50');
  });
});

describe('deleting', () => {
  test('a role that is not marked changes nothing', async () => {
    const { vm } = await reserve('off', 'machine');
    expect(await deleteRole(ctx, stage.nothing(), vm.id)).toBe(false);
    expect(await ctx.db.$count(vmRoles, eq(vmRoles.vmId, vm.id))).toBe(1);
  });

  test('a marked role can be repeated, and deletes its cloud service with the last role only', async () => {
    const [first, second] = [await reserve('on', 'controller'), await reserve('on', 'controller')];
    const provider = stage.nothing();
    await ctx.db.transaction((tx) => markRole(tx, ctx, first.vm.id, true));
    expect(await deleteRole(ctx, provider, first.vm.id)).toBe(true);
    expect(await deleteRole(ctx, provider, first.vm.id)).toBe(true);
    expect(provider.calls).toEqual([`dropRoles ${first.role.cloudService} ${first.role.name}`]);
    expect((await serviceOf(first.role.cloudService))?.state).toBe('creating');
    const others = await ctx.db.select().from(vmRoles).where(eq(vmRoles.cloudService, second.role.cloudService));
    for (const { vmId } of others) {
      await ctx.db.transaction((tx) => markRole(tx, ctx, vmId, true));
      await deleteRole(ctx, provider, vmId);
    }
    expect(provider.calls.at(-1)).toBe(`dropCloudService ${second.role.cloudService}`);
    expect((await serviceOf(second.role.cloudService))?.goneAt).toEqual(ctx.now);
  });

  test('JU-10 a deleted cloud service keeps its name, so that no other one gets it', async () => {
    const { vm, role } = await reserve('off', 'machine');
    await ctx.db.transaction((tx) => markRole(tx, ctx, vm.id, true));
    await deleteRole(ctx, stage.nothing(), vm.id);
    expect(await serviceOf(role.cloudService)).toMatchObject({ state: 'deleting', goneAt: ctx.now });
    expect(await ctx.db.$count(deployments, eq(deployments.cloudService, role.cloudService))).toBe(0);
  });

  test('a cloud service that is not marked changes nothing', async () => {
    const { role } = await reserve('off', 'machine');
    const provider = stage.nothing();
    await dropService(ctx, provider, role.cloudService);
    expect(provider.calls).toEqual([]);
    const there = and(eq(cloudServices.name, role.cloudService), isNull(cloudServices.goneAt));
    expect(await ctx.db.$count(cloudServices, there)).toBe(1);
  });

  test('force can be added later, and is never taken back', async () => {
    const { vm } = await reserve('off', 'machine');
    const marked = async (forced: boolean, now: Date) => {
      await ctx.db.transaction((tx) => markRole(tx, { ...ctx, now }, vm.id, forced));
      return (await ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vm.id)))[0];
    };
    const later = stage.after(10).now;
    expect(await marked(false, ctx.now)).toMatchObject({ state: 'deleting', forced: false, deletingAt: ctx.now });
    expect(await marked(true, later)).toMatchObject({ forced: true, deletingAt: ctx.now });
    expect(await marked(false, later)).toMatchObject({ forced: true, deletingAt: ctx.now, leaseUntil: null });
  });
});
