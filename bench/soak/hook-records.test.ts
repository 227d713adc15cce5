import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type HookRecord, judgeNodes, readHookRecords } from './hook-records.ts';

const given = (written: string | null, seen: Record<string, string> = {}): HookRecord => ({
  written,
  seen: new Map(Object.entries(seen)),
});

test('what hooks wrote down is read from the folders of the units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-records-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect(readHookRecords(folder)).toEqual(new Map());
  const [giver, taker] = [join(folder, 'units', 'giver-0'), join(folder, 'units', 'taker-12', 'seen')];
  for (const each of [giver, taker]) mkdirSync(each, { recursive: true });
  writeFileSync(join(giver, 'written'), '7-a\n');
  writeFileSync(join(taker, 'giver-0'), '7-a\n');
  expect(readHookRecords(folder)).toEqual(
    new Map([
      ['giver/0', given('7-a')],
      ['taker/12', given(null, { 'giver-0': '7-a' })],
    ]),
  );
});

test('a lost value, an unread change and a unit without a folder are named', () => {
  const nodes = new Map([
    ['giver/0', '2'],
    ['giver/1', '3'],
    ['giver/2', null],
  ]);
  const records = new Map([
    ['giver/0', given('2')],
    ['giver/1', given('4')],
    ['taker/0', given(null, { 'giver-0': '1', 'giver-1': '3' })],
  ]);
  expect(judgeNodes(nodes, records, ['taker/0'])).toEqual([
    'taker/0 read 1 of giver/0, and the portal has 2',
    'giver/1 wrote 4, and the portal has 3',
    'giver/2 has no folder',
  ]);
});
