import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, publishers } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { createPublisher, listPublishers } from './index.ts';

let admin: Context;
beforeAll(async () => {
  admin = await testContext();
});
const create = (namespace: string, displayName = 'Acme') => createPublisher(admin, { namespace, displayName });

describe('createPublisher', () => {
  test.each<[displayName: unknown, fault: object]>([
    ['', { code: 'field_empty' }],
    [' \t ', { code: 'field_empty' }],
    ['x'.repeat(201), { code: 'field_too_long', params: { maximum: 200 } }],
    ['safe\u202egpj', { code: 'text_direction' }],
    [7, { code: 'field_not_text' }],
    [undefined, { code: 'field_missing' }],
  ])('rejects the display name %j and stores nothing', async (displayName, fault) => {
    const before = await admin.db.$count(publishers);
    const created = createPublisher(admin, { namespace: 'Rejected', displayName: displayName as string });
    await expect(created).rejects.toMatchObject({ code: 'invalid', faults: [{ path: '/displayName', ...fault }] });
    expect([await admin.db.$count(publishers), await admin.db.$count(auditEntries)]).toEqual([before, before]);
  });

  test.each(['A', 'A1.b-c.d_e', 'x'.repeat(128), '9.9'])('accepts the namespace %s', async (namespace) => {
    expect(await create(namespace, 'x'.repeat(200))).toMatchObject({ namespace });
  });

  test('by several administrators at the same time creates one publisher, in one spelling', async () => {
    const spellings = ['Race.Lab', 'race.lab', 'RACE.LAB', 'Race.Lab'];
    const all = await Promise.allSettled(spellings.map((namespace) => create(namespace)));
    const created = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value.namespace] : []));
    expect(created).toHaveLength(1);
    for (const each of all) {
      if (each.status === 'rejected') {
        expect(each.reason).toMatchObject({ code: 'publisher_taken', params: { namespace: created[0] } });
      }
    }
  });
});

describe('listPublishers', () => {
  test.each<[input: object, fault: object]>([
    [{ limit: 0 }, { path: '/limit', code: 'field_too_small' }],
    [{ limit: 201 }, { path: '/limit', code: 'field_too_big' }],
    [{ limit: 1.5 }, { path: '/limit', code: 'field_not_integer' }],
    [{ q: 'x'.repeat(201) }, { path: '/q', code: 'field_too_long' }],
  ])('rejects %j', async (input, fault) => {
    await expect(listPublishers(admin, input)).rejects.toMatchObject({ code: 'invalid', faults: [fault] });
  });

  test('has no next page after a full last one', async () => {
    const q = 'only-two';
    for (const namespace of ['Two.A', 'Two.B']) await create(namespace, `Of ${q}`);
    expect(await listPublishers(admin, { q, limit: 2 })).toMatchObject({ items: [{}, {}], nextCursor: null });
  });
});
