import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { goalStateHeads, rollouts, secrets, vmHealth } from '#db/schema/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { orderKey } from '#server/domain/rollout-rules/order.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { ringUpTo, upgrade } from '../testing/given-draft.ts';
import { type GivenPlan, givenPlan } from '../testing/given-plan.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
const vms: GivenVm[] = [];
const idAt = (place: number): string => (vms[place] as GivenVm).vmId;
const size = 1234;

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(services.db, { version });
  await givenVersion(services.db, { version: '1.2.0.0' });
  await services.db.execute(sql`
    update handler_versions
    set manifest = jsonb_set(manifest::jsonb, '{handlerManifest,rebootAfterInstall}', 'true') where version = '1.2.0.0'`);
  const operator = await testContext({ services, role: 'operator' });
  const sets = ['db', 'db', 'web', null, 'db', 'web', null, null];
  for (const [place, set] of sets.entries()) {
    const vm = await givenVm(services);
    await vm.declare('probe');
    const ring = place < 3 ? 'canary' : place < 6 ? 'early' : 'late';
    await updateVm(operator, { vmId: vm.vmId, tags: { ring, ...(set !== null && { 'availability-set': set }) } });
    vms.push(vm);
  }
  await foldHealth(services, new Date(), { limit: 100 });
  const health = services.db.update(vmHealth);
  for (const place of [2, 3, 7]) await health.set({ agent: 'unresponsive' }).where(eq(vmHealth.vmId, idAt(place)));
});

afterEach(() => services.db.delete(rollouts));

const planned = (definition: Partial<Definition> = {}) =>
  givenPlan(services, { select: { ids: vms.map(({ vmId }) => vmId) }, ...definition });
const tagged = (value: string) => ({ filter: { tags: [{ name: 'ring', value }] } });
const inRing = ({ members }: GivenPlan, ring: number) =>
  members.filter((member) => member.ring === ring).map(({ vmId }) => vmId);
const byHash = (id: string, ids: readonly string[]) =>
  ids.toSorted((a, b) => (orderKey(id, a) < orderKey(id, b) ? -1 : 1));

describe('RO-4 each ring of a plan states', () => {
  test('its members, silent VMs, availability sets and bytes', async () => {
    const rings = [ringUpTo(null, tagged('canary')), ringUpTo(null, tagged('early')), ringUpTo(10_000)];
    const { plan } = await planned({ rings });
    expect(plan.rings).toMatchObject([
      { size: 3, silent: 1, sets: { touched: 2, longest: 2 }, bytes: 3 * size, kinds: { update: 3 } },
      { size: 3, silent: 1, sets: { touched: 2, longest: 1 }, bytes: 3 * size, kinds: { update: 3 } },
      { size: 2, silent: 1, sets: { touched: 0, longest: 0 }, bytes: 2 * size, kinds: { update: 2 } },
    ]);
  });

  test('the VMs that restart, and no bytes where the package is there already', async () => {
    const [fresh, delivered] = [await givenVm(services), await givenVm(services)];
    for (const vm of [fresh, delivered]) await vm.declare('probe', { version: '1.2.0.0' });
    await delivered.deliver();
    const select = { ids: [idAt(0), fresh.vmId, delivered.vmId] };
    const publicSettings = { merge: { level: 'info' } };
    const { plan } = await planned({ select, change: { ...upgrade, version: '1.2.0.0', publicSettings } });
    expect(plan.kinds).toEqual({ update: 1, settings: 2 });
    expect(plan.rings[0]).toMatchObject({ size: 3, restarts: 2, bytes: 2 * size });
  });

  test.each([
    [{ share: 2_500 }, 2],
    [{ share: 1 }, 1],
    [{ count: 3 }, 3],
    [{ count: 500 }, 8],
  ])('how many of its 8 members %j allows in flight', async (inFlight, expected) => {
    const { gates } = ringUpTo(10_000);
    const { plan } = await planned({ rings: [ringUpTo(10_000, { gates: { ...gates, inFlight } })] });
    expect(plan.rings[0]?.inFlight).toBe(expected);
  });

  test('which members could not be reverted, because their protected settings are not stored', async () => {
    const vm = await givenVm(services, 'secret');
    await vm.declare('probe', { settings: { protectedSettings: { key: 'x' } } });
    await services.db.update(secrets).set({ cms: null, sealed: null }).where(eq(secrets.vmId, vm.vmId));
    const { certificate } = await newKeyPair();
    const head = services.db.update(goalStateHeads).set({ certificate, thumbprint: 'AB' });
    await head.where(eq(goalStateHeads.vmId, vm.vmId));
    const select = { ids: [vm.vmId, idAt(0)] };
    const { plan } = await planned({ select, change: { ...upgrade, protectedSettings: 'removed' } });
    expect(plan).toMatchObject({ members: 2, notRevertible: { secrets_required: 1 } });
  });
});

describe('RO-8 a ring', () => {
  test('with a filter and a boundary takes those that match until the boundary is reached', async () => {
    const rings = [ringUpTo(2_500, tagged('early')), ringUpTo(10_000)];
    const given = await planned({ rings });
    const early = byHash(given.id, [idAt(3), idAt(4), idAt(5)]);
    expect(inRing(given, 0)).toEqual(early.slice(0, 2));
    const rest = vms.map(({ vmId }) => vmId).filter((vmId) => !early.slice(0, 2).includes(vmId));
    expect(inRing(given, 1)).toEqual(byHash(given.id, rest));
    expect(given.rings).toMatchObject([
      { first: 0, size: 2 },
      { first: 2, size: 6 },
    ]);
  });

  test('takes nothing that an earlier ring took, and a filter that matches no VM leaves it empty', async () => {
    const rings = [
      ringUpTo(null, tagged('early')),
      ringUpTo(null, tagged('early')),
      ringUpTo(null, tagged('unused')),
      ringUpTo(10_000),
    ];
    const given = await planned({ rings });
    expect(given.rings.map(({ size }) => size)).toEqual([3, 0, 0, 5]);
    expect(given.rings.map(({ first }) => first)).toEqual([0, 3, 3, 3]);
    expect(given.plan.rings[2]).toEqual({
      ...{ name: 'up to null', size: 0, kinds: {}, inFlight: 0, bytes: 0, restarts: 0, silent: 0, longestSeconds: 0 },
      sets: { touched: 0, longest: 0 },
    });
  });

  test('whose boundary earlier rings reached already is empty', async () => {
    const count = { upTo: { count: 2 } };
    const rings = [ringUpTo(null, tagged('canary')), ringUpTo(0, count), ringUpTo(10_000)];
    expect((await planned({ rings })).rings.map(({ size }) => size)).toEqual([3, 0, 5]);
  });

  test('RO-1 of a plan without members is empty, and the plan is stored', async () => {
    const unknown = '00000000-0000-4000-8000-000000000001';
    const rings = [ringUpTo(5_000), ringUpTo(10_000)];
    const { row, plan, members } = await planned({ select: { ids: [unknown] }, rings });
    const params = { matched: 0, unchanged: 0, refused: 0 };
    expect(row).toMatchObject({ state: 'planned', members: 0, why: [{ code: 'plan_empty', params }] });
    expect(plan).toMatchObject({ matched: 0, members: 0, unchanged: 0, kinds: {}, refused: {} });
    expect(plan.rings.map(({ size }) => size)).toEqual([0, 0]);
    expect(members).toEqual([]);
  });
});

describe('RO-1 a selection', () => {
  const matched = async (select: Definition['select']) => {
    const { plan, members } = await planned({ select });
    return [plan.matched, members.map(({ vmId }) => vmId).toSorted()];
  };
  const places = (...some: number[]) => some.map(idAt).toSorted();

  test('of ids contains those that exist, each once', async () => {
    const unknown = '00000000-0000-4000-8000-000000000001';
    expect(await matched({ ids: [idAt(1), unknown, idAt(1), idAt(0)] })).toEqual([2, places(0, 1)]);
  });

  test('of a filter or of all VMs is without the VMs that it excludes', async () => {
    const include = { tags: [{ name: 'availability-set', value: 'db' }] };
    expect(await matched({ include })).toEqual([3, places(0, 1, 4)]);
    expect(await matched({ include, exclude: tagged('canary').filter })).toEqual([1, places(4)]);
    const [, all] = await matched({ all: true, exclude: { tags: [{ name: 'availability-set' }] } });
    expect(all).toEqual(expect.arrayContaining(places(3, 6, 7)));
    for (const place of [0, 1, 2, 4, 5]) expect(all).not.toContain(idAt(place));
  });

  test('with an exclude that has no condition excludes nothing', async () => {
    const include = tagged('late').filter;
    expect(await matched({ include, exclude: {} })).toEqual([2, places(6, 7)]);
    expect(await matched({ include, exclude: { tags: [], q: '' } })).toEqual([2, places(6, 7)]);
  });
});
