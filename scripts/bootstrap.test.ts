import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';

let project: string;

/** A fake npm that logs its calls and creates the files that npm would. */
const npm = `
const fs = require('node:fs');
const args = process.argv.slice(2);
fs.appendFileSync('calls.jsonl', JSON.stringify({ args, env: Object.keys(process.env) }) + '\\n');
const names = args.includes('--include=dev') ? ['vitest', 'knip'] : ['pg'];
for (const name of names) {
  fs.mkdirSync('node_modules/' + name, { recursive: true });
  fs.writeFileSync('node_modules/' + name + '/package.json', '{}');
}
fs.writeFileSync('node_modules/.package-lock.json', '{}');
`;

beforeEach(() => {
  project = mkdtempSync(path.join(tmpdir(), 'annex-bootstrap-'));
  mkdirSync(path.join(project, 'scripts'));
  for (const file of ['scripts/bootstrap.js', 'server/platform/quick-imports.ts']) {
    cpSync(path.join(import.meta.dirname, '..', file), path.join(project, file));
  }
  const manifest = { type: 'module', devDependencies: { vitest: '1', knip: '1' } };
  writeFileSync(path.join(project, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(project, 'package-lock.json'), '{}');
  mkdirSync(path.join(project, 'npm-cli'));
  // Marks this folder as CommonJS, because the parent folder's package.json has `"type": "module"`.
  writeFileSync(path.join(project, 'npm-cli', 'package.json'), '{"type":"commonjs"}');
  writeFileSync(path.join(project, 'npm-cli', 'npm.js'), npm);
  writeFileSync(path.join(project, 'calls.jsonl'), '');
  for (const name of ['start', 'test']) writeFileSync(path.join(project, 'scripts', `${name}.ts`), 'process.exit(0)');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

interface Call {
  args: string[];
  env: string[];
}

/** Runs a project command. Returns all npm calls so far and the kinds of packages they installed. */
function run(...script: string[]): { kinds: string[]; calls: Call[] } {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/bootstrap.js', ...script], {
    cwd: project,
    encoding: 'utf8',
    env: {
      ...process.env,
      npm_execpath: path.join(project, 'npm-cli', 'npm.js'),
      ANNEX_BOOTSTRAP_TOKEN: 't'.repeat(32),
      ANNEX_SECRET_KEY: 'k'.repeat(32),
      DATABASE_URL: 'postgres://user:secret@db/annex',
    },
  });
  expect(status, stderr).toBe(0);
  const lines = readFileSync(path.join(project, 'calls.jsonl'), 'utf8').split('\n').filter(Boolean);
  const calls = lines.map((line) => JSON.parse(line) as Call);
  return { calls, kinds: calls.map(({ args }) => (args.includes('--omit=dev') ? 'production' : 'development')) };
}

test('`npm start` installs no development packages, and install scripts see no Annex variables', () => {
  const { kinds, calls } = run('scripts/start.ts');
  expect(kinds).toEqual(['production']);
  // Without these flags, npm would add optional peers of the portal's packages and rewrite the lock file.
  expect(calls[0]?.args).toEqual(expect.arrayContaining(['--omit=dev', '--legacy-peer-deps', '--no-save']));
  expect(calls[0]?.env.filter((name) => /^ANNEX_|^DATABASE_URL$/.test(name))).toEqual([]);
  expect(run('scripts/start.ts').kinds).toEqual(['production']);
});

longTest('other commands install the other packages once, and `npm start` keeps them', () => {
  run('scripts/start.ts');
  const all = ['production', 'development'];
  expect(run('scripts/test.ts').kinds).toEqual(all);
  for (const script of [['scripts/start.ts'], ['scripts/test.ts'], []]) expect(run(...script).kinds).toEqual(all);
  writeFileSync(path.join(project, 'package-lock.json'), '{ "changed": true }');
  expect(run('scripts/start.ts').kinds).toEqual([...all, 'development']);
});

test('`npm test` in a bare clone installs everything, and `npm start` nothing more', () => {
  expect(run('scripts/test.ts').kinds).toEqual(['development']);
  expect(run('scripts/start.ts').kinds).toEqual(['development']);
});
