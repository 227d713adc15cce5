import { randomUUID } from 'node:crypto';
import { eq, inArray } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensions, goalStateHeads, goalStates, secrets, vms } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { bindCertificate } from '../begin.ts';
import { lockHead } from '../publish.ts';
import { removeExtension } from '../remove-extension.ts';
import { revertGoalState } from '../revert-goal-state.ts';
import { setExtension } from '../set-extension.ts';
import { applyMany } from './apply-many.ts';
import type { Applied, MemberChange, MemberRequest } from './change.ts';
import { newPreviewMemory, previewMany } from './preview-many.ts';

const [probe, many, strict, other] = ['Acme.Lab.Probe', 'Acme.Lab.Many', 'Acme.Lab.Strict', 'Acme.Lab.Other'];
const cause = { action: 'rollout.step', rollout: randomUUID() };
let services: Services;
let ctx: Context;
let operator: Context;

beforeAll(async () => {
  services = await testServices();
  operator = await testContext({ services, role: 'operator' });
  const id = `rollout/${cause.rollout}`;
  ctx = await testContext({
    services,
    actor: { kind: 'system', id, name: 'probe 1.1', role: 'admin', namespaces: [] },
  });
  for (const version of ['1.0.0.0', '1.1.0.0', '2.0.0.0']) {
    await givenVersion(services.db, { version });
    await givenVersion(services.db, { handler: many, version, supportsMultipleExtensions: true });
  }
  await givenVersion(services.db, { handler: other });
  await givenVersion(services.db, { version: '0.9.0.0', state: 'withdrawn' });
  await givenVersion(services.db, {
    handler: strict,
    settingsSchema: {
      publicSettings: { type: 'object', properties: { port: { type: 'integer', minimum: 5 } } },
      protectedSettings: { type: 'object', properties: { password: { type: 'string' } } },
    },
  });
});

const patch = (change: Partial<RolloutChange> = {}): MemberChange & { kind: 'patch' } => ({
  kind: 'patch',
  change: {
    kind: 'set',
    handler: probe,
    extension: null,
    version: null,
    state: null,
    autoUpgradeMinorVersion: null,
    dependsOn: null,
    timeouts: null,
    publicSettings: null,
    protectedSettings: null,
    onAbsent: 'skip',
    allowLower: false,
    asOf: null,
    ...change,
  },
});

type Planned = MemberRequest['planned'];
const requestsOf = (some: readonly GivenVm[], change: MemberChange, planned: Planned = null) =>
  some.map(({ vmId }): MemberRequest => ({ vmId, planned, change }));
const applyAll = (requests: readonly MemberRequest[]) =>
  services.db.transaction((tx) => applyMany(tx, { ...ctx, now: new Date() }, requests, cause));
const previewAll = (requests: readonly MemberRequest[], memory = newPreviewMemory()) =>
  services.db.transaction((tx) => previewMany(tx, ctx, requests, memory));

async function apply(vm: GivenVm, change: MemberChange, planned: Planned = null): Promise<Applied | undefined> {
  return (await applyAll(requestsOf([vm], change, planned))).get(vm.vmId);
}

/** Previews and applies a change, which must agree. Returns its kind or what happened instead. */
async function outcomeOf(vm: GivenVm, change: MemberChange): Promise<string> {
  const preview = (await previewAll(requestsOf([vm], change))).get(vm.vmId);
  const applied = await apply(vm, change);
  const words = (it: { outcome: string; kind?: string; code?: string } | undefined) =>
    it?.kind ?? (it?.code ? `${it.outcome} ${it.code}` : it?.outcome);
  expect(words(preview)).toBe(words(applied));
  return words(applied) ?? '';
}

async function rowsOf({ vmId }: GivenVm) {
  return services.db.select().from(extensions).where(eq(extensions.vmId, vmId)).orderBy(extensions.name);
}
const shown = async (vm: GivenVm) =>
  (await rowsOf(vm)).map(({ name, version, state, sequenceNumber }) => `${name} ${version} ${state} ${sequenceNumber}`);

async function headOf({ vmId }: GivenVm) {
  const [head] = await services.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
  if (!head) throw new Error('the VM has no goal state');
  return head;
}

/** The rendered goal state without the VM's id and encrypted settings, and what the portal stores of each extension. */
async function stateOf(vm: GivenVm) {
  const { text, incarnation } = await headOf(vm);
  const { vmId: _, ...goalState } = JSON.parse(text);
  const rendered = JSON.stringify(goalState, (key, value) => (key.startsWith('protectedSettings') ? '…' : value));
  const rows = (await rowsOf(vm)).map(({ commands, requestedVersion, secretId, everDelivered, deliveredAt }) => ({
    commands,
    requestedVersion,
    hasSecret: secretId !== null,
    everDelivered,
    isDelivered: deliveredAt !== null,
  }));
  return { rendered, incarnation, rows };
}

async function given(...names: string[]): Promise<GivenVm> {
  const vm = await givenVm(services);
  for (const name of names) await vm.declare(name, { settings: { publicSettings: { a: 1, b: { c: 2 } } } });
  return vm;
}

/** Creates two VMs with the same declarations. */
async function twins(prepare: (vm: GivenVm) => Promise<unknown>): Promise<[GivenVm, GivenVm]> {
  const [one, two] = [await givenVm(services), await givenVm(services)];
  for (const vm of [one, two]) await prepare(vm);
  return [one, two];
}

describe('RO-4 a change to one of many VMs does what the same change to a single VM does', () => {
  const goal = { handler: probe, version: '1.1.0.0', state: 'enabled' as const };
  const delivered = async (vm: GivenVm) => {
    await vm.declare('probe', { settings: { publicSettings: { a: 1, b: { c: 2 } } } });
    await vm.deliver();
  };
  const set = (more: object) => (vm: GivenVm) =>
    setExtension(operator, { vmId: vm.vmId, name: 'probe', goal: { ...goal, ...more } });

  test.each<[string, MemberChange, (vm: GivenVm) => Promise<unknown>]>([
    ['a version', patch({ version: '1.1' }), set({ settings: { publicSettings: { a: 1, b: { c: 2 } } } })],
    [
      'settings and timeouts',
      patch({ publicSettings: { merge: { a: null, b: { d: 3 } } }, timeouts: { enable: 9 } }),
      set({ version: '1.0.0.0', timeouts: { enable: 9 }, settings: { publicSettings: { b: { c: 2, d: 3 } } } }),
    ],
    [
      'a policy',
      patch({ timeouts: { enable: 9 }, autoUpgradeMinorVersion: true }),
      set({
        version: '1.0.0.0',
        timeouts: { enable: 9 },
        autoUpgradeMinorVersion: true,
        settings: { publicSettings: { a: 1, b: { c: 2 } } },
      }),
    ],
    [
      'protected settings',
      { ...patch({ protectedSettings: 'given' }), given: { password: 'x' } },
      set({
        version: '1.0.0.0',
        settings: { publicSettings: { a: 1, b: { c: 2 } }, protectedSettings: { password: 'x' } },
      }),
    ],
    ['a removal', patch({ kind: 'remove' }), ({ vmId }) => removeExtension(operator, { vmId, name: 'probe' })],
  ])('%s', async (_, change, alone) => {
    const [one, two] = await twins(delivered);
    await apply(one, change);
    await alone(two);
    expect(await stateOf(one)).toEqual(await stateOf(two));
  });

  test('an installation and a removal without the agent', async () => {
    const [one, two] = await twins(async () => {});
    await apply(one, patch({ extension: 'probe', version: '1.1.0.0', onAbsent: 'install' }));
    await set({})(two);
    expect(await stateOf(one)).toEqual(await stateOf(two));
    await apply(one, patch({ kind: 'remove' }));
    await removeExtension(operator, { vmId: two.vmId, name: 'probe' });
    expect(await stateOf(one)).toEqual(await stateOf(two));
  });

  test('a revert', async () => {
    const [one, two] = await twins(async (vm) => {
      await delivered(vm);
      await vm.declare('probe', { version: '1.1.0.0', dependsOn: [] });
      await vm.deliver();
    });
    expect(await outcomeOf(one, patch({ kind: 'revert' }))).toBe('revert');
    await revertGoalState(operator, { vmId: two.vmId, incarnation: 2 });
    expect(await stateOf(one)).toEqual(await stateOf(two));
    const [three, four] = await twins(delivered);
    const applied = await apply(three, patch({ version: '1.1.0.0' }));
    if (applied?.outcome !== 'applied') throw new Error('not applied');
    await set({})(four);
    await apply(three, { kind: 'restore', incarnation: applied.beforeIncarnation, extensions: applied.touched });
    await revertGoalState(operator, { vmId: four.vmId, incarnation: 2 });
    expect(await stateOf(three)).toMatchObject({ rendered: (await stateOf(four)).rendered });
  });
});

describe('RO-3 a change is a patch', () => {
  test('fields that are not given stay as each VM has them', async () => {
    const vm = await given('probe');
    await vm.declare('probe', {
      state: 'disabled',
      timeouts: { install: 7 },
      settings: { publicSettings: { a: 1 }, protectedSettings: { key: 'x' } },
    });
    const [before] = await rowsOf(vm);
    expect(await outcomeOf(vm, patch({ version: '1.1.0.0', timeouts: { enable: 8 } }))).toBe('update');
    const [after] = await rowsOf(vm);
    expect(after).toMatchObject({
      version: '1.1.0.0',
      requestedVersion: '1.1.0.0',
      state: 'disabled',
      timeouts: { ...before?.timeouts, enable: 8 },
      publicSettings: { a: 1 },
      secretId: before?.secretId,
    });
  });

  test('without a name, every extension of the handler moves in one goal state', async () => {
    const vm = await givenVm(services);
    for (const name of ['one', 'two']) await vm.declare(name, { handler: many });
    await vm.declare('probe');
    const applied = await apply(vm, patch({ handler: many, version: '1.1.0.0' }));
    expect(applied).toMatchObject({ outcome: 'applied', kind: 'update', beforeIncarnation: 4, incarnation: 5 });
    expect(await shown(vm)).toEqual(['one 1.1.0.0 enabled 2', 'probe 1.0.0.0 enabled 1', 'two 1.1.0.0 enabled 2']);
    expect(await outcomeOf(vm, patch({ handler: many, extension: 'one', version: '2.0.0.0' }))).toBe(
      'refused version_shared',
    );
    expect(await outcomeOf(vm, patch({ handler: many, extension: 'one', state: 'disabled' }))).toBe('state');
    expect(await shown(vm)).toContain('two 1.1.0.0 enabled 2');
  });

  test('a lower version is declared only if the change allows it', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe', { version: '1.1.0.0' });
    expect(await outcomeOf(vm, patch({ version: '1.0.0.0', state: 'disabled' }))).toBe('unchanged');
    expect(await shown(vm)).toEqual(['probe 1.1.0.0 enabled 1']);
    expect(await outcomeOf(vm, patch({ version: '1.0.0.0', allowLower: true }))).toBe('lower');
    expect(await shown(vm)).toEqual(['probe 1.0.0.0 enabled 2']);
  });

  test('an extension that is being uninstalled is left alone', async () => {
    const vm = await given('probe');
    await vm.deliver();
    await removeExtension(operator, { vmId: vm.vmId, name: 'probe' });
    for (const change of [
      patch({ version: '1.1.0.0' }),
      patch({ version: '1.1.0.0', extension: 'probe', onAbsent: 'install' }),
      patch({ kind: 'retry' }),
      patch({ kind: 'remove' }),
    ]) {
      expect(await outcomeOf(vm, change)).toBe('unchanged');
    }
  });

  test('an absent extension is skipped or installed', async () => {
    const vm = await givenVm(services);
    const change = { extension: 'probe', version: '1.0.0.0', publicSettings: { merge: { a: { b: 1, c: null } } } };
    expect(await outcomeOf(vm, patch(change))).toBe('unchanged');
    expect(await outcomeOf(vm, patch({ ...change, onAbsent: 'install' }))).toBe('install');
    expect((await rowsOf(vm))[0]).toMatchObject({ sequenceNumber: 1, publicSettings: { a: { b: 1 } } });
    expect(await outcomeOf(vm, patch({ ...change, onAbsent: 'install' }))).toBe('unchanged');
  });

  test('protected settings are replaced as a whole, removed or kept', async () => {
    const vm = await given('probe');
    const { certificate: pem } = await newKeyPair();
    await services.db.transaction((tx) =>
      bindCertificate(tx, operator, vm.vmId, { pem, thumbprint: 'AB' }, { kind: 'renewed' }),
    );
    const entering = { ...patch({ protectedSettings: 'given' }), given: { key: 'x' }, setBy: 'user:anna' };
    expect(await outcomeOf(vm, entering)).toBe('settings');
    const [row] = await rowsOf(vm);
    const [secret] = await services.db.select().from(secrets).where(eq(secrets.vmId, vm.vmId));
    expect(secret).toMatchObject({ id: row?.secretId, setBy: 'user:anna', changedBy: 'probe 1.1', thumbprint: 'AB' });
    expect((await headOf(vm)).text).toContain('"protectedSettingsCertThumbprint":"AB"');
    expect(await outcomeOf(vm, patch({ protectedSettings: 'removed' }))).toBe('settings');
    expect((await rowsOf(vm))[0]).toMatchObject({ secretId: null });
    expect(await outcomeOf(vm, patch({ protectedSettings: 'removed' }))).toBe('unchanged');
  });

  test('the first kind that applies is the kind of the change', async () => {
    const kinds: [Partial<RolloutChange>, string][] = [
      [{ version: '1.1.0.0', state: 'disabled', publicSettings: { replace: { a: 2 } } }, 'update'],
      [{ state: 'enabled', publicSettings: { replace: { a: 3 } }, timeouts: { enable: 4 } }, 'settings'],
      [{ state: 'disabled', timeouts: { enable: 5 } }, 'state'],
      [{ timeouts: { enable: 6 } }, 'policy'],
      [{ timeouts: { enable: 6 } }, 'unchanged'],
      [{ kind: 'retry' }, 'retry'],
      [{ kind: 'remove' }, 'remove'],
    ];
    const vm = await given('probe');
    for (const [change, kind] of kinds) expect(await outcomeOf(vm, patch(change))).toBe(kind);
  });

  test('a removal removes dependants first, and is rejected if others depend on the extension', async () => {
    const vm = await givenVm(services);
    await vm.declare('one', { handler: many });
    await vm.declare('two', { handler: many, dependsOn: ['one'] });
    expect(await outcomeOf(vm, patch({ kind: 'remove', handler: many, extension: 'one' }))).toBe(
      'refused extension_needed',
    );
    expect(await outcomeOf(vm, patch({ kind: 'remove', handler: many }))).toBe('remove');
    expect(await shown(vm)).toEqual([]);
  });

  test('an automatic upgrade keeps the requested version', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe', { autoUpgradeMinorVersion: true });
    expect(await outcomeOf(vm, { ...patch({ version: '2.0.0.0' }), automatic: true })).toBe('unchanged');
    expect(await outcomeOf(vm, { ...patch({ version: '1.1.0.0' }), automatic: true })).toBe('update');
    expect((await rowsOf(vm))[0]).toMatchObject({ version: '1.1.0.0', requestedVersion: '1.0.0.0' });
    await vm.declare('probe', { autoUpgradeMinorVersion: true });
    expect(await shown(vm)).toEqual(['probe 1.1.0.0 enabled 2']);
    expect(await outcomeOf(vm, patch({ state: 'disabled' }))).toBe('state');
    expect((await rowsOf(vm))[0]).toMatchObject({ version: '1.1.0.0', requestedVersion: '1.0.0.0' });
  });
});

describe('RO-6 no VM gets what its line did not say', () => {
  test('a change of another kind is not applied', async () => {
    const vm = await given('probe');
    const change = patch({ version: '1.1.0.0' });
    expect(await apply(vm, change, 'install')).toEqual({ outcome: 'moved', kind: 'update' });
    expect((await headOf(vm)).incarnation).toBe(2);
    expect(await apply(vm, change, 'update')).toMatchObject({ outcome: 'applied' });
    expect(await apply(vm, change, 'update')).toEqual({ outcome: 'unchanged' });
  });

  test('a rejected, busy, unchanged or deleted VM does not stop the others', async () => {
    const [done, busy, had, deleted, leaving, refused] = [
      await given('probe'),
      await given('probe'),
      await givenVm(services),
      await given('probe'),
      await given('probe'),
      await given('probe'),
    ] as const;
    await had.declare('probe', { version: '1.1.0.0' });
    await services.db.update(vms).set({ deletedAt: new Date() }).where(eq(vms.id, deleted.vmId));
    await services.db.update(vms).set({ decommissioningAt: new Date() }).where(eq(vms.id, leaving.vmId));
    await services.db
      .update(extensions)
      .set({ dependsOn: ['lost'] })
      .where(eq(extensions.vmId, refused.vmId));
    const all = [done, busy, had, deleted, leaving, refused];
    const requests = [
      ...requestsOf(all, patch({ version: '1.1.0.0' })),
      ...requestsOf([{ ...done, vmId: randomUUID() }], patch()),
    ];
    const before = await headOf(busy);
    const outcomes = await services.db.transaction(async (tx) => {
      await lockHead(tx, busy.vmId);
      return applyAll(requests);
    });
    expect(requests.map(({ vmId }) => outcomes.get(vmId)?.outcome)).toEqual([
      'applied',
      'busy',
      'unchanged',
      'gone',
      'gone',
      'refused',
      'gone',
    ]);
    expect(outcomes.get(refused.vmId)).toEqual({ outcome: 'refused', code: 'dependency_unknown' });
    expect(await headOf(busy)).toEqual(before);
    expect(await shown(done)).toEqual(['probe 1.1.0.0 enabled 2']);
    const previews = await previewAll(requests);
    expect(requests.map(({ vmId }) => previews.get(vmId)?.outcome)).toEqual([
      'unchanged',
      'change',
      'unchanged',
      'gone',
      'gone',
      'refused',
      'gone',
    ]);
  });

  test('settings that the schema of the version rejects are rejected', async () => {
    const vm = await givenVm(services);
    await vm.declare('strict', { handler: strict, settings: { publicSettings: { port: 9 } } });
    const merge = (port: number) => patch({ handler: strict, publicSettings: { merge: { port } } });
    expect(await outcomeOf(vm, merge(2))).toMatch(/^refused /);
    expect(await outcomeOf(vm, merge(8))).toBe('settings');
    const memory = newPreviewMemory(0);
    expect((await previewAll(requestsOf([vm], merge(2)), memory)).get(vm.vmId)).toMatchObject({ outcome: 'change' });
    expect(memory.unchecked).toBe(1);
  });
});

describe('RO-10 one step, one goal state', () => {
  test('the incarnation and each touched sequence number rise by one, and the history names the rollout', async () => {
    const vm = await given('probe');
    const applied = await apply(vm, patch({ version: '1.1.0.0' }), 'update');
    expect(applied).toEqual({
      outcome: 'applied',
      kind: 'update',
      beforeIncarnation: 2,
      incarnation: 3,
      touched: [
        { name: 'probe', before: { version: '1.0.0.0', sequenceNumber: 1 }, version: '1.1.0.0', sequenceNumber: 2 },
      ],
    });
    const history = await services.db.select().from(goalStates).where(eq(goalStates.vmId, vm.vmId));
    expect(history.map(({ incarnation }) => incarnation).toSorted()).toEqual([1, 2, 3]);
    expect(history.find(({ incarnation }) => incarnation === 3)).toMatchObject({ cause, publishedBy: 'probe 1.1' });
    expect((await rowsOf(vm))[0]).toMatchObject({ changedBy: 'probe 1.1', deliveredAt: null });
  });

  test('a change of a policy raises no sequence number', async () => {
    const vm = await given('probe');
    await vm.deliver();
    const [before] = await rowsOf(vm);
    expect(await apply(vm, patch({ timeouts: { enable: 4 } }))).toMatchObject({ kind: 'policy', incarnation: 3 });
    expect((await rowsOf(vm))[0]).toEqual({ ...before, timeouts: { ...before?.timeouts, enable: 4 } });
  });

  test('the number of statements does not depend on the number of VMs', async () => {
    const fleet = await Promise.all(Array.from({ length: 66 }, () => given('probe')));
    const change = { ...patch({ version: '1.1.0.0', protectedSettings: 'given' }), given: { key: 'x' } };
    const [few, lots] = [fleet.slice(0, 3), fleet.slice(3, 33)];
    const count = async (
      some: readonly GivenVm[],
      one: MemberChange,
      run: (requests: readonly MemberRequest[]) => Promise<unknown>,
    ) => (await statementsOf(() => run(requestsOf(some, one)))).length;
    expect(await count(lots, change, (requests) => previewAll(requests))).toBe(
      await count(few, change, (requests) => previewAll(requests)),
    );
    expect(await count(lots, change, applyAll)).toBe(await count(few, change, applyAll));
    for (const kind of ['retry', 'revert', 'remove'] as const) {
      expect(await count(lots, patch({ kind }), applyAll)).toBe(await count(few, patch({ kind }), applyAll));
    }
    const install = patch({ handler: other, extension: 'other', version: '1.0.0.0', onAbsent: 'install' });
    expect(await count(lots, install, applyAll)).toBe(await count(few, install, applyAll));
    const ids = lots.map(({ vmId }) => vmId);
    const heads = await services.db.select().from(goalStateHeads).where(inArray(goalStateHeads.vmId, ids));
    expect(new Set(heads.map(({ incarnation }) => incarnation))).toEqual(new Set([7]));
  });

  test('equal declarations are evaluated once', async () => {
    const fleet = await Promise.all(Array.from({ length: 5 }, () => given('probe')));
    const memory = newPreviewMemory();
    const previews = await previewAll(requestsOf(fleet, patch({ version: '1.1.0.0' })), memory);
    expect([...previews.values()].map((preview) => preview.outcome === 'change' && preview.kind)).toEqual(
      fleet.map(() => 'update'),
    );
    expect(memory.previews.size).toBe(1);
    const again = await statementsOf(() => previewAll(requestsOf(fleet, patch({ version: '1.1.0.0' })), memory));
    expect(again).toHaveLength(1);
  });
});

describe('RO-28 RO-31 restoring what a VM had before', () => {
  async function changed(...names: string[]) {
    const vm = await given(...names);
    const applied = await apply(vm, patch({ version: '1.1.0.0', publicSettings: { replace: {} } }));
    if (applied?.outcome !== 'applied') throw new Error('not applied');
    const { beforeIncarnation: incarnation, touched } = applied;
    return { vm, applied, restore: { kind: 'restore' as const, incarnation, extensions: touched } };
  }

  test('declares the earlier contents of these extensions only', async () => {
    const { vm, restore } = await changed('probe');
    await vm.declare('other', { handler: other });
    expect(await outcomeOf(vm, restore)).toBe('revert');
    expect(await shown(vm)).toEqual(['other 1.0.0.0 enabled 1', 'probe 1.0.0.0 enabled 3']);
    expect((await rowsOf(vm))[1]).toMatchObject({ publicSettings: { a: 1, b: { c: 2 } } });
  });

  test('removes extensions that were absent, with the agent if it had them', async () => {
    for (const isDelivered of [false, true]) {
      const vm = await givenVm(services);
      const applied = await apply(vm, patch({ extension: 'probe', version: '1.0.0.0', onAbsent: 'install' }));
      if (applied?.outcome !== 'applied') throw new Error('not applied');
      if (isDelivered) await vm.deliver();
      await apply(vm, { kind: 'restore', incarnation: applied.beforeIncarnation, extensions: applied.touched });
      expect(await shown(vm)).toEqual(isDelivered ? ['probe 1.0.0.0 uninstall 2'] : []);
    }
  });

  test('leaves a VM alone that somebody else changed, and says who', async () => {
    const { vm, restore } = await changed('probe');
    await vm.declare('probe', { version: '2.0.0.0' });
    const [row] = await rowsOf(vm);
    expect(await apply(vm, restore)).toEqual({
      outcome: 'overtaken',
      by: row?.changedBy,
      action: 'extension.set',
      at: row?.changedAt,
    });
    expect((await previewAll(requestsOf([vm], restore))).get(vm.vmId)).toEqual({
      outcome: 'refused',
      code: 'extension_moved_on',
    });
    await removeExtension(operator, { vmId: vm.vmId, name: 'probe' });
    expect(await apply(vm, restore)).toMatchObject({ outcome: 'overtaken', by: 'Test operator' });
  });

  test('restores an extension that the change removed', async () => {
    const vm = await given('probe');
    const applied = await apply(vm, patch({ kind: 'remove' }));
    if (applied?.outcome !== 'applied') throw new Error('not applied');
    const { beforeIncarnation: incarnation, touched: names } = applied;
    expect(await apply(vm, { kind: 'restore', incarnation, extensions: names })).toMatchObject({ kind: 'revert' });
    expect(await shown(vm)).toEqual(['probe 1.0.0.0 enabled 2']);
  });

  test('takes back only a goal state that was not delivered, even an uninstall', async () => {
    const { vm, restore, applied } = await changed('probe');
    await vm.deliver();
    expect(await apply(vm, { ...restore, undelivered: applied.incarnation })).toEqual({ outcome: 'delivered' });
    const removal = await apply(vm, patch({ kind: 'remove' }));
    if (removal?.outcome !== 'applied') throw new Error('not applied');
    const { beforeIncarnation: incarnation, touched } = removal;
    const takeBack = { kind: 'restore' as const, incarnation, extensions: touched, undelivered: removal.incarnation };
    expect(await apply(vm, takeBack)).toMatchObject({ outcome: 'applied', kind: 'revert' });
    expect(await shown(vm)).toEqual(['probe 1.1.0.0 enabled 4']);
  });

  test('is rejected if the goal state is unknown, the version withdrawn or no copy of the secrets is left', async () => {
    const { vm, restore } = await changed('probe');
    expect(await outcomeOf(vm, { ...restore, incarnation: 99 })).toBe('refused goal_state_unknown');
    await givenVersion(services.db, { handler: 'Acme.Lab.Leaving', state: 'withdrawn' });
    const contents = (await rowsOf(vm)).map((row) => ({ ...row, version: '0.9.0.0' }));
    await services.db.update(goalStates).set({ contents }).where(eq(goalStates.vmId, vm.vmId));
    expect(await outcomeOf(vm, restore)).toBe('refused version_withdrawn');
    const safe = await given('probe');
    await apply(safe, { ...patch({ protectedSettings: 'given' }), given: { key: 'x' } });
    const without = await apply(safe, patch({ protectedSettings: 'removed' }));
    if (without?.outcome !== 'applied') throw new Error('not applied');
    await services.db.update(secrets).set({ sealed: null, cms: null }).where(eq(secrets.vmId, safe.vmId));
    const { beforeIncarnation: incarnation, touched } = without;
    expect(await outcomeOf(safe, { kind: 'restore', incarnation, extensions: touched })).toBe(
      'refused secrets_required',
    );
  });

  test('keeps the rules between the restored extensions and the others', async () => {
    const vm = await givenVm(services);
    for (const name of ['one', 'two']) await vm.declare(name, { handler: many });
    const both = await apply(vm, patch({ handler: many, version: '1.1.0.0' }));
    if (both?.outcome !== 'applied') throw new Error('not applied');
    const [one, two] = both.touched;
    if (!one || !two) throw new Error('two extensions were changed');
    const restore = { kind: 'restore' as const, incarnation: both.beforeIncarnation, extensions: [one] };
    expect(await outcomeOf(vm, restore)).toBe('refused version_shared');
    expect(await outcomeOf(vm, { ...restore, incarnation: 1 })).toBe('revert');
    await vm.declare('probe', { dependsOn: ['two'] });
    expect(await outcomeOf(vm, { ...restore, incarnation: 1, extensions: [two] })).toBe('refused extension_needed');
  });

  test('RO-20 a repeat gives the same contents the next sequence number, unless somebody changed them', async () => {
    const vm = await given('probe');
    const repeat = { kind: 'repeat' as const, extensions: [{ name: 'probe', sequenceNumber: 1 }] };
    expect(await apply(vm, repeat)).toMatchObject({ outcome: 'applied', kind: 'retry' });
    expect(await shown(vm)).toEqual(['probe 1.0.0.0 enabled 2']);
    expect(await apply(vm, repeat)).toMatchObject({ outcome: 'overtaken', by: 'probe 1.1' });
  });

  test('a revert to a time declares what the VM had then', async () => {
    const vm = await given('probe');
    const { publishedAt } = await headOf(vm);
    await vm.declare('probe', { version: '1.1.0.0' });
    await vm.declare('probe', { version: '2.0.0.0' });
    const asOf = publishedAt.toISOString();
    expect(await outcomeOf(vm, patch({ kind: 'revert', asOf }))).toBe('revert');
    expect(await shown(vm)).toEqual(['probe 1.0.0.0 enabled 4']);
  });
});

describe('RO-4 a preview', () => {
  test('counts bytes, timeouts and restarts, and writes nothing', async () => {
    const vm = await given('probe');
    await vm.deliver();
    const before = await headOf(vm);
    const preview = (await previewAll(requestsOf([vm], patch({ version: '1.1.0.0', timeouts: { update: 7 } })))).get(
      vm.vmId,
    );
    expect(preview).toMatchObject({
      outcome: 'change',
      kind: 'update',
      touched: [{ name: 'probe', before: '1.0.0.0', version: '1.1.0.0' }],
      bytes: 1234,
      restarts: false,
      notRevertible: null,
      needsRelease: false,
    });
    expect(preview?.outcome === 'change' && preview.seconds).toBeGreaterThan(7);
    expect(await headOf(vm)).toEqual(before);
    const state = (await previewAll(requestsOf([vm], patch({ state: 'disabled' })))).get(vm.vmId);
    expect(state).toMatchObject({ kind: 'state', bytes: 0 });
  });

  test('says what could not be reverted, and what an admin must release', async () => {
    const [plain, withheld] = [await given('probe'), await given('probe')];
    await services.db.update(extensions).set({ version: '0.9.0.0' }).where(eq(extensions.vmId, plain.vmId));
    await withheld.declare('probe', { settings: { protectedSettings: { key: 'x' } } });
    const { certificate: pem } = await newKeyPair();
    await services.db.update(secrets).set({ cms: null }).where(eq(secrets.vmId, withheld.vmId));
    await services.db
      .update(goalStateHeads)
      .set({ certificate: pem, thumbprint: 'AB' })
      .where(eq(goalStateHeads.vmId, withheld.vmId));
    const previews = await previewAll(requestsOf([plain, withheld], patch({ version: '1.1.0.0' })));
    expect(previews.get(plain.vmId)).toMatchObject({ notRevertible: 'version_withdrawn', needsRelease: false });
    expect(previews.get(withheld.vmId)).toMatchObject({ notRevertible: null, needsRelease: true });
    await services.db.update(secrets).set({ sealed: null }).where(eq(secrets.vmId, withheld.vmId));
    const lost = await previewAll(requestsOf([withheld], { ...patch({ protectedSettings: 'given' }), given: {} }));
    expect(lost.get(withheld.vmId)).toMatchObject({ notRevertible: 'secrets_required' });
  });
});
