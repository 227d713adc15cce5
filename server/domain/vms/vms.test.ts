import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentRefusals, auditEntries, changes, healthChecks, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { getVm, insertVm, lockVm, markDeleted, showRejection, updateVm } from './index.ts';
import { createVmInput, tagLimits, updateVmInput } from './input.ts';
import { clearRefusals, markDecommissioning } from './vm-rows.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

const unique = () => `vm-${randomUUID().slice(0, 8)}`;
const create = (name = unique(), tags: Record<string, string> = {}) =>
  ctx.db.transaction((tx) => insertVm(tx, ctx, { name, tags }));
const remove = (vmId: string) => ctx.db.transaction((tx) => markDeleted(tx, vmId, ctx.now));
const actsOf = (vmId: string) => readActs(ctx.db, eq(auditEntries.vmId, vmId));
const changesOf = (vmId: string) => ctx.db.$count(changes, and(eq(changes.topic, 'vm'), eq(changes.key, vmId)));

describe('names', () => {
  test.each(['a', '7', 'web-01', 'web_01', 'web.example.test', 'Straße-1', 'サーバー1', 'x'.repeat(128)])(
    '%s is valid',
    (name) => {
      expect(createVmInput.parse({ name })).toEqual({ name, tags: {} });
    },
  );

  test.each([
    ['', 'field_empty'],
    ['x'.repeat(129), 'field_too_long'],
    ['-web', 'vm_name_form'],
    ['web-', 'vm_name_form'],
    ['.web', 'vm_name_form'],
    ['web 01', 'vm_name_form'],
    ['web/01', 'vm_name_form'],
    ['web\n', 'vm_name_form'],
    ['../web', 'vm_name_form'],
    ['web\u202e10', 'text_invisible'],
    ['web\u200b', 'text_invisible'],
    ['web\u3164', 'text_invisible'],
    ['web\u0000', 'vm_name_form'],
  ])('%j is rejected at its path with %s', async (name, code) => {
    const vm = await create();
    await expect(updateVm(ctx, { vmId: vm.id, name })).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'invalid',
      faults: [{ path: '/name', code }],
    });
    expect(await getVm(ctx, { vmId: vm.id })).toEqual(vm);
  });
});

describe('tags', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`tag${index}`, '']));

  test.each([
    ['no tags', {}],
    ['as many as allowed', many(tagLimits.count)],
    ['a name and a value of 256 bytes', { ['n'.repeat(256)]: 'v'.repeat(256) }],
    ['128 letters of two bytes', { größe: 'ü'.repeat(128) }],
    ['an empty value', { spot: '' }],
  ])('%s are valid', (_, tags) => {
    expect(updateVmInput.safeParse({ vmId: randomUUID(), tags })).toMatchObject({ success: true, data: { tags } });
  });

  test.each([
    ['one too many', many(tagLimits.count + 1), '/tags'],
    ['an empty name', { '': 'v' }, '/tags'],
    ['a name of 257 bytes', { ['n'.repeat(257)]: 'v' }, '/tags'],
    ['a value of 258 bytes in 129 letters', { size: 'ü'.repeat(129) }, '/tags/size'],
    ['a value that turns the direction of text', { role: 'web\u202emoc' }, '/tags/role'],
    ['a name that turns the direction of text', { 'a\u2066b': 'v' }, '/tags'],
    ['a number', { size: 5 }, '/tags/size'],
    ['a name that has a meaning in JavaScript', JSON.parse('{"__proto__": "v"}'), '/tags/__proto__'],
  ])('%s are rejected', async (_, tags, path) => {
    const vm = await create();
    await expect(updateVm(ctx, { vmId: vm.id, tags: tags as Record<string, string> })).rejects.toMatchObject({
      code: 'invalid',
      faults: [expect.objectContaining({ path })],
    });
    expect((await getVm(ctx, { vmId: vm.id })).tags).toEqual({});
  });
});

describe('reading', () => {
  test('a viewer reads what was created', async () => {
    const vm = await create(unique(), { role: 'web' });
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    expect(await getVm(viewer, { vmId: vm.id })).toEqual({
      id: vm.id,
      name: vm.name,
      tags: { role: 'web' },
      createdAt: ctx.now.toISOString(),
      decommissioning: false,
    });
  });

  test('an id that no VM has, or that a deleted VM had, is unknown', async () => {
    const deleted = await create();
    await remove(deleted.id);
    for (const vmId of [randomUUID(), deleted.id]) {
      await expect(getVm(ctx, { vmId })).rejects.toMatchObject({ kind: 'not_found', code: 'vm_unknown' });
      await expect(updateVm(ctx, { vmId, name: unique() })).rejects.toMatchObject({ code: 'vm_unknown' });
      await expect(ctx.db.transaction((tx) => lockVm(tx, vmId))).rejects.toMatchObject({ code: 'vm_unknown' });
    }
  });

  test.each(['', 'web-01', `${randomUUID()} `])('%j is not an id', async (vmId) => {
    await expect(getVm(ctx, { vmId })).rejects.toMatchObject({ code: 'invalid', faults: [{ path: '/vmId' }] });
  });
});

describe('creating', () => {
  test('is recorded with its contents', async () => {
    const vm = await create(unique(), { role: 'web' });
    expect(await actsOf(vm.id)).toMatchObject([
      {
        action: 'vm.create',
        actorName: ctx.actor.name,
        targetKind: 'vm',
        targetId: vm.id,
        before: null,
        after: { name: vm.name, tags: { role: 'web' } },
      },
    ]);
  });

  test('a taken name is a conflict that names it, and nothing is stored', async () => {
    const { name } = await create();
    const before = await ctx.db.$count(auditEntries);
    await expect(create(name)).rejects.toMatchObject({ kind: 'conflict', code: 'vm_name_taken', params: { name } });
    expect(await ctx.db.$count(vms, eq(vms.name, name))).toBe(1);
    expect(await ctx.db.$count(auditEntries)).toBe(before);
  });

  test('if two VMs are created concurrently with the same name, one gets the name', async () => {
    const name = unique();
    const outcomes = await Promise.allSettled([create(name), create(name)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'vm_name_taken' } });
  });

  test('the name of a deleted VM can be used again', async () => {
    const first = await create();
    await remove(first.id);
    const second = await create(first.name);
    expect(second.id).not.toBe(first.id);
  });

  test('another database error is not reported as a taken name', async () => {
    const tags = { text: 'a\u0000b' };
    await expect(create(unique(), tags)).rejects.not.toMatchObject({ code: 'vm_name_taken' });
  });
});

describe('updating', () => {
  test('a name and tags change independently', async () => {
    const vm = await create(unique(), { role: 'web' });
    const name = unique();
    expect(await updateVm(ctx, { vmId: vm.id, name })).toMatchObject({ name, tags: { role: 'web' } });
    expect(await updateVm(ctx, { vmId: vm.id, tags: { role: 'db' } })).toMatchObject({ name, tags: { role: 'db' } });
    expect(await updateVm(ctx, { vmId: vm.id, tags: {} })).toEqual({ ...vm, name, tags: {} });
  });

  test('an update is recorded with both states, updates open pages and re-evaluates health', async () => {
    const vm = await create(unique(), { role: 'web' });
    const before = await changesOf(vm.id);
    await ctx.db
      .update(healthChecks)
      .set({ dueAt: new Date('2099-01-01') })
      .where(eq(healthChecks.vmId, vm.id));
    await updateVm(ctx, { vmId: vm.id, tags: { role: 'db' } });
    expect((await actsOf(vm.id)).at(-1)).toMatchObject({
      action: 'vm.update',
      before: { name: vm.name, tags: { role: 'web' } },
      after: { name: vm.name, tags: { role: 'db' } },
    });
    expect(await changesOf(vm.id)).toBe(before + 1);
    const [check] = await ctx.db.select().from(healthChecks).where(eq(healthChecks.vmId, vm.id));
    expect(check?.dueAt).toEqual(new Date(0));
  });

  test('a VM keeps its own name, and cannot take another’s', async () => {
    const [vm, other] = await Promise.all([create(), create()]);
    expect(await updateVm(ctx, { vmId: vm.id, name: vm.name })).toEqual(vm);
    const acts = (await actsOf(vm.id)).length;
    await expect(updateVm(ctx, { vmId: vm.id, name: other.name, tags: { a: 'b' } })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'vm_name_taken',
      params: { name: other.name },
    });
    expect(await getVm(ctx, { vmId: vm.id })).toEqual(vm);
    expect(await actsOf(vm.id)).toHaveLength(acts);
  });

  test('concurrent changes of name and tags are both kept', async () => {
    const vm = await create();
    const name = unique();
    await Promise.all([updateVm(ctx, { vmId: vm.id, name }), updateVm(ctx, { vmId: vm.id, tags: { role: 'web' } })]);
    expect(await getVm(ctx, { vmId: vm.id })).toMatchObject({ name, tags: { role: 'web' } });
    const [, first, second] = await actsOf(vm.id);
    expect(second?.before).toEqual(first?.after);
  });

  test.each(['viewer', 'publisher'] as const)('a %s cannot', async (role) => {
    const vm = await create();
    const reader = await testContext({ services: ctx, role });
    await expect(updateVm(reader, { vmId: vm.id, name: unique() })).rejects.toMatchObject({
      kind: 'forbidden',
      params: { role: 'operator' },
    });
  });
});

describe('rejected calls on the page of a VM', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000);
  const show = (vmId: string, seconds: number, code = 'report_bytes_exceeded' as const) =>
    ctx.db.transaction((tx) => showRejection(tx, vmId, code, at(seconds)));
  const shown = (vmId: string) => ctx.db.select().from(agentRefusals).where(eq(agentRefusals.vmId, vmId));

  test.each([
    [0, 0],
    [59, 0],
    [60, 60],
    [-59, 0],
    [-60, -60],
  ])(
    'a repetition after %i s is shown as of second %i, and notifies open pages only if it changes',
    async (later, expected) => {
      const { id } = await create();
      await show(id, 0);
      const before = await changesOf(id);
      await show(id, later);
      expect(await shown(id)).toEqual([{ vmId: id, code: 'report_bytes_exceeded', at: at(expected) }]);
      expect(await changesOf(id)).toBe(before + (expected === 0 ? 0 : 1));
    },
  );

  test('each kind has its own time, and clearing or deleting the VM removes all', async () => {
    const { id } = await create();
    const other = await create();
    await ctx.db.transaction(async (tx) => {
      await showRejection(tx, id, 'counter_jumped', at(0));
      await showRejection(tx, id, 'renewals_exceeded', at(10));
      await showRejection(tx, other.id, 'counter_jumped', at(0));
    });
    expect(await shown(id)).toHaveLength(2);
    await ctx.db.transaction((tx) => clearRefusals(tx, id));
    expect(await shown(id)).toEqual([]);
    await show(id, 20);
    expect(await ctx.db.transaction((tx) => markDeleted(tx, id, at(30)))).toMatch(/^vm-/);
    expect(await shown(id)).toEqual([]);
    expect(await shown(other.id)).toHaveLength(1);
  });
});

test('the first mark of a decommission is kept', async () => {
  const { id } = await create();
  for (const at of [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z')]) {
    await ctx.db.transaction((tx) => markDecommissioning(tx, id, at));
  }
  const [row] = await ctx.db.select().from(vms).where(eq(vms.id, id));
  expect(row?.decommissioningAt).toEqual(new Date('2026-01-01T00:00:00Z'));
  expect(await getVm(ctx, { vmId: id })).toMatchObject({ decommissioning: true });
});
