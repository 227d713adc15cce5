import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { noteOf, testPrograms } from './programs.ts';

const root = path.resolve(import.meta.dirname, '../..');
const openssl = testPrograms.find(({ name }) => name === 'openssl');

/** Matches files that start openssl, or that import test code that starts it. */
const starts = /exec\w*\(\s*'openssl'|openssl\('|\/testing\/(seal|tls|misbehaving)\.ts'|\/clinic\/life\.ts'/;

test('the test files that are skipped without openssl are those that need it', () => {
  const files = globSync('{agent,db,e2e,protocol,samples,scripts,server}/**/*.{test,spec}.ts', { cwd: root });
  const found = files.filter((file) => starts.test(readFileSync(path.join(root, file), 'utf8')));
  const listed = openssl?.tests ?? [];
  expect(found.filter((file) => !listed.includes(file))).toEqual([]);
  expect(listed.filter((file) => !files.includes(file))).toEqual([]);
});

test('a run without a program says what was not tested, why, and in which files', () => {
  const missing = {
    name: 'openssl',
    shows: 'keys',
    tests: ['a.test.ts', 'b.test.ts'],
    reason: 'this machine is not Debian',
  };
  expect(noteOf(missing)).toBe(
    'Not tested: keys. openssl is missing and could not be fetched: this machine is not Debian. Left out: a.test.ts, b.test.ts.',
  );
});
