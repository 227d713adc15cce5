import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { and, asc, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, runbookFileRevisions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { findRunbookFiles, listRunbookFiles, openRunbookFile, putRunbookFile, removeRunbookFile } from './index.ts';
import { digestOf, uploaded, uploadRunbookFile } from './testing/upload.ts';

let admin: Context;
let writer: Context;

beforeAll(async () => {
  const services = await testServices();
  admin = await testContext({ services, role: 'admin' });
  const { actor } = await testContext({ services, role: 'operator' });
  writer = await testContext({ services, actor: { ...actor, name: 'Wanda', scripts: true } });
});

const upload = (id: string, contents: string, ctx = admin) => uploadRunbookFile(ctx, id, contents);
const newId = () => `tool-${randomUUID()}`;

/** Returns the contents of a file, as an operator reads them. */
async function textOf(id: string, revision?: number): Promise<string> {
  const operator = await testContext({ services: admin, role: 'operator' });
  const { stream, size, sha256 } = await openRunbookFile(operator, { id, revision });
  const text = Buffer.concat(await stream.toArray()).toString();
  expect([size, sha256]).toEqual([Buffer.byteLength(text), digestOf(text)]);
  return text;
}

const actsOf = (id: string) =>
  admin.db
    .select({ action: auditEntries.action, before: auditEntries.before, after: auditEntries.after })
    .from(auditEntries)
    .where(and(eq(auditEntries.targetKind, 'runbook-file'), eq(auditEntries.targetId, id)))
    .orderBy(asc(auditEntries.id));

describe('a file that is uploaded', () => {
  test('can be read, and is recorded in the activity log by its digest', async () => {
    const id = newId();
    const { file, isNew } = await upload(id, 'one', writer);
    expect(isNew).toBe(true);
    expect(file).toEqual({
      ...{ id, sha256: digestOf('one'), size: 3, revision: 1, storedBy: 'Wanda' },
      storedAt: writer.now.toISOString(),
    });
    expect(await textOf(id)).toBe('one');
    await upload(id, 'three');
    expect(await actsOf(id)).toEqual([
      { action: 'runbook-file.put', before: null, after: { sha256: digestOf('one'), size: 3 } },
      {
        action: 'runbook-file.put',
        before: { sha256: digestOf('one'), size: 3 },
        after: { sha256: digestOf('three'), size: 5 },
      },
    ]);
  });

  test('again with the same contents changes nothing', async () => {
    const id = newId();
    await upload(id, 'same');
    const { file, isNew } = await upload(id, 'same', writer);
    expect([file.revision, file.storedBy, isNew]).toEqual([1, admin.actor.name, false]);
    expect(await actsOf(id)).toHaveLength(1);
  });

  test('again restores contents that were lost', async () => {
    const id = newId();
    await upload(id, `lost ${id}`);
    await admin.blobs.remove(digestOf(`lost ${id}`));
    await expect(textOf(id)).rejects.toMatchObject({ kind: 'unavailable', code: 'runbook_file_damaged' });
    await upload(id, `lost ${id}`);
    expect(await textOf(id)).toBe(`lost ${id}`);
  });

  test('by several people at the same moment has all contents as revisions', async () => {
    const id = newId();
    const texts = ['a', 'b', 'c', 'd'].map((letter) => `${letter} of ${id}`);
    await Promise.all(texts.map((text) => upload(id, text)));
    const read = await Promise.all([1, 2, 3, 4].map((revision) => textOf(id, revision)));
    expect(read.toSorted()).toEqual(texts);
  });

  test('keeps the last 20 earlier contents', async () => {
    const id = newId();
    for (let n = 1; n <= 23; n += 1) expect((await upload(id, `${id} ${n}`)).file.revision).toBe(n);
    expect([await textOf(id), await textOf(id, 23), await textOf(id, 3)]).toEqual([`${id} 23`, `${id} 23`, `${id} 3`]);
    await expect(textOf(id, 2)).rejects.toMatchObject({ kind: 'not_found', code: 'runbook_file_unknown' });
    expect(await admin.blobs.size(digestOf(`${id} 2`)), 'the bytes are deleted').toBeNull();
    expect(await admin.blobs.size(digestOf(`${id} 3`))).toBe(`${id} 3`.length);
  });
});

describe('a file that is deleted', () => {
  test('is gone with its earlier contents', async () => {
    const id = newId();
    await upload(id, `first ${id}`);
    await upload(id, `second ${id}`);
    await removeRunbookFile(writer, { id });
    await expect(textOf(id)).rejects.toMatchObject({ kind: 'not_found', code: 'runbook_file_unknown' });
    for (const text of [`first ${id}`, `second ${id}`]) expect(await admin.blobs.size(digestOf(text))).toBeNull();
    expect(await admin.db.$count(runbookFileRevisions, eq(runbookFileRevisions.id, id))).toBe(0);
    expect((await actsOf(id)).at(-1)).toMatchObject({ action: 'runbook-file.remove', after: null });
    await expect(removeRunbookFile(writer, { id })).rejects.toMatchObject({ code: 'runbook_file_unknown' });
  });

  test('leaves the contents of another file with the same bytes', async () => {
    const [one, other] = [newId(), newId()];
    await upload(one, `shared ${one}`);
    await upload(other, `shared ${one}`);
    await removeRunbookFile(admin, { id: one });
    expect(await textOf(other)).toBe(`shared ${one}`);
  });
});

test('files are found by their ids, and unknown ids are absent', async () => {
  const [one, other] = [newId(), newId()];
  await upload(one, 'x');
  await upload(other, 'yy');
  const found = await findRunbookFiles(admin.db, [one, other, newId()]);
  expect([...found].map(([id, { size }]) => [id, size]).toSorted()).toEqual(
    [
      [one, 1],
      [other, 2],
    ].toSorted(),
  );
  expect(await findRunbookFiles(admin.db, [])).toEqual(new Map());
});

test('files are listed by their ids, in pages and by a part of the id', async () => {
  const prefix = `list_${randomUUID()}`;
  for (const name of ['c', 'a', 'b', '100%']) await upload(`${prefix}-${name}`, name);
  const viewer = await testContext({ services: admin, role: 'viewer' });
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listRunbookFiles(viewer, { q: prefix, limit: 3, ...(cursor && { cursor }) });
    expect(page.items.length).toBeLessThanOrEqual(3);
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(ids).toEqual(['100%', 'a', 'b', 'c'].map((name) => `${prefix}-${name}`));
  const found = await listRunbookFiles(viewer, { q: '100%' });
  expect(found.items.map(({ id }) => id)).toContain(`${prefix}-100%`);
  expect((await listRunbookFiles(viewer, { q: 'l_st' })).items, 'no pattern').toEqual([]);
  await expect(listRunbookFiles(viewer, { cursor: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' });
});

describe('a request is rejected', () => {
  test.each(['', 'a\u0000b', 'a\nb', 'x'.repeat(257), 'ü'.repeat(129), '\ud800'])('for the id %j', async (id) => {
    const file = await uploaded(admin, 'x');
    await expect(putRunbookFile(admin, { id, upload: file })).rejects.toMatchObject({ code: 'invalid' });
    expect(existsSync(file.path), 'the upload is deleted').toBe(false);
  });

  test('for a caller without the grant, and reading for a viewer', async () => {
    const id = newId();
    await upload(id, 'x');
    for (const role of ['viewer', 'operator', 'publisher'] as const) {
      const ctx = await testContext({ services: admin, role });
      const forbidden = { kind: 'forbidden', code: 'scripts_forbidden' };
      await expect(upload(id, 'y', ctx)).rejects.toMatchObject(forbidden);
      await expect(removeRunbookFile(ctx, { id })).rejects.toMatchObject(forbidden);
    }
    const viewer = await testContext({ services: admin, role: 'viewer' });
    await expect(openRunbookFile(viewer, { id })).rejects.toMatchObject({ kind: 'forbidden' });
    expect(await textOf(id)).toBe('x');
  });
});
