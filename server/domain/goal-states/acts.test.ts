import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensions, goalStateHeads, goalStates, secrets } from '#db/schema/index.ts';
import { type Actor, anonymous, type Role } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testActor, testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { actsSince, changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { bindCertificate, unbindCertificate } from './begin.ts';
import { changeProtectedSettings, planProtectedSettings } from './change-protected-settings.ts';
import { compareGoalStates, previewRevert } from './compare-goal-states.ts';
import { completeRemoval } from './complete-removal.ts';
import { findRevertTarget } from './find-revert-target.ts';
import { getDeliveredGoalState } from './get-delivered-goal-state.ts';
import { getExtension } from './get-extension.ts';
import { getGoalState } from './get-goal-state.ts';
import { listGoalStateChanges } from './list-goal-state-changes.ts';
import { listGoalStates } from './list-goal-states.ts';
import { planExtension } from './plan-extension.ts';
import { loadExtensions } from './publish.ts';
import { releaseSecrets } from './release-secrets.ts';
import { planRemoval, removeExtension } from './remove-extension.ts';
import { retireGoalStates, uninstallAll } from './retire.ts';
import { planRevert, revertGoalState } from './revert-goal-state.ts';
import { setExtension } from './set-extension.ts';

let services: Services;
let operator: Context;
let admin: Context;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
  await givenVersion(services.db, { version: '1.1.0.0' });
  operator = await testContext({ services, role: 'operator' });
  admin = await testContext({ services, role: 'admin' });
});

const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'disabled' as const };
const unknownVm = '00000000-0000-4000-8000-000000000000';

/** All verbs on a VM whose goal state 2 has the extension `probe`. */
const verbs: [string, Role, (ctx: Context, vmId: string) => Promise<unknown>][] = [
  ['setExtension', 'operator', (ctx, vmId) => setExtension(ctx, { vmId, name: 'probe', goal })],
  ['planExtension', 'operator', (ctx, vmId) => planExtension(ctx, { vmId, name: 'probe', goal })],
  [
    'changeProtectedSettings',
    'operator',
    (ctx, vmId) => changeProtectedSettings(ctx, { vmId, name: 'probe', changes: { set: { a: 1 } } }),
  ],
  [
    'planProtectedSettings',
    'operator',
    (ctx, vmId) => planProtectedSettings(ctx, { vmId, name: 'probe', changes: { set: { a: 1 } } }),
  ],
  ['getExtension', 'operator', (ctx, vmId) => getExtension(ctx, { vmId, name: 'probe' })],
  ['planRemoval', 'operator', (ctx, vmId) => planRemoval(ctx, { vmId, name: 'probe' })],
  ['removeExtension', 'operator', (ctx, vmId) => removeExtension(ctx, { vmId, name: 'probe' })],
  ['getGoalState', 'operator', (ctx, vmId) => getGoalState(ctx, { vmId })],
  ['listGoalStates', 'operator', (ctx, vmId) => listGoalStates(ctx, { vmId })],
  ['listGoalStateChanges', 'operator', (ctx, vmId) => listGoalStateChanges(ctx, { vmId })],
  ['compareGoalStates', 'operator', (ctx, vmId) => compareGoalStates(ctx, { vmId, from: 1, to: 2 })],
  ['previewRevert', 'operator', (ctx, vmId) => previewRevert(ctx, { vmId, incarnation: 2 })],
  ['planRevert', 'operator', (ctx, vmId) => planRevert(ctx, { vmId, incarnation: 2 })],
  ['revertGoalState', 'operator', (ctx, vmId) => revertGoalState(ctx, { vmId, incarnation: 2 })],
  ['findRevertTarget', 'operator', (ctx, vmId) => findRevertTarget(ctx, { vmId, name: 'probe' })],
  ['getDeliveredGoalState', 'operator', (ctx, vmId) => getDeliveredGoalState(ctx, { vmId })],
  ['releaseSecrets', 'admin', (ctx, vmId) => releaseSecrets(ctx, { vmId })],
];

describe('every verb', () => {
  const callers: [string, Actor][] = [
    ...(['viewer', 'operator', 'publisher', 'admin'] as const).map((role): [string, Actor] => [role, testActor(role)]),
    ['an anonymous caller', anonymous],
    ['a member without a second factor', { ...testActor('admin'), role: null }],
    ['an agent', { kind: 'agent', id: unknownVm, name: 'web', role: null, namespaces: [] }],
  ];

  test.each(verbs)('%s needs the role %s', async (_, role, call) => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.deliver();
    for (const [caller, actor] of callers) {
      const allowed = caller === 'admin' || caller === role;
      const expected = allowed
        ? 'done'
        : actor.kind === 'anonymous'
          ? 'unauthenticated unauthenticated'
          : `forbidden ${actor.role === null ? 'factor_required' : 'forbidden'}`;
      expect(await outcomeOf(call(await testContext({ services, actor }), vm.vmId)), caller).toBe(expected);
    }
  });

  test.each(verbs)('%s rejects a malformed id by its path', async (_, __, call) => {
    expect(await outcomeOf(call(admin, 'web-1'))).toBe('unprocessable invalid; /vmId field_format');
  });

  const answers: Record<string, string> = {
    getExtension: 'not_found extension_absent',
    changeProtectedSettings: 'not_found extension_absent',
    planProtectedSettings: 'not_found extension_absent',
    compareGoalStates: 'not_found goal_state_unknown',
    findRevertTarget: 'done',
    getDeliveredGoalState: 'done',
  };
  test.each(verbs)('%s rejects a VM that does not exist', async (name, _, call) => {
    expect(await outcomeOf(call(admin, unknownVm))).toBe(answers[name] ?? 'not_found vm_unknown');
  });

  // For a deleted VM, only the history can still be read.
  const readable = [
    'listGoalStates',
    'listGoalStateChanges',
    'compareGoalStates',
    'previewRevert',
    'findRevertTarget',
    'getDeliveredGoalState',
  ];
  let deleted = '';
  beforeAll(async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await removeVm(operator, { vmId: vm.vmId });
    deleted = vm.vmId;
  });
  test.each(verbs)('%s rejects a deleted VM, or reads its history', async (name, _, call) => {
    const expected = answers[name]?.startsWith('not_found extension') ? answers[name] : 'not_found vm_unknown';
    expect(await outcomeOf(call(admin, deleted))).toBe(readable.includes(name) ? 'done' : expected);
  });
});

const headOf = async (vmId: string) => {
  const [head] = await services.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
  if (!head) throw new Error('the VM has no head');
  return head;
};
const extensionsOf = (vmId: string) => services.db.transaction((tx) => loadExtensions(tx, vmId));
const causeOf = async (vmId: string) => {
  const { incarnation } = await headOf(vmId);
  const [row] = await services.db
    .select()
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), eq(goalStates.incarnation, incarnation)));
  return row;
};
const bind = (vmId: string, pem = newKeyPair().certificate) =>
  services.db.transaction((tx) =>
    bindCertificate(tx, admin, vmId, { pem, thumbprint: randomUUID() }, { kind: 'renewed' }),
  );

/** Creates a VM whose agent has fetched `probe` with settings and secrets. */
async function givenProbe(): Promise<GivenVm> {
  const vm = await givenVm(services);
  await bind(vm.vmId);
  await vm.declare('probe', { settings: { publicSettings: { port: 1 }, protectedSettings: { password: 'sesame-1' } } });
  await vm.deliver();
  return vm;
}

describe('what a change leaves behind', () => {
  const at = new Date('2031-02-03T04:05:06.789Z');
  const complete = (vmId: string) =>
    services.db.transaction(async (tx) => {
      const [row] = await loadExtensions(tx, vmId);
      return completeRemoval(tx, { ...operator, now: at }, vmId, 'probe', row?.sequenceNumber ?? 0);
    });
  const remove = (vmId: string, force = false) =>
    removeExtension({ ...operator, now: at }, { vmId, name: 'probe', force });

  interface Left {
    act: (vmId: string) => Promise<unknown>;
    first?: (vm: GivenVm) => Promise<unknown>;
    action: string;
    target?: [string, string];
    cause: object;
    /** State and sequence number of `probe` after the verb; undefined if the extension is gone. */
    extension: [string, number] | undefined;
    details: object;
  }
  const ofProbe = { handler: 'Acme.Lab.Probe', version: '1.0.0.0' };
  test.each<[string, Left]>([
    [
      'a declaration',
      {
        act: (vmId) => setExtension({ ...operator, now: at }, { vmId, name: 'probe', goal }),
        action: 'extension.set',
        cause: { action: 'extension.set', extension: 'probe' },
        extension: ['disabled', 2],
        details: ofProbe,
      },
    ],
    [
      'a removal',
      {
        act: (vmId) => remove(vmId),
        action: 'extension.remove',
        cause: { action: 'extension.remove', extension: 'probe' },
        extension: ['uninstall', 2],
        details: { ...ofProbe, withoutAgent: false },
      },
    ],
    [
      'a removal by force',
      {
        act: (vmId) => remove(vmId, true),
        action: 'extension.remove-by-force',
        cause: { action: 'extension.remove', extension: 'probe' },
        extension: undefined,
        details: { ...ofProbe, withoutAgent: true },
      },
    ],
    [
      'a removal that the agent reports',
      {
        first: ({ vmId }) => remove(vmId),
        act: complete,
        action: 'extension.removed',
        cause: { action: 'extension.removed', extension: 'probe' },
        extension: undefined,
        details: ofProbe,
      },
    ],
    [
      'a revert',
      {
        first: (vm) => vm.declare('probe', { version: '1.1.0.0' }),
        act: (vmId) => revertGoalState({ ...operator, now: at }, { vmId, incarnation: 3 }),
        action: 'goal-state.revert',
        target: ['goal-state', '3'],
        cause: { action: 'goal-state.revert', incarnation: 3 },
        extension: ['enabled', 3],
        details: { from: 4, to: 3 },
      },
    ],
  ])(
    '%s: rows, one goal state, one log entry, one change',
    async (_, { act, first, action, target, cause, extension, details }) => {
      const vm = await givenProbe();
      await first?.(vm);
      const before = await headOf(vm.vmId);
      const mark = await markOf(services.db);
      await act(vm.vmId);

      const head = await headOf(vm.vmId);
      expect(head).toMatchObject({ incarnation: before.incarnation + 1, publishedAt: at });
      expect(head.etag).not.toBe(before.etag);
      expect(await causeOf(vm.vmId)).toMatchObject({
        etag: head.etag,
        text: head.text,
        cause,
        publishedAt: at,
        publishedBy: 'Test operator',
      });
      const [row] = await extensionsOf(vm.vmId);
      expect(row && [row.state, row.sequenceNumber]).toEqual(extension);
      if (row)
        expect(row).toMatchObject({
          changedAt: at,
          changedBy: 'Test operator',
          deliveredAt: null,
          everDelivered: true,
        });
      const acts = await actsSince(services.db, mark, vm.vmId);
      const [targetKind, targetId] = target ?? ['extension', 'probe'];
      expect(acts).toMatchObject([
        { action, targetKind, targetId, actorKind: 'user', actorName: 'Test operator', door: 'page', at, details },
      ]);
      expect(JSON.stringify(acts)).not.toContain('sesame-1');
      expect(await changesSince(services.db, mark)).toEqual([`vm ${vm.vmId}`]);
    },
  );

  test('the activity log shows the extension before and after', async () => {
    const vm = await givenProbe();
    const mark = await markOf(services.db);
    const settings = { publicSettings: { port: 2 }, protectedSettings: { password: 'sesame-2' } };
    await setExtension(operator, { vmId: vm.vmId, name: 'probe', goal: { ...goal, settings } });
    await removeExtension(operator, { vmId: vm.vmId, name: 'probe', force: true });
    const [set, removed] = await actsSince(services.db, mark, vm.vmId);
    const sealed = { $sealed: expect.any(String) };
    expect(set?.before).toMatchObject({ state: 'enabled', publicSettings: { port: 1 }, protectedSettings: sealed });
    expect(set?.after).toMatchObject({ state: 'disabled', publicSettings: { port: 2 } });
    expect(removed).toMatchObject({ before: { state: 'disabled', publicSettings: { port: 2 } }, after: null });
    expect(JSON.stringify([set, removed])).not.toContain('sesame');
  });

  test('extensions that change together have an entry each, in one goal state', async () => {
    const { db } = services;
    const handler = 'Acme.Lab.Many';
    for (const version of ['1.0', '1.1'])
      await givenVersion(db, { handler, version, supportsMultipleExtensions: true });
    const vm = await givenVm(services);
    for (const name of ['a', 'b']) await vm.declare(name, { handler, version: '1.0' });
    const mark = await markOf(db);
    const change = { handler, version: '1.1', state: 'enabled' as const };
    await setExtension(operator, { vmId: vm.vmId, name: 'b', goal: change, siblings: true });
    const acts = await actsSince(db, mark, vm.vmId);
    expect(acts.map(({ action, targetId }) => `${action} ${targetId}`)).toEqual(['extension.set b', 'extension.set a']);
    expect(await headOf(vm.vmId)).toMatchObject({ incarnation: 4 });
    expect(await changesSince(db, mark)).toEqual([`vm ${vm.vmId}`]);
  });

  test.each<[string, (vm: GivenVm) => Promise<unknown>]>([
    ['the same declaration', (vm) => vm.declare('probe', { settings: { publicSettings: { port: 1 } } })],
    ['a revert to what is in force', ({ vmId }) => revertGoalState(operator, { vmId, incarnation: 3 })],
    ['a release without withheld secrets', ({ vmId }) => releaseSecrets(admin, { vmId })],
    ['a plan', ({ vmId }) => planExtension(operator, { vmId, name: 'probe', goal })],
    ['a plan of a removal', ({ vmId }) => planRemoval(operator, { vmId, name: 'probe', force: true })],
    ['a plan of a revert', ({ vmId }) => planRevert(operator, { vmId, incarnation: 1 })],
    [
      'a late report of a removal',
      ({ vmId }) => services.db.transaction((tx) => completeRemoval(tx, operator, vmId, 'probe', 1)),
    ],
    [
      'a report of the removal of another name',
      ({ vmId }) => services.db.transaction((tx) => completeRemoval(tx, operator, vmId, 'x', 1)),
    ],
  ])('%s leaves nothing', async (_, act) => {
    const vm = await givenProbe();
    const before = [await headOf(vm.vmId), await extensionsOf(vm.vmId)];
    const mark = await markOf(services.db);
    await act(vm);
    expect([await headOf(vm.vmId), await extensionsOf(vm.vmId)]).toEqual(before);
    expect(await actsSince(services.db, mark, vm.vmId)).toEqual([]);
    expect(await changesSince(services.db, mark)).toEqual([]);
  });

  test('a second removal changes nothing and returns the same as the first', async () => {
    const vm = await givenProbe();
    const first = await remove(vm.vmId);
    const mark = await markOf(services.db);
    expect(await remove(vm.vmId)).toEqual(first);
    expect(first).toEqual({ vmId: vm.vmId, name: 'probe', state: 'uninstall', sequenceNumber: 2, incarnation: 4 });
    expect(await actsSince(services.db, mark, vm.vmId)).toEqual([]);
    expect(await remove(vm.vmId, true)).toMatchObject({ state: 'removed', sequenceNumber: 2, incarnation: 5 });
  });

  test('an extension being uninstalled has no dependencies, and its previous dependencies can be removed', async () => {
    const vm = await givenProbe();
    await givenVersion(services.db, { handler: 'Acme.Lab.Disk' });
    await vm.declare('disk', { handler: 'Acme.Lab.Disk', dependsOn: ['probe'] });
    expect(await outcomeOf(remove(vm.vmId))).toBe('conflict extension_needed');
    await vm.deliver();
    await removeExtension(operator, { vmId: vm.vmId, name: 'disk' });
    expect((await extensionsOf(vm.vmId))[0]).toMatchObject({ name: 'disk', state: 'uninstall', dependsOn: [] });
    expect(await remove(vm.vmId)).toMatchObject({ state: 'uninstall' });
  });
});

describe('the goal states of a VM', () => {
  test('begin with an empty goal state, which has a time, an author and a cause', async () => {
    const { vmId } = await givenVm(services);
    expect(await causeOf(vmId)).toMatchObject({
      incarnation: 1,
      contents: [],
      cause: { action: 'vm.create' },
      publishedBy: 'Test operator',
    });
    expect(JSON.parse((await headOf(vmId)).text)).toMatchObject({ protocol: 1, vmId, incarnation: 1, extensions: [] });
  });

  test('AZ-G3 a declaration without timeouts gives every command five minutes', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    const limits = async () => (await getGoalState(operator, { vmId: vm.vmId })).extensions[0]?.timeouts;
    expect(await limits()).toEqual({ install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 });
    await vm.declare('probe', { timeouts: { disable: 7 } });
    expect(await limits()).toEqual({ install: 300, update: 300, enable: 300, disable: 7, uninstall: 300 });
  });

  test('a new machine has received nothing yet, and a renewed certificate does not change that', async () => {
    const vm = await givenProbe();
    const deliveredAt = (await extensionsOf(vm.vmId))[0]?.deliveredAt;
    expect(deliveredAt).toBeInstanceOf(Date);
    await bind(vm.vmId);
    expect((await extensionsOf(vm.vmId))[0]).toMatchObject({ deliveredAt, sequenceNumber: 1 });
    const pem = newKeyPair().certificate;
    const issued = { kind: 'issued' as const, issuer: { key: 'user:root', isAdmin: true }, sameKey: false };
    await services.db.transaction((tx) => bindCertificate(tx, admin, vm.vmId, { pem, thumbprint: 'EF' }, issued));
    expect((await extensionsOf(vm.vmId))[0]).toMatchObject({ deliveredAt: null, commands: null, sequenceNumber: 1 });
    expect(await causeOf(vm.vmId)).toMatchObject({ cause: { action: 'certificate.bind' } });
    expect(await headOf(vm.vmId)).toMatchObject({ certificate: pem, thumbprint: 'EF' });
  });

  test('a VM whose agent was removed keeps its goal state, without a certificate', async () => {
    const vm = await givenProbe();
    const { incarnation } = await headOf(vm.vmId);
    await services.db.transaction((tx) => unbindCertificate(tx, vm.vmId));
    expect(await headOf(vm.vmId)).toMatchObject({ incarnation, certificate: null, thumbprint: null });
  });

  test('a decommission uninstalls what was delivered and drops the rest', async () => {
    const vm = await givenProbe();
    for (const name of ['Disk2', 'Net']) await givenVersion(services.db, { handler: `Acme.Lab.${name}` });
    await vm.declare('disk', { handler: 'Acme.Lab.Disk2', dependsOn: ['probe'] });
    await vm.deliver();
    await vm.declare('net', { handler: 'Acme.Lab.Net' });
    const waiting = await services.db.transaction((tx) => uninstallAll(tx, operator, vm.vmId));
    expect(waiting).toBe(2);
    const rows = (await extensionsOf(vm.vmId)).map(({ name, state, dependsOn, sequenceNumber }) => [
      name,
      state,
      dependsOn,
      sequenceNumber,
    ]);
    expect(rows).toEqual([
      ['disk', 'uninstall', [], 2],
      ['probe', 'uninstall', [], 2],
    ]);
    const { incarnation } = await headOf(vm.vmId);
    expect(await causeOf(vm.vmId)).toMatchObject({ cause: { action: 'vm.decommission' } });
    // A second call publishes a goal state, but no extension gets a new sequence number, so nothing runs twice.
    await services.db.transaction((tx) => uninstallAll(tx, operator, vm.vmId));
    expect((await extensionsOf(vm.vmId)).map(({ sequenceNumber }) => sequenceNumber)).toEqual([2, 2]);
    expect((await headOf(vm.vmId)).incarnation).toBe(incarnation + 1);
  });

  test('decommissioning a VM whose agent has nothing publishes nothing', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    const { incarnation } = await headOf(vm.vmId);
    expect(await services.db.transaction((tx) => uninstallAll(tx, operator, vm.vmId))).toBe(0);
    expect(await extensionsOf(vm.vmId)).toEqual([]);
    expect((await headOf(vm.vmId)).incarnation).toBe(incarnation);
  });

  test('a deletion removes declarations and secrets of this VM only, and keeps the history', async () => {
    const [vm, other] = [await givenProbe(), await givenProbe()];
    await services.db.transaction((tx) => retireGoalStates(tx, vm.vmId));
    const left = async (vmId: string) => [
      (await services.db.select().from(extensions).where(eq(extensions.vmId, vmId))).length,
      (await services.db.select().from(secrets).where(eq(secrets.vmId, vmId))).length,
      (await services.db.select().from(goalStates).where(eq(goalStates.vmId, vmId))).length,
    ];
    expect(await left(vm.vmId)).toEqual([0, 0, 3]);
    expect(await left(other.vmId)).toEqual([1, 1, 3]);
  });
});
