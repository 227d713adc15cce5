import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sharedTables, tableWriters } from './table-writers.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'annex-tables-'));
  plant({
    'db/schema/vms.ts': `export const vms = pgTable(\n  'vms',\n  {});\nexport const vmTags = pgTable('vm_tags', {});`,
    'db/migrations/0000_first.ts': 'sql`update vms set name = 1`;',
    'server/domain/vms/insert-vm.ts': `import { vms } from '#db/schema/index.ts';\ntx.insert(vms).values({});`,
    'server/domain/vms/rename-vm.ts': `import { vms } from '#db/schema/index.ts';\ntx.update(vms).set({});`,
    'server/domain/vms/vms.test.ts': 'sql`delete from vm_tags`;',
    'server/domain/tags/set-tags.ts': 'sql`insert into vm_tags (name) values (1) on conflict do update set name = 2`;',
    'server/testing/fleet.ts': 'sql`update vms set name = 1`;',
  });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function plant(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

test('one module per table passes, whatever tests and migrations write', () => {
  const found = tableWriters(root);
  expect(sharedTables(found)).toEqual([]);
  expect(found.unreadable).toEqual([]);
  expect([...found.writers.keys()].sort()).toEqual(['vm_tags', 'vms']);
});

describe('a second writer of a table is reported', () => {
  const imported = `import { vms } from '#db/schema/vms.ts';\n`;
  test.each([
    ['drizzle insert', `${imported}tx\n  .insert(vms)\n  .values({});`],
    ['drizzle update', `${imported}tx.update(vms).set({});`],
    ['drizzle delete', `${imported}await tx.delete(vms);`],
    ['drizzle under another name', `import { vms as machines } from '#db/schema/index.ts';\ntx.delete(machines);`],
    ['insert into', 'sql`insert into vms (id) values (1)`;'],
    ['insert within a with', 'const text = `with gone as (select 1)\n  insert into vms select 2`;'],
    ['update with an alias', 'sql`update vms v set name = 1`;'],
    ['update over two lines', 'sql`\n  update vms\n    set name = 1`;'],
    ['delete from', `sql\`delete from "vms" where id = 1\`;`],
    ['merge into', 'sql`merge into vms using x on true`;'],
    ['truncate', 'sql`TRUNCATE TABLE vms`;'],
    ['an interpolated table', `${imported}sql\`delete from \${vms} where id = 1\`;`],
  ])('%s', (_, text) => {
    plant({ 'server/domain/reports/take-report.ts': text });
    const [line] = sharedTables(tableWriters(root));
    expect(line).toContain('vms has 2 writers');
    expect(line).toContain('domain/reports: server/domain/reports/take-report.ts');
    expect(line).toContain('domain/vms: server/domain/vms/insert-vm.ts, server/domain/vms/rename-vm.ts');
  });

  test.each(['server/auth/session.ts', 'server/worker/clear-vms.ts', 'db/client.ts'])('in %s', (file) => {
    plant({ [file]: 'sql`delete from vms`;' });
    expect(sharedTables(tableWriters(root))).toHaveLength(1);
  });
});

test.each([
  ['a table in a variable', 'for (const table of all) await tx.delete(table).where(old);'],
  ['a name that is put together', `sql\`delete from \${sql.raw(name)} where old\`;`],
])('%s is reported as unreadable', (_, text) => {
  plant({ 'server/worker/clear.ts': text });
  expect(tableWriters(root).unreadable).toHaveLength(1);
});

test.each([
  ['reading with a lock', 'sql`select id from vms for update skip locked`;'],
  ['a map', 'sessions.delete(vms); hash.update(text).digest();'],
  ['a comment', '/** Never does insert into vms. */\n// delete from vms\nexport const x = 1;'],
])('%s is not a write', (_, text) => {
  plant({ 'server/domain/reports/read.ts': text });
  const found = tableWriters(root);
  expect(sharedTables(found)).toEqual([]);
  expect(found.unreadable).toEqual([]);
});
