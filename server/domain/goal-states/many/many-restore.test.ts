import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensions, goalStateHeads, goalStates, secrets } from '#db/schema/index.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { removeExtension } from '../remove-extension.ts';
import { type ManyStage, many, manyStage, other, patch, requestsOf } from './testing/many-stage.ts';

let stage: ManyStage;

beforeAll(async () => {
  stage = await manyStage();
});

describe('RO-28 RO-31 restoring what a VM had before', () => {
  async function changed(...names: string[]) {
    const vm = await stage.given(...names);
    const applied = await stage.apply(vm, patch({ version: '1.1.0.0', publicSettings: { replace: {} } }));
    if (applied?.outcome !== 'applied') throw new Error('not applied');
    const { beforeIncarnation: incarnation, touched } = applied;
    return { vm, applied, restore: { kind: 'restore' as const, incarnation, extensions: touched } };
  }

  test('declares the earlier contents of these extensions only', async () => {
    const { vm, restore } = await changed('probe');
    await vm.declare('other', { handler: other });
    expect(await stage.outcomeOf(vm, restore)).toBe('revert');
    expect(await stage.shown(vm)).toEqual(['other 1.0.0.0 enabled 1', 'probe 1.0.0.0 enabled 3']);
    expect((await stage.rowsOf(vm))[1]).toMatchObject({ publicSettings: { a: 1, b: { c: 2 } } });
  });

  test('removes extensions that were absent, with the agent if it had them', async () => {
    for (const isDelivered of [false, true]) {
      const vm = await givenVm(stage.services);
      const applied = await stage.apply(vm, patch({ extension: 'probe', version: '1.0.0.0', onAbsent: 'install' }));
      if (applied?.outcome !== 'applied') throw new Error('not applied');
      if (isDelivered) await vm.deliver();
      await stage.apply(vm, { kind: 'restore', incarnation: applied.beforeIncarnation, extensions: applied.touched });
      expect(await stage.shown(vm)).toEqual(isDelivered ? ['probe 1.0.0.0 uninstall 2'] : []);
    }
  });

  test('leaves a VM alone that someone else changed, and says who', async () => {
    const { vm, restore } = await changed('probe');
    await vm.declare('probe', { version: '2.0.0.0' });
    const [row] = await stage.rowsOf(vm);
    expect(await stage.apply(vm, restore)).toEqual({
      outcome: 'overtaken',
      by: row?.changedBy,
      action: 'extension.set',
      at: row?.changedAt,
    });
    expect((await stage.previewAll(requestsOf([vm], restore))).get(vm.vmId)).toEqual({
      outcome: 'refused',
      code: 'extension_moved_on',
    });
    await removeExtension(stage.operator, { vmId: vm.vmId, name: 'probe' });
    expect(await stage.apply(vm, restore)).toMatchObject({ outcome: 'overtaken', by: 'Test operator' });
  });

  test('restores an extension that the change removed', async () => {
    const vm = await stage.given('probe');
    const applied = await stage.apply(vm, patch({ kind: 'remove' }));
    if (applied?.outcome !== 'applied') throw new Error('not applied');
    const { beforeIncarnation: incarnation, touched: names } = applied;
    expect(await stage.apply(vm, { kind: 'restore', incarnation, extensions: names })).toMatchObject({
      kind: 'revert',
    });
    expect(await stage.shown(vm)).toEqual(['probe 1.0.0.0 enabled 2']);
  });

  test('takes back only a goal state that was not delivered, even an uninstall', async () => {
    const { vm, restore, applied } = await changed('probe');
    await vm.deliver();
    expect(await stage.apply(vm, { ...restore, undelivered: applied.incarnation })).toEqual({ outcome: 'delivered' });
    const removal = await stage.apply(vm, patch({ kind: 'remove' }));
    if (removal?.outcome !== 'applied') throw new Error('not applied');
    const { beforeIncarnation: incarnation, touched } = removal;
    const takeBack = { kind: 'restore' as const, incarnation, extensions: touched, undelivered: removal.incarnation };
    expect(await stage.apply(vm, takeBack)).toMatchObject({ outcome: 'applied', kind: 'revert' });
    expect(await stage.shown(vm)).toEqual(['probe 1.1.0.0 enabled 4']);
  });

  test('is rejected if the goal state is unknown, the version withdrawn or no copy of the secrets is left', async () => {
    const { vm, restore } = await changed('probe');
    expect(await stage.outcomeOf(vm, { ...restore, incarnation: 99 })).toBe('refused goal_state_unknown');
    await givenVersion(stage.services.db, { handler: 'Acme.Lab.Leaving', state: 'withdrawn' });
    const contents = (await stage.rowsOf(vm)).map((row) => ({ ...row, version: '0.9.0.0' }));
    await stage.services.db.update(goalStates).set({ contents }).where(eq(goalStates.vmId, vm.vmId));
    expect(await stage.outcomeOf(vm, restore)).toBe('refused version_withdrawn');
    const safe = await stage.given('probe');
    await stage.apply(safe, { ...patch({ protectedSettings: 'given' }), given: { key: 'x' } });
    const without = await stage.apply(safe, patch({ protectedSettings: 'removed' }));
    if (without?.outcome !== 'applied') throw new Error('not applied');
    await stage.services.db.update(secrets).set({ sealed: null, cms: null }).where(eq(secrets.vmId, safe.vmId));
    const { beforeIncarnation: incarnation, touched } = without;
    expect(await stage.outcomeOf(safe, { kind: 'restore', incarnation, extensions: touched })).toBe(
      'refused secrets_required',
    );
  });

  test('keeps the rules between the restored extensions and the others', async () => {
    const vm = await givenVm(stage.services);
    for (const name of ['one', 'two']) await vm.declare(name, { handler: many });
    const both = await stage.apply(vm, patch({ handler: many, version: '1.1.0.0' }));
    if (both?.outcome !== 'applied') throw new Error('not applied');
    const [one, two] = both.touched;
    if (!one || !two) throw new Error('two extensions were changed');
    const restore = { kind: 'restore' as const, incarnation: both.beforeIncarnation, extensions: [one] };
    expect(await stage.outcomeOf(vm, restore)).toBe('refused version_shared');
    expect(await stage.outcomeOf(vm, { ...restore, incarnation: 1 })).toBe('revert');
    await vm.declare('probe', { dependsOn: ['two'] });
    expect(await stage.outcomeOf(vm, { ...restore, incarnation: 1, extensions: [two] })).toBe(
      'refused extension_needed',
    );
  });

  test('RO-20 a repeat gives the same contents the next sequence number, unless someone changed them', async () => {
    const vm = await stage.given('probe');
    const repeat = { kind: 'repeat' as const, extensions: [{ name: 'probe', sequenceNumber: 1 }] };
    expect(await stage.apply(vm, repeat)).toMatchObject({ outcome: 'applied', kind: 'retry' });
    expect(await stage.shown(vm)).toEqual(['probe 1.0.0.0 enabled 2']);
    expect(await stage.apply(vm, repeat)).toMatchObject({ outcome: 'overtaken', by: 'probe 1.1' });
  });

  test('a revert to a time declares what the VM had then', async () => {
    const vm = await stage.given('probe');
    const { publishedAt } = await stage.headOf(vm);
    await vm.declare('probe', { version: '1.1.0.0' });
    await vm.declare('probe', { version: '2.0.0.0' });
    const asOf = publishedAt.toISOString();
    expect(await stage.outcomeOf(vm, patch({ kind: 'revert', asOf }))).toBe('revert');
    expect(await stage.shown(vm)).toEqual(['probe 1.0.0.0 enabled 4']);
  });
});

describe('RO-4 a preview', () => {
  test('counts bytes, timeouts and restarts, and writes nothing', async () => {
    const vm = await stage.given('probe');
    await vm.deliver();
    const before = await stage.headOf(vm);
    const preview = (
      await stage.previewAll(requestsOf([vm], patch({ version: '1.1.0.0', timeouts: { update: 7 } })))
    ).get(vm.vmId);
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
    expect(await stage.headOf(vm)).toEqual(before);
    const state = (await stage.previewAll(requestsOf([vm], patch({ state: 'disabled' })))).get(vm.vmId);
    expect(state).toMatchObject({ kind: 'state', bytes: 0 });
  });

  test('says what could not be reverted, and what an admin must release', async () => {
    const [plain, withheld] = [await stage.given('probe'), await stage.given('probe')];
    await stage.services.db.update(extensions).set({ version: '0.9.0.0' }).where(eq(extensions.vmId, plain.vmId));
    await withheld.declare('probe', { settings: { protectedSettings: { key: 'x' } } });
    const { certificate: pem } = await newKeyPair();
    await stage.services.db.update(secrets).set({ cms: null }).where(eq(secrets.vmId, withheld.vmId));
    await stage.services.db
      .update(goalStateHeads)
      .set({ certificate: pem, thumbprint: 'AB' })
      .where(eq(goalStateHeads.vmId, withheld.vmId));
    const previews = await stage.previewAll(requestsOf([plain, withheld], patch({ version: '1.1.0.0' })));
    expect(previews.get(plain.vmId)).toMatchObject({ notRevertible: 'version_withdrawn', needsRelease: false });
    expect(previews.get(withheld.vmId)).toMatchObject({ notRevertible: null, needsRelease: true });
    await stage.services.db.update(secrets).set({ sealed: null }).where(eq(secrets.vmId, withheld.vmId));
    const lost = await stage.previewAll(
      requestsOf([withheld], { ...patch({ protectedSettings: 'given' }), given: {} }),
    );
    expect(lost.get(withheld.vmId)).toMatchObject({ notRevertible: 'secrets_required' });
  });
});
