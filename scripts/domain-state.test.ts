import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { domainFaults, domainStateFaults } from './domain-state.ts';

test.each([
  ['const timer = setTimeout(() => {}, 5);', 'a timer'],
  ["import { setTimeout as delay } from 'node:timers/promises';", 'a timer'],
  ["import { LRUCache } from 'lru-cache';", 'a cache or a queue'],
  ['let last = 0;', 'a variable of the module'],
  ['export const known = new Map<string, number>();', 'a mutable collection of the module'],
  ['const built: WeakMap<object, number> = new WeakMap();', 'a mutable collection of the module'],
  ['const waiting: string[] = [];', 'a mutable collection of the module'],
  ['  static readonly #known = new Map<string, number>();', 'a static field'],
])('%s is a fault in the domain', (line, fault) => {
  expect(domainStateFaults(`${line}\n`)).toEqual([expect.stringContaining(`1: ${fault}`)]);
});

test('constants, local variables and slots are allowed', () => {
  const text = `const words: ReadonlySet<string> = new Set(['a']);
const cache = slot(() => new Map<string, number>());
export function count(): number {
  let sum = 0;
  const seen = new Map<string, number>();
  return sum + seen.size;
}
`;
  expect(domainStateFaults(text)).toEqual([]);
});

test('a planted violation is found, and tests are not read', () => {
  const root = mkdtempSync(join(tmpdir(), 'annex-domain-'));
  mkdirSync(join(root, 'server/domain/vms'), { recursive: true });
  writeFileSync(join(root, 'server/domain/vms/get-vm.ts'), '\nconst vms = new Map();\n');
  writeFileSync(join(root, 'server/domain/vms/get-vm.test.ts'), 'let calls = 0;\n');
  expect(domainFaults(root)).toEqual([
    expect.stringContaining('server/domain/vms/get-vm.ts:2: a mutable collection of the module'),
  ]);
});
