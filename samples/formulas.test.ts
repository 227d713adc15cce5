import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resourceFile } from '#protocol/index.ts';
import { readPackage } from '#server/domain/packages/inspect/read-package.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { formulaLanguages, formulaPackage, sampleFormulas, sampleResource } from './build.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annex-formulas-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const rootOf = (formula: string, version = '1.0.0.0') => join(import.meta.dirname, formula, version);
const messagesOf = (formula: string, lang: 'en' | 'de') => resourceFile.parse(sampleResource(formula, lang)).messages;

describe.each(sampleFormulas)('$formula $version', ({ formula, version }) => {
  test('is accepted without a warning, with the same bytes each time', async () => {
    const zip = await formulaPackage(formula, version);
    expect(zip.equals(await formulaPackage(formula, version))).toBe(true);
    const path = join(folder, 'formula.zip');
    await writeFile(path, zip);
    const name = formula.split('.').at(-1) ?? '';
    const found = await readPackage(path, defaultLimits, { kind: 'formula', name });
    expect(found).toMatchObject({ ok: true, kind: 'formula', manifest: { name }, warnings: [] });
    const hooks = readdirSync(join(rootOf(formula, version), 'hooks')).sort();
    expect(found.ok && found.kind === 'formula' && found.manifest.hooks).toEqual(hooks);
  });

  test('has the messages that its hooks send, in every language', () => {
    const files = ['hooks', 'lib'].flatMap((part) =>
      readdirSync(join(rootOf(formula, version), part), { withFileTypes: true }),
    );
    const text = files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('');
    const sent = new Set([...text.matchAll(/--id (\w+)/g)].map(([, id]) => id));
    for (const lang of formulaLanguages) {
      expect(new Set(messagesOf(formula, lang).map(({ id }) => id))).toEqual(sent);
    }
  });
});

/** Stand-ins for the commands of hooks. Each prints its answer, if it has one, and writes its arguments down. */
function giveCommands(answers: Readonly<Record<string, string>>): void {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of [
    'config-get',
    'relation-get',
    'relation-set',
    'relation-list',
    'unit-get',
    'open-port',
    'close-port',
    'ensemble-log',
    'python3',
  ]) {
    const cases = Object.entries(answers)
      .filter(([call]) => call.startsWith(name))
      .map(([call, answer]) => `  '${call.slice(name.length + 1)}') echo '${answer}' ;;\n`);
    const missing = name.endsWith('-get') ? '  *) echo null; exit 1 ;;\n' : '';
    const text = `#!/bin/sh\necho "${name} $*" >> '${folder}/calls'\ncase "$*" in\n${cases.join('')}${missing}esac\n`;
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
}

function run(formula: string, hook: string, environment: Readonly<Record<string, string>> = {}): void {
  execFileSync(join(rootOf(formula), 'hooks', hook), [], {
    cwd: rootOf(formula),
    env: {
      ...process.env,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      ENSEMBLE_CONTAINER_PATH: folder,
      ENSEMBLE_LOCAL_UNIT: 'blog/0',
      ...environment,
    },
  });
}
const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');

describe('the hooks of the blog', () => {
  const settings = {
    ...{ 'config-get title': 'Notes', 'config-get port': '8081', 'config-get comments': 'true' },
    'config-get megabytes': '16',
    'unit-get private-address': '10.0.0.5',
  };
  const page = () => readFileSync(join(folder, 'blog', 'www', 'index.html'), 'utf8');
  const store = {
    ...{ 'relation-get host': '10.0.0.4', 'relation-get password': 'secret', 'relation-get megabytes': '64' },
  };
  const remote = { ENSEMBLE_REMOTE_UNIT: 'store/0' };

  test('write a page with the store, open the port and serve the page', async () => {
    giveCommands({ ...settings, ...store });
    for (const hook of ['install', 'config-changed', 'start']) run('Acme.Lab.blog', hook);
    expect(page()).toContain('Notes');
    expect(calls()).toContain('open-port 8081/tcp');
    const www = join(folder, 'blog', 'www');
    await expect.poll(calls).toContain(`python3 -m http.server --bind 10.0.0.5 --directory ${www} 8081`);
    run('Acme.Lab.blog', 'db-relation-changed', remote);
    expect(page()).toContain('Store: 10.0.0.4');
    run('Acme.Lab.blog', 'db-relation-broken');
    expect(page()).toContain('Store: none');
  });

  test('reject a reserved port, and move to another one', () => {
    giveCommands({ ...settings, 'config-get port': '80' });
    for (const hook of ['install', 'config-changed']) run('Acme.Lab.blog', hook);
    expect(() => run('Acme.Lab.blog', 'start')).toThrow();
    expect(calls().at(-1)).toMatch(/^ensemble-log --level ERROR --id port_reserved --param 80 /);
    rmSync(join(folder, 'bin'), { recursive: true });
    giveCommands(settings);
    run('Acme.Lab.blog', 'start');
    rmSync(join(folder, 'bin'), { recursive: true });
    giveCommands({ ...settings, 'config-get port': '8082' });
    run('Acme.Lab.blog', 'config-changed');
    expect(calls().filter((call) => /-port /.test(call))).toEqual([
      ...['open-port 8081/tcp', 'close-port 8081/tcp', 'open-port 8082/tcp'],
    ]);
  });

  test('wait for a store that has sent nothing yet, without failing', () => {
    giveCommands(settings);
    for (const hook of ['install', 'config-changed']) run('Acme.Lab.blog', hook);
    run('Acme.Lab.blog', 'db-relation-changed', remote);
    expect(calls().at(-1)).toContain('--id store_not_ready --param store/0');
    expect(page()).toContain('Store: none');
  });

  test('reject a store that is too small', () => {
    giveCommands({ ...settings, ...store, 'config-get megabytes': '65' });
    for (const hook of ['install', 'config-changed']) run('Acme.Lab.blog', hook);
    expect(() => run('Acme.Lab.blog', 'db-relation-changed', remote)).toThrow();
    expect(calls().at(-1)).toContain('--id store_too_small --param store/0 --param 64 --param 65 store/0 has 64 MB,');
    expect(page()).toContain('Store: none');
  });

  test('tell a proxy where the website is', () => {
    giveCommands({ ...settings, 'unit-get private-address': '10.0.0.5' });
    run('Acme.Lab.blog', 'website-relation-joined');
    expect(calls()).toContain('relation-set host=10.0.0.5 port=8081');
  });
});

test('the store sends each blog the same password', () => {
  giveCommands({ 'config-get port': '5432', 'config-get megabytes': '64', 'unit-get private-address': '10.0.0.4' });
  run('Acme.Lab.store', 'install');
  for (const unit of ['blog/0', 'blog/1']) run('Acme.Lab.store', 'db-relation-joined', { ENSEMBLE_REMOTE_UNIT: unit });
  const sent = calls().filter((call) => call.startsWith('relation-set'));
  expect(sent).toHaveLength(2);
  expect(new Set(sent).size).toBe(1);
  expect(sent[0]).toMatch(/^relation-set host=10\.0\.0\.4 port=5432 password=[0-9a-f]{32} megabytes=64$/);
});
