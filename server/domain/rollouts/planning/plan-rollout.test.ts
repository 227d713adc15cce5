import { createHash } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { goalStateHeads, rollouts, secrets, vmHealth } from '#db/schema/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { ringSizes } from '#server/domain/rollout-rules/rings.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { givenPlanning, membersOf, ringsOf, ringUpTo, rowOf, setRollout, upgrade } from '../testing/given-draft.ts';
import { planRollout } from './plan-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
const vms: GivenVm[] = [];
const at = (place: number): GivenVm => vms[place] as GivenVm;

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  for (const version of ['1.0.0.0', '1.1.0.0', '1.2.0.0']) await givenVersion(services.db, { version });
  await givenVersion(services.db, { version: '1.3.0.0', state: 'withdrawn' });
  for (let n = 0; n < 10; n++) {
    const vm = await givenVm(services);
    await vm.declare('probe', n === 9 ? { version: '1.2.0.0' } : {});
    vms.push(vm);
  }
  const operator = await testContext({ services, role: 'operator' });
  for (const place of [0, 1, 2]) await updateVm(operator, { vmId: at(place).vmId, tags: { 'availability-set': 'db' } });
  await foldHealth(services, new Date(), { limit: 100 });
});

// Plans of later tests do not overlap with rollouts of earlier ones.
afterEach(() => services.db.delete(rollouts));

async function planned(definition: Partial<Definition> = {}, values: Parameters<typeof givenPlanning>[2] = {}) {
  const select = { ids: vms.map(({ vmId }) => vmId) };
  const id = await givenPlanning(services, { select, ...definition }, values);
  expect(await planRollout(services, id)).toBe('done');
  const [row, members, rings] = [await rowOf(services, id), await membersOf(services, id), await ringsOf(services, id)];
  return { id, row, members, rings };
}

const idsOf = (members: readonly { vmId: string }[]) => members.map(({ vmId }) => vmId);
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

describe('RO-4 a plan', () => {
  test('states the members by kind, the VMs without a change, and what each ring needs', async () => {
    const { row, members, rings } = await planned();
    expect(row).toMatchObject({ state: 'planned', members: 9, why: [], approvals: [], dueAt: null });
    expect(row.plan).toMatchObject({
      ...{ hash: row.planHash, by: 'Test', matched: 10, members: 9, unchanged: 1, kinds: { update: 9 } },
      ...{ refused: {}, overlaps: [], notRevertible: {}, uncheckedSettings: 0 },
      rings: [{ size: 9, kinds: { update: 9 }, inFlight: 1, bytes: 9 * 1234, restarts: 0, silent: 0 }],
    });
    expect(row.plan?.rings[0]?.sets).toEqual({ touched: 1, longest: 3 });
    const [at, earliest, likely] = [row.plan?.at, row.plan?.earliestEnd, row.plan?.likelyEnd].map((end) => end ?? '');
    expect([at, earliest, likely].toSorted()).toEqual([at, earliest, likely]);
    expect(new Set([at, earliest, likely]).size).toBe(3);
    expect(rings).toMatchObject([{ ring: 0, state: 'waiting', first: 0, size: 9, taken: 0 }]);
    expect(members.map(({ kind }) => kind)).toEqual(Array(9).fill('update'));
  });

  test('without members says why it cannot start, unless VMs can join later', async () => {
    const select = { ids: [at(0).vmId] };
    const change = { ...upgrade, version: '1.0.0.0' };
    expect((await planned({ select, change })).row.why).toMatchObject([
      { code: 'plan_empty', params: { matched: 1, unchanged: 1, refused: 0 } },
    ]);
    expect((await planned({ select, change, newcomers: 'include' })).row.why).toEqual([]);
    expect((await planned({ select })).row.why).toEqual([]);
  });

  test('counts rejected VMs by code, with examples', async () => {
    const { row } = await planned({ change: { ...upgrade, version: '1.3.0.0' } });
    expect(row.plan).toMatchObject({ members: 0, refused: { version_withdrawn: { count: 10 } } });
    const params = { matched: 10, unchanged: 0, refused: 10 };
    expect(row.why).toMatchObject([{ code: 'plan_empty', params }]);
    const examples = row.plan?.refused.version_withdrawn?.examples ?? [];
    expect(examples).toHaveLength(5);
    const names = new Map(vms.map(({ vmId, name }) => [vmId, name]));
    expect(examples.every(({ vmId, name }) => names.get(vmId) === name)).toBe(true);
  });

  test('counts members that cannot be reverted', async () => {
    await services.db.execute(sql`update handler_versions set state = 'withdrawn' where version = '1.0.0.0'`);
    const { row } = await planned();
    await services.db.execute(sql`update handler_versions set state = 'published' where version = '1.0.0.0'`);
    expect(row.plan).toMatchObject({ members: 9, notRevertible: { version_withdrawn: 9 } });
  });

  test('leaves out VMs whose protected settings an admin must release first', async () => {
    const vm = await givenVm(services, 'withheld');
    const { vmId, name } = vm;
    await vm.declare('probe', { settings: { protectedSettings: { key: 'x' } } });
    await services.db.update(secrets).set({ cms: null }).where(eq(secrets.vmId, vmId));
    const { certificate } = await newKeyPair();
    const head = services.db.update(goalStateHeads).set({ certificate, thumbprint: 'AB' });
    await head.where(eq(goalStateHeads.vmId, vmId));
    const { row } = await planned({ select: { ids: [vmId] } });
    const refused = { secrets_need_release: { count: 1, examples: [{ vmId, name }] } };
    expect(row.plan).toMatchObject({ matched: 1, members: 0, refused });
  });

  test('counts members whose agent is silent', async () => {
    const health = services.db.update(vmHealth);
    await health.set({ agent: 'unresponsive' }).where(eq(vmHealth.vmId, at(0).vmId));
    const { row } = await planned();
    await health.set({ agent: 'never' }).where(eq(vmHealth.vmId, at(0).vmId));
    expect(row.plan?.rings[0]).toMatchObject({ size: 9, silent: 1 });
  });

  test('does not count availability sets that the rollout ignores', async () => {
    const { row } = await planned({ availabilitySets: 'ignore' });
    expect(row.plan?.rings[0]?.sets).toEqual({ touched: 0, longest: 0 });
  });

  test('writes only the tables of rollouts', async () => {
    const { db } = services;
    const { rows } = await db.execute<{ name: string }>(sql`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition`);
    const own = ['rollouts', 'rollout_rings', 'rollout_members'];
    // Rows of `changes` notify open pages and are not part of the data.
    const others = rows.map(({ name }) => name).filter((name) => ![...own, 'changes'].includes(name));
    expect(others.length).toBeGreaterThan(50);
    await db.execute(sql`
      create function forbid() returns trigger language plpgsql as $$ begin raise 'wrote %', tg_table_name; end $$`);
    for (const name of others) {
      await db.execute(
        sql.raw(`create trigger forbidden before insert or update or delete on "${name}" execute function forbid()`),
      );
    }
    await expect(db.execute(sql`delete from vms where false`)).rejects.toThrow();
    const { row, members } = await planned();
    for (const name of others) await db.execute(sql.raw(`drop trigger forbidden on "${name}"`));
    expect(row.plan?.members).toBe(9);
    expect(members).toHaveLength(9);
  });
});

describe('RO-7 the order', () => {
  test('is the MD5 of both ids, the same for each plan of a rollout and another for other rollouts', async () => {
    const first = await planned();
    const expected = vms
      .slice(0, 9)
      .map(({ vmId }) => vmId)
      .sort((a, b) => (md5(`${first.id}/${a}`) < md5(`${first.id}/${b}`) ? -1 : 1));
    expect(idsOf(first.members)).toEqual(expected);
    await setRollout(services, first.id, { state: 'planning', planning: 2 });
    await planRollout(services, first.id);
    expect(await membersOf(services, first.id)).toEqual(first.members);
    const second = await planned();
    expect(idsOf(second.members).toSorted()).toEqual(expected.toSorted());
    expect(idsOf(second.members)).not.toEqual(expected);
  });

  test('is that of each ring, and a ring takes first who comes first', async () => {
    const whole = await planned();
    const rings = [ringUpTo(3_300), ringUpTo(6_600), ringUpTo(10_000)];
    await setRollout(services, whole.id, { state: 'planning', definition: { ...whole.row.definition, rings } });
    await planRollout(services, whole.id);
    expect(idsOf(await membersOf(services, whole.id))).toEqual(idsOf(whole.members));
  });
});

test.each([
  [[3_300, 6_600, 10_000], 9],
  [[100, 1_000, 5_000, 10_000], 9],
  [[100, 1_000, 5_000, 10_000], 1],
  [[1, 10_000], 7],
])('RO-8 the stored rings up to %j of %i members are those that the editor shows', async (shares, members) => {
  const given = shares.map((share) => ringUpTo(share));
  const select = { ids: vms.slice(0, members).map(({ vmId }) => vmId) };
  const { rings, row } = await planned({ select, rings: given });
  const sizes = ringSizes(given, members);
  expect(rings.map(({ size }) => size)).toEqual(sizes);
  expect(rings.map(({ first }) => first)).toEqual(sizes.map((_, n) => sizes.slice(0, n).reduce((a, b) => a + b, 0)));
  expect(row.plan?.rings.map(({ size }) => size)).toEqual(sizes);
});

test('RO-8 a ring with a filter takes all that match, and later rings count them', async () => {
  const filter = { q: at(4).name };
  const rings = [ringUpTo(null, { filter }), ringUpTo(5_000), ringUpTo(10_000)];
  const { members } = await planned({ rings });
  expect(members.filter(({ ring }) => ring === 0)).toEqual([{ vmId: at(4).vmId, ring: 0, kind: 'update' }]);
  expect([1, 2].map((ring) => members.filter((member) => member.ring === ring).length)).toEqual([4, 4]);
});

test('RO-2 the snapshot decides what reports and time move, and a VM that leaves the filter later stays', async () => {
  const vm = await givenVm(services, 'leaver');
  await vm.declare('probe');
  await foldHealth(services, new Date(), { limit: 100 });
  const { id, members } = await planned({ select: { include: { version: '1.0.*', q: 'leaver' } } });
  expect(idsOf(members)).toEqual([vm.vmId]);
  await vm.declare('probe', { version: '1.2.0.0' });
  await foldHealth(services, new Date(), { limit: 100 });
  expect(await membersOf(services, id)).toEqual(members);
  const again = await planned({ select: { include: { version: '1.0.*', q: 'leaver' } } });
  expect(again.row.plan).toMatchObject({ matched: 0, members: 0 });
});

describe('RO-14 an overlap', () => {
  const open = (definition: Partial<Definition> = {}) =>
    planned(definition).then(async ({ id }) => {
      await setRollout(services, id, { state: 'running', name: 'Earlier' });
      return id;
    });

  test('is an open rollout of the same extension, with the members that it still changes', async () => {
    const id = await open({ select: { ids: [at(0).vmId, at(1).vmId, at(2).vmId] } });
    await services.db.execute(sql`
      insert into rollout_steps (vm_id, rollout_id, ring, place, kind, state, updated_at)
      values (${at(0).vmId}, ${id}, 0, 0, 1, 'succeeded', now()), (${at(1).vmId}, ${id}, 0, 1, 1, 'soaking', now())`);
    const { row } = await planned();
    expect(row.plan?.overlaps).toEqual([{ id, name: 'Earlier', members: 2 }]);
  });

  test('is not a rollout of another extension', async () => {
    const id = await open();
    const { definition } = await rowOf(services, id);
    const probe = { change: { ...upgrade, extension: 'probe' } };
    const earlier = (extension: string) =>
      setRollout(services, id, { definition: { ...definition, change: { ...upgrade, extension } } });
    await earlier('probe');
    expect((await planned(probe)).row.plan?.overlaps).toMatchObject([{ id, members: 9 }]);
    await earlier('other');
    expect((await planned(probe)).row.plan).toMatchObject({ members: 9, overlaps: [] });
  });

  test('is not a rollout on other VMs', async () => {
    await open({ select: { ids: [at(0).vmId] } });
    const { row } = await planned({ select: { ids: [at(1).vmId, at(2).vmId] } });
    expect(row.plan).toMatchObject({ members: 2, overlaps: [] });
  });

  test('is not the rollout that a revert puts back', async () => {
    const id = await open();
    const { row } = await planned({}, { of: id });
    expect(row.plan?.overlaps).toEqual([]);
  });
});

describe('a rollout that cannot be planned is a draft again, and says why:', () => {
  test('a filter without conditions, or with one that is not known here, selects nothing', async () => {
    for (const include of [{}, { tags: [] }, { q: '' }, { mood: 'good', q: at(0).name }]) {
      const { row, members } = await planned({ select: { include } });
      expect(row).toMatchObject({ state: 'draft', plan: null, why: [{ code: 'plan_failed' }] });
      expect(row.why[0]?.params).toMatchObject({ cause: 'selection_empty' });
      expect(members).toEqual([]);
    }
  });

  test('RO-35 a maintenance window into which the commands of a ring do not fit', async () => {
    const night = (to: string) => [{ days: ['sun' as const], from: '01:00', to, timeZone: 'Europe/Berlin' }];
    const longest = (await planned()).row.plan?.rings[0]?.longestSeconds ?? 0;
    expect(longest).toBeGreaterThan(120);
    const rings = [ringUpTo(5_000), ringUpTo(10_000, { windows: night('01:02') })];
    const { row } = await planned({ rings, windows: night('02:30') });
    const why = { code: 'plan_failed', ring: 1, params: { cause: 'window_too_short', seconds: longest } };
    expect(row).toMatchObject({ state: 'draft', why: [why] });
    expect((await planned({ rings, windows: night('01:02') })).row.why).toMatchObject([{ ring: 0 }]);
    expect((await planned({ windows: night('02:30') })).row.state).toBe('planned');
  });

  test('more members than a rollout may have', async () => {
    const { limits } = services.config;
    const few = { ...limits, rollouts: { ...limits.rollouts, members: 8 } };
    const id = await givenPlanning(services);
    await planRollout({ ...services, config: { ...services.config, limits: few } }, id);
    expect((await rowOf(services, id)).why).toMatchObject([{ params: { cause: 'rollout_too_large', most: 8 } }]);
  });
});

describe('while someone changes a rollout', () => {
  /** Changes the rollout in a transaction that stays open until its plan waits for it. */
  async function meanwhile(id: string, run: () => Promise<string>): Promise<string[]> {
    const outcomes: Promise<string>[] = [];
    await services.db.transaction(async (tx) => {
      await tx.update(rollouts).set({ state: 'draft', planning: 2 }).where(eq(rollouts.id, id));
      outcomes.push(run());
      await vi.waitFor(async () => {
        const { rows } = await services.db.execute(sql`select from pg_locks where not granted`);
        expect(rows).toHaveLength(1);
      });
      outcomes.push(run());
      await outcomes[1];
    });
    return Promise.all(outcomes);
  }

  test('its plan is discarded, and other workers leave it alone', async () => {
    const id = await givenPlanning(services);
    expect(await meanwhile(id, () => planRollout(services, id))).toEqual(['discarded', 'busy']);
    expect(await rowOf(services, id)).toMatchObject({ state: 'draft', plan: null, members: 0, planning: 2 });
    expect(await membersOf(services, id)).toEqual([]);
    expect(await planRollout(services, id)).toBe('none');
  });
});
