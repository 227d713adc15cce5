import { and, eq, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { relations, services, unitPorts, units } from '#db/schema/index.ts';
import { countFleet, type FleetFilter } from '#server/domain/fleet/index.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { addRelation, beginRun, endRun, removeUnit, resolveUnit } from '#server/domain/services/index.ts';
import { ServiceStage } from '#server/domain/services/testing/service-stage.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { testContext } from '#server/testing/context.ts';
import { getHandlerOverview } from '../get-handler-overview.ts';
import { listCatalogue } from '../list-catalogue.ts';
import { listFleet } from '../list-fleet.ts';
import { listFailingUnits } from './list-failing-units.ts';
import { listRecentRuns } from './list-recent-runs.ts';
import { listServiceStates } from './list-service-states.ts';

let stage: ServiceStage;
let off: Staged;
let machine: number;
let vmId: string;
let blog: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  off = await stage.stage.bootstrapped();
  const requires = { db: { interface: 'store', limit: 2 } };
  blog = await stage.formula('blog', '1.0.0.0', { metadata: { requires } });
  const admin = await testContext({ services: stage.ctx });
  const messages = [
    { id: 'login', text: 'No login for {0}.' },
    { id: 'long', text: `${'ä'.repeat(700)} {0}` },
  ];
  const file = [{ version: 1, lang: 'en', messages }];
  await setResources(admin, { handler: blog.formula, version: blog.version, lang: 'en', file });
  const { newUnits } = await stage.deploy(off, 'first', blog);
  ({ machine, vmId } = newUnits[0]!.machine!);
});

const declare = (service: string, more: object = {}) =>
  stage.declare(off, service, { ...blog, units: 1, to: machine, ...more });
const stateOf = async (service: string, more: object = {}) => {
  const { items } = await listServiceStates(stage.viewer, { model: off.model, service, ...more });
  return items[0]!;
};
const begin = async (unit: string, hook = 'install', attempt = 1) => {
  const at = { vmId, unit, run: uuid() };
  await beginRun(stage.ctx, at, { phase: 'begin', hook, attempt, formula: '1.0.0.0', timeoutSeconds: 300 });
  return at;
};
/** Lets a hook fail, with a message of the formula if one is given. */
async function fail(unit: string, reason: { id: string; params: string[] } | null = null, attempt = 1) {
  const at = await begin(unit, 'install', attempt);
  const end = { phase: 'end' as const, exitCode: 3, signal: null, timedOut: false, seconds: 1, output: '' };
  await endRun(stage.ctx, at, { ...end, views: [], reason });
  return at.run;
}

describe('the VMs of a formula', () => {
  test('are counted once each, and are those that the list shows', async () => {
    const counted = await stage.formula('counted');
    const handler = counted.formula;
    const shown = async () => {
      const { items } = await listCatalogue(stage.viewer, { q: handler });
      const { vms } = await getHandlerOverview(stage.viewer, { handler });
      const listed = await listFleet(stage.viewer, { unitOf: handler } as FleetFilter);
      const { matching } = await countFleet(stage.viewer, { unitOf: handler } as FleetFilter);
      return { catalogue: items[0]?.vms, vms, matching, listed: listed.items.map(({ id }) => id) };
    };
    expect(await shown()).toEqual({ catalogue: 0, vms: 0, matching: 0, listed: [] });
    await stage.declare(off, 'counted', { ...counted, units: 1, to: machine });
    await stage.declare(off, 'counted-too', { ...counted, units: 1, to: machine });
    const { newUnits } = await stage.deploy(off, 'elsewhere', { ...counted, units: 1 });
    const other = newUnits[0]!.machine!.vmId;
    const both = { catalogue: 2, vms: 2, matching: 2, listed: expect.arrayContaining([vmId, other]) };
    expect(await shown()).toEqual(both);
    await removeUnit(stage.ctx, { model: off.model, unit: 'counted/0', force: true });
    expect(await shown()).toEqual(both);
    await removeUnit(stage.ctx, { model: off.model, unit: 'counted-too/0', force: true });
    expect(await shown()).toEqual({ catalogue: 1, vms: 1, matching: 1, listed: [other] });
  });
});

describe('the units of a service', () => {
  test('are sorted by number, 10 after 9, without those that were removed', async () => {
    await declare('ordered', { units: 12 });
    await removeUnit(stage.ctx, { model: off.model, unit: 'ordered/4' });
    const { units: shown } = await stateOf('ordered');
    expect(shown.map(({ number }) => number)).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]);
    await declare('ordered', { units: 0 });
    expect((await stateOf('ordered')).units).toEqual([]);
  });

  test('are shown with the hook that runs, the next one, their ports and their place', async () => {
    await declare('busy');
    await begin('busy/0');
    const [row] = await stage.ctx.db.select().from(units).where(eq(units.name, 'busy/0'));
    const opened = { unitId: row!.id, protocol: 'tcp' as const, openedRun: uuid(), openedAt: stage.ctx.now };
    await stage.ctx.db.insert(unitPorts).values([443, 80].map((port) => ({ ...opened, port })));
    const [unit] = (await stateOf('busy')).units;
    expect(unit).toMatchObject({
      ...{ running: 'install', next: { hook: 'install', remoteUnit: null }, ports: ['80/tcp', '443/tcp'] },
      ...{ vmId, machine, vm: expect.any(String), publicAddress: expect.stringContaining('public') },
    });
  });

  test('are confirmed when their hooks have run, and no longer after a change', async () => {
    await declare('confirmed');
    const shown = async () => {
      const [unit] = (await stateOf('confirmed')).units;
      return { stage: unit?.stage, isConfirmed: unit?.isConfirmed, settingsVersion: unit?.settingsVersion };
    };
    expect(await shown()).toEqual({ stage: 'placed', isConfirmed: false, settingsVersion: 1 });
    await stage.start({ unit: 'confirmed/0', vmId });
    expect(await shown()).toEqual({ stage: 'started', isConfirmed: true, settingsVersion: 1 });
    await declare('confirmed', { settings: { a: 1 } });
    expect(await shown()).toEqual({ stage: 'started', isConfirmed: false, settingsVersion: 2 });
    expect((await stateOf('confirmed')).units[0]?.next).toEqual({ hook: 'config-changed', remoteUnit: null });
    await removeUnit(stage.ctx, { model: off.model, unit: 'confirmed/0' });
    const [leaving] = (await stateOf('confirmed')).units;
    expect(leaving).toMatchObject({ life: 'dying', stage: 'leaving', next: { hook: 'stop' } });
  });
});

test('a unit whose machine somebody else enrolled needs a release of the protected settings', async () => {
  await declare('sealed', { protectedSettings: { password: 'hunter2' } });
  const needs = async () => (await stateOf('sealed')).units.map(({ needsRelease }) => needsRelease);
  const { rows } = await stage.ctx.db.execute<{ key: string | null; admin: boolean }>(
    sql`select issuer_key as key, issuer_is_admin as admin from agents where vm_id = ${vmId}`,
  );
  const issuedBy = (key: string | null, admin: boolean) =>
    stage.ctx.db.execute(sql`update agents set issuer_key = ${key}, issuer_is_admin = ${admin} where vm_id = ${vmId}`);
  await issuedBy('user:eve', false);
  expect(await needs()).toEqual([true]);
  await issuedBy(rows[0]!.key, rows[0]!.admin);
  expect(await needs()).toEqual([false]);
});

describe('a hook that fails', () => {
  test('of a relation is listed with the relation, and no hook of another one', async () => {
    const cache = await stage.formula('cache', '1.0.0.0', { metadata: { provides: { db: { interface: 'store' } } } });
    await stage.declare(off, 'cache', { ...cache, units: 1, to: machine });
    await declare('reader');
    const { id, number } = await addRelation(stage.ctx, { model: off.model, endpoints: ['reader', 'cache'] });
    const run = await fail('reader/0', { id: 'login', params: ['wp'] });
    const failing = (of: number) =>
      listFailingUnits(stage.viewer, { model: off.model, number: of }).then(({ items }) => items);
    expect(await failing(number), 'a hook of the unit').toEqual([]);
    const [own] = await stage.ctx.db.select().from(units).where(eq(units.name, 'reader/0'));
    const hook = { ...Object.values(own!.failing)[0]!, hook: 'db-relation-changed', remoteUnit: 'cache/0' };
    await stage.ctx.db
      .update(units)
      .set({ failing: { [id]: hook } })
      .where(eq(units.name, 'reader/0'));
    expect(await failing(number)).toMatchObject([
      {
        ...{ unit: 'reader/0', service: 'reader', formula: blog.formula },
        failing: [{ run, hook: 'db-relation-changed', remoteUnit: 'cache/0', reason: { text: 'No login for wp.' } }],
      },
    ]);
    await expect(failing(99)).rejects.toMatchObject({ code: 'relation_unknown' });
  });

  test('is shown with its attempts and what an operator decided, until the next failure', async () => {
    await declare('failing');
    await stage.look(vmId);
    const failing = async () => (await stateOf('failing')).units[0]?.failing;
    const run = await fail('failing/0');
    const shown = { hook: 'install', failures: 1, outcome: 'failed', exitCode: 3, remoteUnit: null, reason: null };
    expect(await failing()).toMatchObject([{ ...shown, run, resolution: null }]);
    await resolveUnit(stage.ctx, { model: off.model, unit: 'failing/0', run, retry: true });
    expect(await failing()).toMatchObject([{ ...shown, run, resolution: 'retry' }]);
    const newer = await fail('failing/0', null, 2);
    expect(await failing()).toMatchObject([{ ...shown, run: newer, failures: 2, resolution: null }]);
    await stage.run({ unit: 'failing/0', vmId }, 'install');
    expect(await failing()).toEqual([]);
  });

  test.each<[string, string, { id: string; params: string[] } | null, string | null]>([
    ['without a message has no reason', 'silent', null, null],
    ['with a message that its formula lacks has its id', 'foreign', { id: 'absent', params: [] }, 'absent'],
    ['has the text with its values', 'known', { id: 'login', params: ['wp'] }, 'No login for wp.'],
  ])('%s', async (_, service, reason, text) => {
    await declare(service);
    const run = await fail(`${service}/0`, reason);
    // A language that the formula lacks falls back to its own.
    for (const chosenLanguage of ['en', 'fr']) {
      const [failing] = (await stateOf(service, { chosenLanguage })).units[0]?.failing ?? [];
      expect(failing?.reason?.text ?? null).toBe(text);
      const { items } = await listRecentRuns(stage.viewer, { model: off.model, service, chosenLanguage });
      expect(items.map(({ id, reason: shown }) => [id, shown?.text ?? null])).toEqual([[run, text]]);
    }
  });

  test('has a reason of at most 1,024 bytes, which does not end within a character', async () => {
    await declare('wordy');
    await fail('wordy/0', { id: 'long', params: ['end'] });
    const [failing] = (await stateOf('wordy')).units[0]?.failing ?? [];
    const text = failing?.reason?.text ?? '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_024);
    expect(text).toMatch(/^ä{500,}/);
    expect(text).not.toContain('\ufffd');
  });
});

describe('a service', () => {
  test('is shown with its limit of units that change, its exposure and its life', async () => {
    await declare('shown', { units: 0, upgrade: { atOnce: 'all' }, exposed: true });
    expect(await stateOf('shown')).toMatchObject({ atOnce: null, exposed: true, life: 'alive', settingsVersion: 1 });
    await declare('shown', { units: 0, upgrade: { atOnce: 3 }, exposed: false, settings: { a: 1 } });
    expect(await stateOf('shown')).toMatchObject({ atOnce: 3, exposed: false, settingsVersion: 2 });
    await stage.ctx.db.update(services).set({ life: 'dying' }).where(eq(services.name, 'shown'));
    expect(await stateOf('shown')).toMatchObject({ life: 'dying' });
  });

  test('counts a relation that ends until it has ended, because it counts toward the limit', async () => {
    const store = await stage.formula('store', '1.0.0.0', { metadata: { provides: { db: { interface: 'store' } } } });
    await declare('front', { units: 0 });
    await stage.declare(off, 'store', { ...store, units: 0 });
    const { id } = await addRelation(stage.ctx, { model: off.model, endpoints: ['front', 'store'] });
    const counted = async () =>
      (await stateOf('front')).endpoints.map(({ name, limit, relations: all }) => [name, limit, all]);
    await stage.ctx.db.update(relations).set({ life: 'dying' }).where(eq(relations.id, id));
    expect(await counted()).toEqual([['db', 2, 1]]);
    expect((await stateOf('store')).endpoints).toMatchObject([{ side: 'provides', limit: null, relations: 1 }]);
    await stage.ctx.db.update(relations).set({ removedAt: stage.ctx.now }).where(eq(relations.id, id));
    expect(await counted()).toEqual([['db', 2, 0]]);
  });

  test('that was removed is not listed, and another service can have its name', async () => {
    await declare('reused', { units: 0 });
    const named = and(eq(services.name, 'reused'), sql`removed_at is null`);
    await stage.ctx.db.update(services).set({ life: 'dying', removedAt: stage.ctx.now }).where(named);
    await expect(stateOf('reused')).rejects.toMatchObject({ kind: 'not_found', code: 'service_unknown' });
    await declare('reused', { units: 0, settings: { a: 1 } });
    const { items } = await listServiceStates(stage.viewer, { model: off.model });
    expect(items.filter(({ name }) => name === 'reused')).toHaveLength(1);
    const names = items.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
  });
});

describe('the latest runs', () => {
  test('have the newest first, even for one unit, and end with the limit', async () => {
    await declare('runs');
    const runs: string[] = [];
    for (const attempt of [1, 2, 3]) {
      const run = await fail('runs/0', null, attempt);
      const begun = new Date(stage.ctx.now.getTime() + attempt * 1_000).toISOString();
      await stage.ctx.db.execute(sql`update hook_runs set begun_at = ${begun}::timestamptz where id = ${run}`);
      runs.unshift(run);
    }
    const listed = async (limit: number) => {
      const { items } = await listRecentRuns(stage.viewer, { model: off.model, service: 'runs', limit });
      return items.map(({ id }) => id);
    };
    expect(await listed(100)).toEqual(runs);
    expect(await listed(2)).toEqual(runs.slice(0, 2));
    for (const limit of [0, 101, 1.5]) await expect(listed(limit)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('and the services are not shown without a sign-in', async () => {
    const anonymous = await testContext({ services: stage.ctx, role: null });
    for (const list of [listRecentRuns, listServiceStates]) {
      await expect(list(anonymous, { model: off.model })).rejects.toMatchObject({ kind: 'unauthenticated' });
    }
  });
});
