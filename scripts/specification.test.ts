import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fillPage, readEvidence, specificationFaults } from './specification.ts';

/** Builds ids in a family that does not exist, so that this file itself names no statement. */
const id = (number: number | string): string => `QX${'-'}${number}`;

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'annex-specification-'));
  plant('server/domain/vms/create.test.ts', `test('${id(1)} creates', () => {});`);
  plant('app/(portal)/[vmId]/page.test.tsx', `const page = <p>x</p>; test.each([['${id(2)} shows %s']]);`);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function plant(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

/** Returns a page with these rows, after the script has filled in the last column. */
function pageWith(...rows: string[]): string {
  const table = ['| ID | Statement | Shown by |', '| --- | --- | --- |', ...rows].join('\n');
  return fillPage(`# Statements\n\n${table}\n`, readEvidence(root));
}

const faults = (text: string): string[] => specificationFaults(text, readEvidence(root));

test('each statement links to the tests that name it, even in folders with brackets', () => {
  const text = pageWith(`| ${id(1)} | VMs can be created. |  |`, `| ${id(2)} | A page shows them. |  |`);
  expect(text).toContain('[vms/create](../server/domain/vms/create.test.ts) |');
  expect(text).toContain('](../app/%28portal%29/%5bvmId%5d/page.test.tsx) |');
  expect(faults(text)).toEqual([]);
});

test('a test that names an ID which is not listed is caught', () => {
  const text = pageWith(`| ${id(1)} | VMs can be created. |  |`);
  expect(faults(text)).toEqual([`app/(portal)/[vmId]/page.test.tsx: ${id(2)} is not listed in docs/specification.md.`]);
});

test('a statement that no test names is caught, unless its row gives a reason', () => {
  const both = [`| ${id(1)} | VMs can be created. |  |`, `| ${id(2)} | A page shows them. |  |`];
  expect(faults(pageWith(...both, `| ${id(3)} | VMs fly. |  |`))[0]).toContain(`no test names ${id(3)}`);
  expect(faults(pageWith(...both, `| ${id(3)} | VMs fly. | Not shown: they have no wings. |`))).toEqual([]);
});

test('a comment does not count as a test', () => {
  plant('server/domain/vms/create.test.ts', `// ${id(1)}\ntest('creates', () => {});`);
  const text = pageWith(`| ${id(1)} | VMs can be created. |  |`, `| ${id(2)} | A page shows them. |  |`);
  expect(faults(text)).toEqual([
    `docs/specification.md: no test names ${id(1)}. Add one, or write "Not shown: reason" in its row.`,
  ]);
});

test('a page is stale if it lists tests that do not exist, or misses new tests', () => {
  const text = pageWith(`| ${id(1)} | VMs can be created. |  |`, `| ${id(2)} | A page shows them. |  |`);
  plant('agent/more.test.ts', `test('${id(1)} creates more', () => {});`);
  expect(faults(text)).toEqual([
    'docs/specification.md does not match the names of the tests. Run npm run specification.',
  ]);
});

test('a statement that is listed twice, missing or in a broken row is caught', () => {
  const first = `| ${id(1)} | VMs can be created. |  |`;
  const second = `| ${id(2)} | A page shows them. |  |`;
  expect(faults(pageWith(first, first, second))).toEqual([`docs/specification.md: ${id(1)} is listed twice.`]);
  expect(faults(pageWith(first, second, `| ${id(4)} | VMs sink. | Not shown: no water. |`))).toEqual([
    `docs/specification.md: ${id(3)} is missing.`,
  ]);
  expect(faults(pageWith(first, second, `| ${id(3)} | No third column |`))).toEqual([
    `docs/specification.md: the row of ${id(3)} is not "| ID | statement | tests |".`,
  ]);
});
