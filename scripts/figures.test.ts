import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { faultsOf, maxFunctionLines, printFigures, readFigures } from './figures.ts';

let root: string;
const bodyOf = (lines: number) => 'step();\n'.repeat(lines);

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'annex-figures-'));
  plant({
    'server/domain/vms/vm.ts': 'export interface Vm {\n  id: string;\n}\n',
    'server/domain/vms/find-vm.ts': 'export function findVm(): null {\n  return null;\n}\n',
    'server/domain/vms/find-vm.test.ts': `test('a VM is found', () => {\n${bodyOf(4)}});\n`,
    'app/vms/[vmId]/page.tsx': 'export default function Page() {\n  return <p>one</p>;\n}\n',
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

test('files, functions and tests are measured, and this project has no faults', () => {
  const figures = readFigures(root);
  expect(figures).toMatchObject({ files: 3, medianLines: 3, functions: [{ lines: 3 }, { lines: 3 }] });
  expect(figures.testsPerCode.get('domain/vms')).toBe(1);
  expect(faultsOf(figures)).toEqual([]);
  expect(printFigures(figures)).toContain('0 functions over 80; 0 types exported twice; tests per code 1.00');
});

test.each([
  ['a function', `export function long() {\n${bodyOf(79)}}\n`, 'long'],
  ['an arrow function', `export const long = () => {\n${bodyOf(79)}};\n`, 'long'],
  ['a method', `export class Vms {\n  long() {\n${bodyOf(79)}}\n}\n`, 'long'],
  ['a callback', `register(() => {\n${bodyOf(79)}});\n`, 'a function without a name'],
])('%s over 80 lines is a fault', (_, text, name) => {
  plant({ 'agent/long.ts': text });
  expect(faultsOf(readFigures(root))).toEqual([`agent/long.ts: ${name} has 81 lines; split functions longer than 80`]);
});

test('80 lines are allowed, and tests may be longer', () => {
  plant({
    'agent/long.ts': `export function long() {\n${bodyOf(maxFunctionLines - 2)}}\n`,
    'agent/long.test.ts': `test('all of it', () => {\n${bodyOf(200)}});\n`,
  });
  expect(faultsOf(readFigures(root))).toEqual([]);
});

test.each(['export interface Vm {}', 'export type Vm = string;', 'export class Vm {}'])(
  'a second type with the same name is a fault: %s',
  (text) => {
    plant({ 'app/vms/row.ts': `${text}\n` });
    expect(faultsOf(readFigures(root))).toEqual([
      'Vm is exported by app/vms/row.ts and server/domain/vms/vm.ts; import one of them, or rename the one that means something else',
    ]);
  },
);

test('a type that is re-exported, or used only in its file, is not a duplicate', () => {
  plant({
    'app/vms/row.ts': "export type { Vm } from '#server/domain/vms/vm.ts';\n",
    'app/vms/list.ts': 'interface Vm {}\nexport const one: Vm = {};\n',
  });
  expect(faultsOf(readFigures(root))).toEqual([]);
});

test.each<[what: string, files: Record<string, string>, fault: string | null]>([
  ['no tests', { 'server/domain/logs/read-log.ts': bodyOf(3) }, 'server/domain/logs has 0.00'],
  [
    'a line too few',
    { 'server/domain/logs/a.ts': bodyOf(500), 'server/domain/logs/a.test.ts': bodyOf(499) },
    'server/domain/logs has 0.99',
  ],
  ['as many lines', { 'server/domain/logs/a.ts': bodyOf(3), 'server/domain/logs/a.test.ts': bodyOf(3) }, null],
  [
    'as many lines, without comments',
    {
      'server/domain/logs/a.ts': `/**\n * What it does.\n */\n${bodyOf(3)}`,
      'server/domain/logs/a.test.ts': bodyOf(3),
    },
    null,
  ],
  [
    'tests and what they share in folders of the module',
    {
      'server/domain/logs/read/a.ts': bodyOf(4),
      'server/domain/logs/read/a.test.ts': bodyOf(2),
      'server/domain/logs/testing/lines.ts': bodyOf(2),
    },
    null,
  ],
  ['no tests of a loose file of the domain', { 'server/domain/parse.ts': bodyOf(3) }, null],
  ['no tests outside of the domain', { 'server/rest/log.ts': bodyOf(3), 'app/logs/page.tsx': bodyOf(3) }, null],
])('a module of the domain has at least as many lines of tests as of code: %s', (_, files, fault) => {
  plant(files);
  expect(faultsOf(readFigures(root))).toEqual(
    fault === null ? [] : [`${fault} lines of tests per line of code; at least 1 is required, so test what it decides`],
  );
});
