import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rollouts, vms as vmsTable } from '#db/schema/index.ts';
import type { Definition, RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { upgrade } from '../testing/given-draft.ts';
import { type GivenPlan, givenPlan } from '../testing/given-plan.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
const vms: Record<string, GivenVm> = {};
const vmOf = (name: string): GivenVm => vms[name] as GivenVm;
const idsOf = (...names: string[]) => names.map((name) => vmOf(name).vmId);

type Goal = Parameters<GivenVm['declare']>[1];
const info = { settings: { publicSettings: { level: 'info' } } };
const current = { version: '1.1.0.0', ...info };

/** What each VM has of the handler before the change. */
const fleet: Record<string, Goal | null> = {
  absent: null,
  older: { version: '1.0.0.0' },
  olderDisabled: { version: '1.0.0.0', state: 'disabled', ...info },
  newer: { version: '1.2.0.0', ...info },
  plain: { version: '1.1.0.0' },
  disabled: { ...current, state: 'disabled' },
  manual: current,
  reached: { ...current, autoUpgradeMinorVersion: true },
};

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  for (const version of ['1.0.0.0', '1.1.0.0', '1.2.0.0']) await givenVersion(services.db, { version });
  await givenVersion(services.db, { handler: 'Acme.Lab.Mount' });
  for (const [name, goal] of Object.entries(fleet)) {
    const vm = await givenVm(services, name);
    vms[name] = vm;
    if (goal !== null) await vm.declare('probe', goal);
  }
});

afterEach(() => services.db.delete(rollouts));

const all = () => Object.values(vms).map(({ vmId }) => vmId);
const planned = (change: Partial<RolloutChange>, definition: Partial<Definition> = {}) =>
  givenPlan(services, { select: { ids: all() }, change: { ...upgrade, ...change }, ...definition });

/** Returns the kind of each member by the name of its VM. */
function kindsOf({ members }: Pick<GivenPlan, 'members'>): Record<string, string | undefined> {
  const names = new Map(Object.entries(vms).map(([name, { vmId }]) => [vmId, name]));
  return Object.fromEntries(members.map(({ vmId, kind }) => [names.get(vmId) ?? vmId, kind]));
}

/** A change that does something else on almost every VM. */
const everything: Partial<RolloutChange> = {
  ...{ extension: 'probe', version: '1.1.0.0', state: 'enabled', autoUpgradeMinorVersion: true },
  publicSettings: { merge: { level: 'info' } },
};

describe('RO-4 the kind of a member', () => {
  test('is the first one that applies, and a VM that has everything already is not a member', async () => {
    const plan = await planned({ ...everything, onAbsent: 'install', allowLower: true });
    expect(kindsOf(plan)).toEqual({
      ...{ absent: 'install', older: 'update', olderDisabled: 'update', newer: 'lower' },
      ...{ plain: 'settings', disabled: 'state', manual: 'policy' },
    });
    const kinds = { install: 1, update: 2, lower: 1, settings: 1, state: 1, policy: 1 };
    expect(plan.plan).toMatchObject({ matched: 8, members: 7, unchanged: 1, refused: {}, kinds });
    expect(plan.plan.rings[0]?.kinds).toEqual(kinds);
  });

  test('RO-3 a lower version is left alone unless it is allowed', async () => {
    const plan = await planned(everything);
    expect(kindsOf(plan)).not.toHaveProperty('newer');
    expect(plan.plan).toMatchObject({ members: 5, unchanged: 3, refused: {} });
    expect(plan.plan.kinds).not.toHaveProperty('lower');
  });

  test('RO-3 an absent extension is installed only if the change names it and asks for it', async () => {
    const select = { ids: idsOf('absent', 'older') };
    const skipped = await planned({ extension: 'probe', onAbsent: 'skip' }, { select });
    expect(kindsOf(skipped)).toEqual({ older: 'update' });
    expect(skipped.plan.unchanged).toBe(1);
    const unnamed = await planned({ extension: null, onAbsent: 'install' }, { select });
    expect(kindsOf(unnamed)).toEqual({ older: 'update' });
    const named = await planned({ extension: 'probe', onAbsent: 'install' }, { select });
    expect(kindsOf(named)).toEqual({ absent: 'install', older: 'update' });
  });

  test('RO-3 another extension of the same name is not changed', async () => {
    const vm = await givenVm(services, 'mounted');
    await vm.declare('probe', { handler: 'Acme.Lab.Mount', version: '1.0.0.0' });
    const { plan, members } = await planned({ extension: 'probe' }, { select: { ids: [vm.vmId] } });
    expect(plan).toMatchObject({ matched: 1, unchanged: 1 });
    expect(members).toEqual([]);
  });

  test('is settings for a merge that changes something, and a merge of equal values changes nothing', async () => {
    const same = await planned({ version: null, publicSettings: { merge: { level: 'info', removed: null } } });
    expect(kindsOf(same)).toEqual({ older: 'settings', plain: 'settings' });
    const replaced = await planned({ version: null, publicSettings: { replace: {} } });
    expect(Object.keys(kindsOf(replaced)).toSorted()).toEqual(
      ['disabled', 'manual', 'newer', 'olderDisabled', 'reached'].toSorted(),
    );
    expect(replaced.plan.kinds).toEqual({ settings: 5 });
  });

  test('is state for enabling and disabling, each where it is not so yet', async () => {
    const disabled = await planned({ version: null, state: 'disabled' });
    expect(disabled.plan).toMatchObject({ members: 5, unchanged: 3, kinds: { state: 5 } });
    const enabled = await planned({ version: null, state: 'enabled' });
    expect(kindsOf(enabled)).toEqual({ disabled: 'state', olderDisabled: 'state' });
  });

  test('is retry on every VM that has the extension', async () => {
    const plan = await planned({ kind: 'retry', version: null });
    expect(plan.plan).toMatchObject({ matched: 8, members: 7, unchanged: 1, kinds: { retry: 7 } });
    expect(kindsOf(plan)).not.toHaveProperty('absent');
    expect(plan.plan.rings[0]).toMatchObject({ size: 7, restarts: 0 });
  });

  test('is remove, and VMs on which another extension needs it are rejected', async () => {
    const vm = await givenVm(services, 'needing');
    await vm.declare('probe');
    await vm.declare('mount', { handler: 'Acme.Lab.Mount', version: '1.0.0.0', dependsOn: ['probe'] });
    const select = { ids: [...all(), vm.vmId] };
    const { plan } = await planned({ kind: 'remove', version: null }, { select });
    expect(plan).toMatchObject({ matched: 9, members: 7, unchanged: 1, kinds: { remove: 7 } });
    expect(plan.refused).toEqual({
      extension_needed: { count: 1, examples: [{ vmId: vm.vmId, name: vm.name }] },
    });
    expect(plan.rings[0]?.bytes).toBe(0);
  });

  test('is revert on VMs whose last change can be undone', async () => {
    const vm = await givenVm(services, 'reverted');
    await vm.declare('probe');
    await vm.declare('probe', { version: '1.2.0.0' });
    const fresh = await givenVm(services, 'fresh');
    const select = { ids: [vm.vmId, fresh.vmId] };
    const { plan, members } = await planned({ kind: 'revert', version: null }, { select });
    expect(members).toEqual([{ vmId: vm.vmId, ring: 0, kind: 'revert' }]);
    expect(plan).toMatchObject({ matched: 2, members: 1, kinds: { revert: 1 } });
  });
});

describe('RO-4 VMs that would be rejected', () => {
  test('are counted for each code, with at most five of them by name', async () => {
    const strict = { handler: 'Acme.Lab.Strict', version: '2.0.0.0' };
    await givenVersion(services.db, { handler: 'Acme.Lab.Strict', version: '1.0.0.0' });
    const publicSettings = { type: 'object', properties: { port: { type: 'integer' } }, additionalProperties: false };
    await givenVersion(services.db, { ...strict, settingsSchema: { publicSettings } });
    const wrong: GivenVm[] = [];
    for (let n = 0; n < 7; n++) {
      const vm = await givenVm(services, `wrong-${n}`);
      const settings = { publicSettings: n === 0 ? { port: 1 } : { prot: n } };
      await vm.declare('strict', { handler: 'Acme.Lab.Strict', version: '1.0.0.0', settings });
      wrong.push(vm);
    }
    const [right, ...others] = wrong;
    const { plan, members } = await planned(strict, { select: { ids: wrong.map(({ vmId }) => vmId) } });
    expect(members.map(({ vmId }) => vmId)).toEqual([right?.vmId]);
    const [[code, refused] = []] = Object.entries(plan.refused);
    expect(code).toMatch(/^setting/);
    expect(plan).toMatchObject({ matched: 7, members: 1, unchanged: 0 });
    expect(refused?.count).toBe(6);
    expect(refused?.examples).toHaveLength(5);
    const names = new Map(others.map(({ vmId, name }) => [vmId, name]));
    for (const { vmId, name } of refused?.examples ?? []) expect(names.get(vmId)).toBe(name);
  });

  test('include VMs that are being decommissioned, but not deleted ones', async () => {
    const [leaving, deleted] = [await givenVm(services, 'leaving'), await givenVm(services, 'deleted')];
    for (const { declare } of [leaving, deleted]) await declare('probe');
    const set = (vmId: string, values: object) => services.db.update(vmsTable).set(values).where(eq(vmsTable.id, vmId));
    await set(leaving.vmId, { decommissioningAt: new Date() });
    await set(deleted.vmId, { deletedAt: new Date() });
    const { plan } = await planned({}, { select: { ids: [leaving.vmId, deleted.vmId] } });
    const { vmId, name } = leaving;
    expect(plan).toMatchObject({ matched: 1, members: 0, unchanged: 0 });
    expect(plan.refused).toEqual({ vm_decommissioning: { count: 1, examples: [{ vmId, name }] } });
  });

  test('do not include VMs that have the withdrawn version already', async () => {
    await services.db.execute(sql`update handler_versions set state = 'withdrawn' where version = '1.2.0.0'`);
    const { plan } = await planned({ version: '1.2.0.0' }, { select: { ids: idsOf('newer', 'older') } });
    await services.db.execute(sql`update handler_versions set state = 'published' where version = '1.2.0.0'`);
    expect(plan).toMatchObject({ matched: 2, members: 0, unchanged: 1, refused: { version_withdrawn: { count: 1 } } });
  });
});
