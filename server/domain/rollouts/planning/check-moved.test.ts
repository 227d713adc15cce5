import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { handlerVersions, rollouts, vms as vmsTable } from '#db/schema/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { membersOf, ringUpTo, rowOf, setRollout, upgrade } from '../testing/given-draft.ts';
import { givenStarted } from '../testing/given-plan.ts';
import { abandonPlan } from './abandon-plan.ts';
import { checkRollout } from './check-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
let vms: GivenVm[];
const at = (place: number): GivenVm => vms[place] as GivenVm;

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  for (const version of ['1.0.0.0', '1.1.0.0', '1.2.0.0']) await givenVersion(services.db, { version });
});

beforeEach(async () => {
  vms = [];
  for (let n = 0; n < 4; n++) {
    const vm = await givenVm(services, 'moving');
    await vm.declare('probe');
    vms.push(vm);
  }
});

afterEach(() => services.db.delete(rollouts));

const started = (
  definition: Parameters<typeof givenStarted>[1] = {},
  values: Parameters<typeof givenStarted>[2] = {},
) => givenStarted(services, { select: { ids: vms.map(({ vmId }) => vmId) }, ...definition }, values);

async function checked(id: string) {
  expect(await checkRollout(services, id)).toBe('done');
  return rowOf(services, id);
}

const setVm = ({ vmId }: GivenVm, values: object) =>
  services.db.update(vmsTable).set(values).where(eq(vmsTable.id, vmId));
const remove = (vm: GivenVm) => setVm(vm, { deletedAt: new Date() });

describe('RO-5 a member that disappears between plan and start', () => {
  test('keeps the rollout from starting if no member may move', async () => {
    const { id } = await started();
    await remove(at(0));
    const row = await checked(id);
    const params = { cause: 'members', moved: 1, allowed: 0, 'update-none': 1 };
    expect(row).toMatchObject({ state: 'planned', members: 3, why: [{ code: 'plan_moved_on', params }] });
    expect(row.plan).toMatchObject({ matched: 3, members: 3 });
    expect((await membersOf(services, id)).map(({ vmId }) => vmId)).not.toContain(at(0).vmId);
  });

  test('is within what may move, and one more is not', async () => {
    const { id } = await started({ maxMovedShare: 2_500 });
    await remove(at(0));
    expect(await checked(id)).toMatchObject({ state: 'running', members: 4, why: [] });
    const other = await started({ maxMovedShare: 3_400, select: { ids: vms.slice(1).map(({ vmId }) => vmId) } });
    await setRollout(services, id, { state: 'finished' });
    await remove(at(1));
    await setVm(at(2), { decommissioningAt: new Date() });
    const params = { cause: 'members', moved: 2, allowed: 1, 'update-none': 2 };
    const row = await checked(other.id);
    expect(row).toMatchObject({ state: 'planned', members: 1, why: [{ params }] });
    expect(row.plan?.refused).toMatchObject({ vm_decommissioning: { count: 1 } });
  });
});

describe('RO-5 at the start', () => {
  test('VMs that match the filter now are counted as moved, and so are those that left it', async () => {
    const operator = await testContext({ services, role: 'operator' });
    const tag = (vm: GivenVm, tags: Record<string, string>) => updateVm(operator, { vmId: vm.vmId, tags });
    for (const place of [0, 1]) await tag(at(place), { site: 'filtered' });
    await foldHealth(services, new Date(), { limit: 1_000 });
    const include = { tags: [{ name: 'site', value: 'filtered' }] };
    const { id, members } = await started({ select: { include } });
    expect(members.map(({ vmId }) => vmId).toSorted()).toEqual([at(0).vmId, at(1).vmId].toSorted());
    await tag(at(0), { site: 'other' });
    for (const place of [2, 3]) await tag(at(place), { site: 'filtered' });
    await foldHealth(services, new Date(), { limit: 1_000 });
    const params = { cause: 'members', moved: 3, allowed: 0, 'update-none': 1, 'none-update': 2 };
    expect(await checked(id)).toMatchObject({ state: 'planned', members: 3, why: [{ params }] });
  });

  test('a withdrawn version is rejected, and the new plan says so for every VM', async () => {
    const { id } = await started({ maxMovedShare: 10_000 });
    const version = services.db.update(handlerVersions);
    await version.set({ state: 'withdrawn' }).where(eq(handlerVersions.version, '1.1.0.0'));
    const row = await checked(id);
    await version.set({ state: 'published' }).where(eq(handlerVersions.version, '1.1.0.0'));
    expect(row).toMatchObject({ state: 'planned', members: 0, why: [{ params: { cause: 'definition' } }] });
    expect(row.plan?.refused).toMatchObject({ version_withdrawn: { count: 4 } });
    expect(await membersOf(services, id)).toEqual([]);
  });

  test('another version of the same handler may change meanwhile', async () => {
    const { id } = await started();
    const version = services.db.update(handlerVersions);
    await version.set({ state: 'withdrawn' }).where(eq(handlerVersions.version, '1.2.0.0'));
    const row = await checked(id);
    await version.set({ state: 'published' }).where(eq(handlerVersions.version, '1.2.0.0'));
    expect(row.state).toBe('running');
  });

  test('a change that names no version does not depend on the packages of the current ones', async () => {
    const change = { ...upgrade, version: null, state: 'disabled' as const };
    const { id } = await started({ change });
    await services.db
      .update(handlerVersions)
      .set({ sha256: 'e'.repeat(64) })
      .where(eq(handlerVersions.version, '1.0.0.0'));
    expect(await checked(id)).toMatchObject({ state: 'running', members: 4 });
  });

  test('an outdated plan replaces the rings and invalidates the approvals of the earlier one', async () => {
    const { id, plan } = await started({ rings: [ringUpTo(5_000), ringUpTo(10_000)] });
    const decision = { ring: null, approved: true, actor: 'user:ada', by: 'ada', at: '', note: null };
    await setRollout(services, id, { approvals: [{ ...decision, planHash: plan.hash }] });
    for (const place of [0, 1]) await at(place).declare('probe', { version: '1.2.0.0' });
    const row = await checked(id);
    expect(row).toMatchObject({ state: 'planned', approvals: [], startedBy: null, acceptedOverlap: [], dueAt: null });
    expect(row.plan?.rings.map(({ size }) => size)).toEqual([1, 1]);
    expect(row.plan?.hash).toBe(row.planHash);
    expect(row.planHash).not.toBe(plan.hash);
  });
});

describe('a check', () => {
  test('is discarded if someone ends the rollout meanwhile, and other workers leave it alone', async () => {
    const { id } = await started();
    const outcomes: Promise<string>[] = [];
    await services.db.transaction(async (tx) => {
      await tx.update(rollouts).set({ state: 'aborted' }).where(eq(rollouts.id, id));
      outcomes.push(checkRollout(services, id));
      await vi.waitFor(async () => {
        const { rows } = await services.db.execute(sql`select from pg_locks where not granted`);
        expect(rows).toHaveLength(1);
      });
      outcomes.push(checkRollout(services, id));
      await outcomes[1];
    });
    expect(await Promise.all(outcomes)).toEqual(['discarded', 'busy']);
    expect(await rowOf(services, id)).toMatchObject({ state: 'aborted', startedAt: null });
  });

  test('of a rollout that waits for nothing does nothing', async () => {
    const { id } = await started();
    await setRollout(services, id, { state: 'paused' });
    expect(await checkRollout(services, id)).toBe('none');
    expect(await checkRollout(services, '00000000-0000-7000-8000-000000000009')).toBe('none');
    expect((await rowOf(services, id)).state).toBe('paused');
  });

  test('that fails unexpectedly leaves the plan and says that the cause is not known', async () => {
    const { id, plan } = await started();
    await abandonPlan(services, id, new Date(), new Error('broken'));
    const row = await rowOf(services, id);
    expect(row).toMatchObject({ state: 'planned', planHash: plan.hash, members: 4, startedBy: null });
    expect(row.why).toMatchObject([{ code: 'plan_failed', params: { cause: 'unforeseen' } }]);
    await abandonPlan(services, id, new Date(), new Error('again'));
    expect((await rowOf(services, id)).why).toEqual(row.why);
  });
});
