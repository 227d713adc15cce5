import { randomUUID } from 'node:crypto';
import { eq, inArray } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensions, goalStateHeads, goalStates, secrets, vms } from '#db/schema/index.ts';
import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { bindCertificate } from '../begin.ts';
import { lockHead } from '../publish.ts';
import { removeExtension } from '../remove-extension.ts';
import { revertGoalState } from '../revert-goal-state.ts';
import { setExtension } from '../set-extension.ts';
import type { MemberChange, MemberRequest } from './change.ts';
import { newPreviewMemory } from './preview-many.ts';
import {
  cause,
  type ManyStage,
  many,
  manyStage,
  other,
  patch,
  probe,
  requestsOf,
  strict,
} from './testing/many-stage.ts';

let stage: ManyStage;

beforeAll(async () => {
  stage = await manyStage();
});

describe('RO-4 a change to one of many VMs does what the same change to a single VM does', () => {
  const goal = { handler: probe, version: '1.1.0.0', state: 'enabled' as const };
  const delivered = async (vm: GivenVm) => {
    await vm.declare('probe', { settings: { publicSettings: { a: 1, b: { c: 2 } } } });
    await vm.deliver();
  };
  const set = (more: object) => (vm: GivenVm) =>
    setExtension(stage.operator, { vmId: vm.vmId, name: 'probe', goal: { ...goal, ...more } });

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
    ['a removal', patch({ kind: 'remove' }), ({ vmId }) => removeExtension(stage.operator, { vmId, name: 'probe' })],
  ])('%s', async (_, change, alone) => {
    const [one, two] = await stage.twins(delivered);
    await stage.apply(one, change);
    await alone(two);
    expect(await stage.stateOf(one)).toEqual(await stage.stateOf(two));
  });

  test('an installation and a removal without the agent', async () => {
    const [one, two] = await stage.twins(async () => {});
    await stage.apply(one, patch({ extension: 'probe', version: '1.1.0.0', onAbsent: 'install' }));
    await set({})(two);
    expect(await stage.stateOf(one)).toEqual(await stage.stateOf(two));
    await stage.apply(one, patch({ kind: 'remove' }));
    await removeExtension(stage.operator, { vmId: two.vmId, name: 'probe' });
    expect(await stage.stateOf(one)).toEqual(await stage.stateOf(two));
  });

  test('a revert', async () => {
    const [one, two] = await stage.twins(async (vm) => {
      await delivered(vm);
      await vm.declare('probe', { version: '1.1.0.0', dependsOn: [] });
      await vm.deliver();
    });
    expect(await stage.outcomeOf(one, patch({ kind: 'revert' }))).toBe('revert');
    await revertGoalState(stage.operator, { vmId: two.vmId, incarnation: 2 });
    expect(await stage.stateOf(one)).toEqual(await stage.stateOf(two));
    const [three, four] = await stage.twins(delivered);
    const applied = await stage.apply(three, patch({ version: '1.1.0.0' }));
    if (applied?.outcome !== 'applied') throw new Error('not applied');
    await set({})(four);
    await stage.apply(three, { kind: 'restore', incarnation: applied.beforeIncarnation, extensions: applied.touched });
    await revertGoalState(stage.operator, { vmId: four.vmId, incarnation: 2 });
    expect(await stage.stateOf(three)).toMatchObject({ rendered: (await stage.stateOf(four)).rendered });
  });
});

describe('RO-3 a change is a patch', () => {
  test('fields that are not given stay as each VM has them', async () => {
    const vm = await stage.given('probe');
    await vm.declare('probe', {
      state: 'disabled',
      timeouts: { install: 7 },
      settings: { publicSettings: { a: 1 }, protectedSettings: { key: 'x' } },
    });
    const [before] = await stage.rowsOf(vm);
    expect(await stage.outcomeOf(vm, patch({ version: '1.1.0.0', timeouts: { enable: 8 } }))).toBe('update');
    const [after] = await stage.rowsOf(vm);
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
    const vm = await givenVm(stage.services);
    for (const name of ['one', 'two']) await vm.declare(name, { handler: many });
    await vm.declare('probe');
    const applied = await stage.apply(vm, patch({ handler: many, version: '1.1.0.0' }));
    expect(applied).toMatchObject({ outcome: 'applied', kind: 'update', beforeIncarnation: 4, incarnation: 5 });
    expect(await stage.shown(vm)).toEqual([
      'one 1.1.0.0 enabled 2',
      'probe 1.0.0.0 enabled 1',
      'two 1.1.0.0 enabled 2',
    ]);
    expect(await stage.outcomeOf(vm, patch({ handler: many, extension: 'one', version: '2.0.0.0' }))).toBe(
      'refused version_shared',
    );
    expect(await stage.outcomeOf(vm, patch({ handler: many, extension: 'one', state: 'disabled' }))).toBe('state');
    expect(await stage.shown(vm)).toContain('two 1.1.0.0 enabled 2');
  });

  test('a lower version is declared only if the change allows it', async () => {
    const vm = await givenVm(stage.services);
    await vm.declare('probe', { version: '1.1.0.0' });
    expect(await stage.outcomeOf(vm, patch({ version: '1.0.0.0', state: 'disabled' }))).toBe('unchanged');
    expect(await stage.shown(vm)).toEqual(['probe 1.1.0.0 enabled 1']);
    expect(await stage.outcomeOf(vm, patch({ version: '1.0.0.0', allowLower: true }))).toBe('lower');
    expect(await stage.shown(vm)).toEqual(['probe 1.0.0.0 enabled 2']);
  });

  test('an extension that is being uninstalled is left alone', async () => {
    const vm = await stage.given('probe');
    await vm.deliver();
    await removeExtension(stage.operator, { vmId: vm.vmId, name: 'probe' });
    for (const change of [
      patch({ version: '1.1.0.0' }),
      patch({ version: '1.1.0.0', extension: 'probe', onAbsent: 'install' }),
      patch({ kind: 'retry' }),
      patch({ kind: 'remove' }),
    ]) {
      expect(await stage.outcomeOf(vm, change)).toBe('unchanged');
    }
  });

  test('an absent extension is skipped or installed', async () => {
    const vm = await givenVm(stage.services);
    const change = { extension: 'probe', version: '1.0.0.0', publicSettings: { merge: { a: { b: 1, c: null } } } };
    expect(await stage.outcomeOf(vm, patch(change))).toBe('unchanged');
    expect(await stage.outcomeOf(vm, patch({ ...change, onAbsent: 'install' }))).toBe('install');
    expect((await stage.rowsOf(vm))[0]).toMatchObject({ sequenceNumber: 1, publicSettings: { a: { b: 1 } } });
    expect(await stage.outcomeOf(vm, patch({ ...change, onAbsent: 'install' }))).toBe('unchanged');
  });

  test('protected settings are replaced as a whole, removed or kept', async () => {
    const vm = await stage.given('probe');
    const { certificate: pem } = await newKeyPair();
    await stage.services.db.transaction((tx) =>
      bindCertificate(tx, stage.operator, vm.vmId, { pem, thumbprint: 'AB' }, { kind: 'renewed' }),
    );
    const entering = { ...patch({ protectedSettings: 'given' }), given: { key: 'x' }, setBy: 'user:anna' };
    expect(await stage.outcomeOf(vm, entering)).toBe('settings');
    const [row] = await stage.rowsOf(vm);
    const [secret] = await stage.services.db.select().from(secrets).where(eq(secrets.vmId, vm.vmId));
    expect(secret).toMatchObject({ id: row?.secretId, setBy: 'user:anna', changedBy: 'probe 1.1', thumbprint: 'AB' });
    expect((await stage.headOf(vm)).text).toContain('"protectedSettingsCertThumbprint":"AB"');
    expect(await stage.outcomeOf(vm, patch({ protectedSettings: 'removed' }))).toBe('settings');
    expect((await stage.rowsOf(vm))[0]).toMatchObject({ secretId: null });
    expect(await stage.outcomeOf(vm, patch({ protectedSettings: 'removed' }))).toBe('unchanged');
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
    const vm = await stage.given('probe');
    for (const [change, kind] of kinds) expect(await stage.outcomeOf(vm, patch(change))).toBe(kind);
  });

  test('a removal removes dependants first, and is rejected if others depend on the extension', async () => {
    const vm = await givenVm(stage.services);
    await vm.declare('one', { handler: many });
    await vm.declare('two', { handler: many, dependsOn: ['one'] });
    expect(await stage.outcomeOf(vm, patch({ kind: 'remove', handler: many, extension: 'one' }))).toBe(
      'refused extension_needed',
    );
    expect(await stage.outcomeOf(vm, patch({ kind: 'remove', handler: many }))).toBe('remove');
    expect(await stage.shown(vm)).toEqual([]);
  });

  test('an automatic upgrade keeps the requested version', async () => {
    const vm = await givenVm(stage.services);
    await vm.declare('probe', { autoUpgradeMinorVersion: true });
    expect(await stage.outcomeOf(vm, { ...patch({ version: '2.0.0.0' }), automatic: true })).toBe('unchanged');
    expect(await stage.outcomeOf(vm, { ...patch({ version: '1.1.0.0' }), automatic: true })).toBe('update');
    expect((await stage.rowsOf(vm))[0]).toMatchObject({ version: '1.1.0.0', requestedVersion: '1.0.0.0' });
    await vm.declare('probe', { autoUpgradeMinorVersion: true });
    expect(await stage.shown(vm)).toEqual(['probe 1.1.0.0 enabled 2']);
    expect(await stage.outcomeOf(vm, patch({ state: 'disabled' }))).toBe('state');
    expect((await stage.rowsOf(vm))[0]).toMatchObject({ version: '1.1.0.0', requestedVersion: '1.0.0.0' });
  });
});

describe('RO-6 no VM gets what its line did not say', () => {
  test('a change of another kind is not applied', async () => {
    const vm = await stage.given('probe');
    const change = patch({ version: '1.1.0.0' });
    expect(await stage.apply(vm, change, 'install')).toEqual({ outcome: 'moved', kind: 'update' });
    expect((await stage.headOf(vm)).incarnation).toBe(2);
    expect(await stage.apply(vm, change, 'update')).toMatchObject({ outcome: 'applied' });
    expect(await stage.apply(vm, change, 'update')).toEqual({ outcome: 'unchanged' });
  });

  test('a rejected, busy, unchanged or deleted VM does not stop the others', async () => {
    const [done, busy, had, deleted, leaving, refused] = [
      await stage.given('probe'),
      await stage.given('probe'),
      await givenVm(stage.services),
      await stage.given('probe'),
      await stage.given('probe'),
      await stage.given('probe'),
    ] as const;
    await had.declare('probe', { version: '1.1.0.0' });
    await stage.services.db.update(vms).set({ deletedAt: new Date() }).where(eq(vms.id, deleted.vmId));
    await stage.services.db.update(vms).set({ decommissioningAt: new Date() }).where(eq(vms.id, leaving.vmId));
    await stage.services.db
      .update(extensions)
      .set({ dependsOn: ['lost'] })
      .where(eq(extensions.vmId, refused.vmId));
    const all = [done, busy, had, deleted, leaving, refused];
    const requests = [
      ...requestsOf(all, patch({ version: '1.1.0.0' })),
      ...requestsOf([{ ...done, vmId: randomUUID() }], patch()),
    ];
    const before = await stage.headOf(busy);
    const outcomes = await stage.services.db.transaction(async (tx) => {
      await lockHead(tx, busy.vmId);
      return stage.applyAll(requests);
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
    expect(await stage.headOf(busy)).toEqual(before);
    expect(await stage.shown(done)).toEqual(['probe 1.1.0.0 enabled 2']);
    const previews = await stage.previewAll(requests);
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
    const vm = await givenVm(stage.services);
    await vm.declare('strict', { handler: strict, settings: { publicSettings: { port: 9 } } });
    const merge = (port: number) => patch({ handler: strict, publicSettings: { merge: { port } } });
    expect(await stage.outcomeOf(vm, merge(2))).toMatch(/^refused /);
    expect(await stage.outcomeOf(vm, merge(8))).toBe('settings');
    const memory = newPreviewMemory(0);
    expect((await stage.previewAll(requestsOf([vm], merge(2)), memory)).get(vm.vmId)).toMatchObject({
      outcome: 'change',
    });
    expect(memory.unchecked).toBe(1);
  });
});

describe('RO-10 one step, one goal state', () => {
  test('the incarnation and each touched sequence number rise by one, and the history names the rollout', async () => {
    const vm = await stage.given('probe');
    const applied = await stage.apply(vm, patch({ version: '1.1.0.0' }), 'update');
    expect(applied).toEqual({
      outcome: 'applied',
      kind: 'update',
      beforeIncarnation: 2,
      incarnation: 3,
      touched: [
        { name: 'probe', before: { version: '1.0.0.0', sequenceNumber: 1 }, version: '1.1.0.0', sequenceNumber: 2 },
      ],
    });
    const history = await stage.services.db.select().from(goalStates).where(eq(goalStates.vmId, vm.vmId));
    expect(history.map(({ incarnation }) => incarnation).toSorted()).toEqual([1, 2, 3]);
    expect(history.find(({ incarnation }) => incarnation === 3)).toMatchObject({ cause, publishedBy: 'probe 1.1' });
    expect((await stage.rowsOf(vm))[0]).toMatchObject({ changedBy: 'probe 1.1', deliveredAt: null });
  });

  test('a change of a policy raises no sequence number', async () => {
    const vm = await stage.given('probe');
    await vm.deliver();
    const [before] = await stage.rowsOf(vm);
    expect(await stage.apply(vm, patch({ timeouts: { enable: 4 } }))).toMatchObject({ kind: 'policy', incarnation: 3 });
    expect((await stage.rowsOf(vm))[0]).toEqual({ ...before, timeouts: { ...before?.timeouts, enable: 4 } });
  });

  test('the number of statements does not depend on the number of VMs', async () => {
    const fleet = await Promise.all(Array.from({ length: 66 }, () => stage.given('probe')));
    const change = { ...patch({ version: '1.1.0.0', protectedSettings: 'given' }), given: { key: 'x' } };
    const [few, lots] = [fleet.slice(0, 3), fleet.slice(3, 33)];
    const count = async (
      some: readonly GivenVm[],
      one: MemberChange,
      run: (requests: readonly MemberRequest[]) => Promise<unknown>,
    ) => (await statementsOf(() => run(requestsOf(some, one)))).length;
    expect(await count(lots, change, (requests) => stage.previewAll(requests))).toBe(
      await count(few, change, (requests) => stage.previewAll(requests)),
    );
    expect(await count(lots, change, stage.applyAll)).toBe(await count(few, change, stage.applyAll));
    for (const kind of ['retry', 'revert', 'remove'] as const) {
      expect(await count(lots, patch({ kind }), stage.applyAll)).toBe(
        await count(few, patch({ kind }), stage.applyAll),
      );
    }
    const install = patch({ handler: other, extension: 'other', version: '1.0.0.0', onAbsent: 'install' });
    expect(await count(lots, install, stage.applyAll)).toBe(await count(few, install, stage.applyAll));
    const ids = lots.map(({ vmId }) => vmId);
    const heads = await stage.services.db.select().from(goalStateHeads).where(inArray(goalStateHeads.vmId, ids));
    expect(new Set(heads.map(({ incarnation }) => incarnation))).toEqual(new Set([7]));
  });

  test('equal declarations are evaluated once', async () => {
    const fleet = await Promise.all(Array.from({ length: 5 }, () => stage.given('probe')));
    const memory = newPreviewMemory();
    const previews = await stage.previewAll(requestsOf(fleet, patch({ version: '1.1.0.0' })), memory);
    expect([...previews.values()].map((preview) => preview.outcome === 'change' && preview.kind)).toEqual(
      fleet.map(() => 'update'),
    );
    expect(memory.previews.size).toBe(1);
    const again = await statementsOf(() => stage.previewAll(requestsOf(fleet, patch({ version: '1.1.0.0' })), memory));
    expect(again).toHaveLength(1);
  });
});
