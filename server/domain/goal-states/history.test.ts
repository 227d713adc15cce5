import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { compareGoalStates, previewRevert } from './compare-goal-states.ts';
import { findRevertTarget } from './find-revert-target.ts';
import { getDeliveredGoalState } from './get-delivered-goal-state.ts';
import { listGoalStateChanges } from './list-goal-state-changes.ts';
import { listGoalStates } from './list-goal-states.ts';
import { removeExtension } from './remove-extension.ts';

let services: Services;
const unknownVm = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
  await givenVersion(services.db, { version: '1.1.0.0' });
});

const ctx = (role: 'viewer' | 'operator' = 'operator') => testContext({ services, role });
const secret = 'correct horse battery staple';

/**
 * Creates a VM with five goal states: the first is empty, the second adds the probe, and the next three change the
 * probe's target, secret and version.
 */
async function vmWithHistory(): Promise<GivenVm> {
  const vm = await givenVm(services);
  const publicSettings = { target: 'a' };
  await vm.declare('probe', { settings: { publicSettings } });
  await vm.declare('probe', { settings: { publicSettings: { target: 'b' } } });
  await vm.declare('probe', { settings: { publicSettings: { target: 'b' }, protectedSettings: { password: secret } } });
  await vm.declare('probe', { version: '1.1.0.0', settings: { publicSettings: { target: 'b' } } });
  return vm;
}

test('lists what each goal state changed, page by page, without settings or secrets', async () => {
  const { vmId } = await vmWithHistory();
  const first = await listGoalStateChanges(await ctx(), { vmId, limit: 3 });
  expect(first.items.map(({ incarnation, changes }) => [incarnation, changes.map(({ kind }) => kind)])).toEqual([
    [5, ['version']],
    [4, ['secrets']],
    [3, ['setting']],
  ]);
  expect(first.items[2]?.changes).toMatchObject([{ extension: 'probe', from: 'a', to: 'b', fields: ['target'] }]);
  const second = await listGoalStateChanges(await ctx(), { vmId, limit: 3, cursor: first.nextCursor ?? '' });
  expect(second).toMatchObject({
    items: [
      { incarnation: 2, changes: [{ kind: 'added', to: '1.0.0.0' }], publishedBy: 'Test operator' },
      { incarnation: 1, changes: [] },
    ],
    nextCursor: null,
  });
  expect(JSON.stringify([first, second])).not.toContain(secret);
});

test('compares any two goal states in both directions; AZ-C2 without the values of secrets', async () => {
  const { vmId } = await vmWithHistory();
  const forth = await compareGoalStates(await ctx(), { vmId, from: 2, to: 5 });
  expect(forth.changes.map(({ kind }) => kind)).toEqual(['version', 'setting', 'secrets']);
  expect(forth.secretsChanged).toEqual(['probe']);
  expect(forth.after.extensions[0]).toMatchObject({ publicSettings: { target: 'b' }, hasProtectedSettings: true });
  const back = await compareGoalStates(await ctx(), { vmId, from: 5, to: 2 });
  expect(back.changes).toMatchObject([{ kind: 'version', from: '1.1.0.0', to: '1.0.0.0' }, {}, { kind: 'secrets' }]);
  expect(await compareGoalStates(await ctx(), { vmId, from: 4, to: 5 })).toMatchObject({ secretsChanged: [] });
  expect(JSON.stringify([forth, back])).not.toContain(secret);
  expect(JSON.stringify([forth, back])).not.toContain('secretId');
});

test('compares the first goal state with the empty state', async () => {
  const { vmId } = await vmWithHistory();
  expect(await compareGoalStates(await ctx(), { vmId, from: 0, to: 2 })).toMatchObject({
    before: null,
    changes: [{ kind: 'added' }],
  });
});

test('compares a revert with the current goal state, and omits extensions that are being uninstalled', async () => {
  const vm = await vmWithHistory();
  const { vmId } = vm;
  expect(await previewRevert(await ctx(), { vmId, incarnation: 3 })).toMatchObject({
    before: { incarnation: 5 },
    after: { incarnation: 3, extensions: [{ sequenceNumber: 5 }] },
    changes: [{ kind: 'version', to: '1.0.0.0' }, { kind: 'secrets' }],
    secretsChanged: ['probe'],
  });
  expect(await previewRevert(await ctx(), { vmId, incarnation: 1 })).toMatchObject({ changes: [{ kind: 'removed' }] });
  await vm.deliver();
  await removeExtension(await ctx(), { vmId, name: 'probe' });
  expect((await previewRevert(await ctx(), { vmId, incarnation: 6 })).after.extensions).toEqual([]);
});

test('reverts a failure to the newest goal state with other contents', async () => {
  const { vmId } = await vmWithHistory();
  expect(await findRevertTarget(await ctx(), { vmId, name: 'probe' })).toEqual({ incarnation: 4 });
  expect(await findRevertTarget(await ctx(), { vmId, name: 'other' })).toEqual({ incarnation: null });
});

test('shows a delivered goal state as sent, even when a newer goal state is in force', async () => {
  const vm = await vmWithHistory();
  const { vmId } = vm;
  expect(await getDeliveredGoalState(await ctx(), { vmId })).toBeNull();
  await vm.deliver();
  await vm.declare('probe', { version: '1.1.0.0', settings: { publicSettings: { target: 'c' } } });
  expect(await getDeliveredGoalState(await ctx(), { vmId })).toMatchObject({
    incarnation: 5,
    document: { incarnation: 5, vmId, protocol: 1 },
  });
});

test('only operators can read; unknown incarnations are 404', async () => {
  const { vmId } = await vmWithHistory();
  for (const call of [
    async () => listGoalStateChanges(await ctx('viewer'), { vmId }),
    async () => compareGoalStates(await ctx('viewer'), { vmId, from: 1, to: 2 }),
    async () => previewRevert(await ctx('viewer'), { vmId, incarnation: 1 }),
    async () => getDeliveredGoalState(await ctx('viewer'), { vmId }),
    async () => findRevertTarget(await ctx('viewer'), { vmId, name: 'probe' }),
  ]) {
    await expect(call()).rejects.toMatchObject({ kind: 'forbidden' });
  }
  const unknown = { kind: 'not_found' };
  await expect(listGoalStateChanges(await ctx(), { vmId: unknownVm })).rejects.toMatchObject(unknown);
  await expect(compareGoalStates(await ctx(), { vmId, from: 1, to: 99 })).rejects.toMatchObject(unknown);
  await expect(previewRevert(await ctx(), { vmId: unknownVm, incarnation: 1 })).rejects.toMatchObject(unknown);
  await expect(previewRevert(await ctx(), { vmId, incarnation: 99 })).rejects.toMatchObject(unknown);
});

longTest('a page of large goal states ends at 4 MiB, and its cursor continues from there', async () => {
  const vm = await givenVm(services);
  for (let round = 0; round < 20; round++) {
    await vm.declare('probe', { settings: { publicSettings: { round, text: 'x'.repeat(250_000) } } });
  }
  const pages = async (list: typeof listGoalStates | typeof listGoalStateChanges) => {
    const seen: number[][] = [];
    for (let cursor: string | undefined; ; ) {
      const { items, nextCursor } = await list(await ctx(), { vmId: vm.vmId, limit: 100, ...(cursor && { cursor }) });
      seen.push(items.map(({ incarnation }) => incarnation));
      if (nextCursor === null) return seen;
      cursor = nextCursor;
    }
  };
  const all = Array.from({ length: 21 }, (_, index) => 21 - index);
  for (const list of [listGoalStates, listGoalStateChanges]) {
    const found = await pages(list);
    expect(found).toHaveLength(2);
    expect(found.flat()).toEqual(all);
  }
});
