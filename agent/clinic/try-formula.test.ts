import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { formulaLanguages, formulaPackage, sampleResource } from '#samples/build.ts';
import { longTest } from '#server/testing/long.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { type TryFormulaOptions, tryFormulaCommand } from '../commands/try-formula.ts';
import { zipOf } from '../testing/fake-handler.ts';
import type { CheckResult } from './evaluate-checks.ts';
import type { HookSeen } from './formula-life.ts';

// A trial runs a hook in its own process about ten times.
vi.setConfig({ testTimeout: 120_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-try-formula-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

interface Tried {
  isGood: boolean;
  checks: CheckResult[];
  hooks: (Omit<HookSeen, 'end'> & HookSeen['end'])[];
}

async function run(zip: Buffer, options: Partial<TryFormulaOptions> = {}): Promise<{ isGood: boolean; text: string }> {
  const path = join(folder, 'formula.zip');
  writeFileSync(path, zip);
  let text = '';
  const print = (line: string) => {
    text += `${line}\n`;
  };
  const environment = { PATH: process.env.PATH };
  const given = { hookSeconds: 20, within: folder, ...options };
  const isGood = await tryFormulaCommand(path, given, environment, print, () => {}, new AbortController().signal);
  return { isGood, text };
}

async function tried(zip: Buffer, options: Partial<TryFormulaOptions> = {}): Promise<Tried> {
  const { isGood, text } = await run(zip, { ...options, json: true });
  return { isGood, ...(JSON.parse(text) as Omit<Tried, 'isGood'>) };
}

const faultsIn = ({ checks }: Tried) => checks.filter(({ verdict }) => verdict === 'fault').map(({ check }) => check);
const script = (text: string) => `#!/bin/sh\n${text}\n`;

/** A formula that passes every check, with some of its files replaced. */
const formula = (files: Record<string, string> = {}) =>
  zipOf({
    'metadata.yaml': 'name: shop\nrequires: { db: { interface: store } }\npeers: { ring: { interface: ring } }\n',
    'config.yaml': 'options: { title: { type: string, default: Shop } }\n',
    'hooks/install': script('mkdir -p "$ENSEMBLE_CONTAINER_PATH/shop"'),
    'hooks/config-changed': script('config-get title'),
    'hooks/start': script('open-port 8080/tcp'),
    'hooks/db-relation-changed': script(
      'host=$(relation-get host) || exit 0\nrelation-set "seen=$host" && ensemble-log --id connected "$host"',
    ),
    'hooks/stop': script('exit 0'),
    ...files,
  });

describe('a formula without faults', () => {
  test('passes every check, and the report says what each hook did', async () => {
    const resources = join(folder, 'en.json');
    writeFileSync(resources, '[{ "version": 1.0, "lang": "en", "messages": [{ "id": "connected", "text": "Yes" }] }]');
    const options = { remote: ['db={"host":"10.0.0.4"}'], settings: '{"title":"Books"}', resources: [resources] };
    const { isGood, checks, hooks } = await tried(await formula(), options);
    expect(checks.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
    expect(isGood).toBe(true);
    expect(hooks.map(({ stage, hook, remoteUnit }) => [stage, hook, remoteUnit])).toEqual([
      ['start', 'install', null],
      ['start', 'config-changed', null],
      ['start', 'start', null],
      ['join', 'db-relation-changed', 'db-other/0'],
      ['join', 'db-relation-changed', 'db-other/1'],
      ['settings', 'config-changed', null],
      ['settings', 'db-relation-changed', 'db-other/0'],
      ['settings', 'db-relation-changed', 'db-other/1'],
      ['reboot', 'config-changed', null],
      ['reboot', 'start', null],
      ['leave', 'stop', null],
    ]);
    expect(hooks[1]?.output).toMatch(/INFO Books\n$/);
    expect(hooks[6]?.changes).toEqual([{ relation: 1, set: { seen: '"10.0.0.4"' }, remove: [] }]);
    // The second unit sets the same, so nothing changes.
    expect(hooks[7]?.changes).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('annex-try-'))).toEqual([]);
  });

  longTest('has a report for people', async () => {
    const { text } = await run(await formula(), { remote: ['db={"host":"10.0.0.4"}'] });
    expect(text).toMatch(/^formula\.zip: (\d)\/\1\n/);
    expect(text).toMatch(/start +start +[\d.]+ s {2}exit 0\n +→ opens 8080\/tcp\n/);
    expect(text).toMatch(/settings +db-relation-changed db-other\/0 .*\n.*\n +→ sets seen\n/);
    expect(text).toContain('No such hooks: db-relation-joined, ring-relation-joined, ring-relation-changed');
  });
});

describe('faults are named', () => {
  longTest('of hooks that fail, hang, need too much, print secrets and leave programs running', async () => {
    const files = {
      'hooks/install': script('sleep 60'),
      'hooks/config-changed': script('setsid sleep 60 > /dev/null 2>&1 &'),
      'hooks/start': script('exit 3'),
      'hooks/db-relation-changed': script('relation-get || true; host=$(relation-get host) || exit 4'),
      'hooks/stop': script('rm /does/not/exist'),
      'hooks/db-relation-chnaged': script('exit 0'),
    };
    const remote = ['db={"host":"10.0.0.4","password":"correct horse battery"}'];
    const found = await tried(await formula(files), { remote, hookSeconds: 3 });
    expect(faultsIn(found)).toEqual([
      'package',
      'hooks',
      'empty',
      'again',
      'leave',
      'timeouts',
      'secrets',
      'processes',
    ]);
    expect(found.isGood).toBe(false);
    expect(found.checks.find(({ check }) => check === 'timeouts')?.found).toEqual([
      'install (start): stopped, timed out.',
    ]);
  });

  test('of a message without a text, and of a start that works once', async () => {
    const resources = join(folder, 'de.json');
    writeFileSync(resources, '[{ "version": 1.0, "lang": "de", "messages": [{ "id": "other", "text": "Ja" }] }]');
    const files = { 'hooks/start': script('mkdir "$ENSEMBLE_CONTAINER_PATH/once"') };
    const found = await tried(await formula(files), { remote: ['db={"host":"10.0.0.4"}'], resources: [resources] });
    expect(faultsIn(found)).toEqual(['again', 'messages']);
    expect(found.checks.find(({ check }) => check === 'messages')?.found).toEqual(['connected has no text in de.']);
  });

  test('of a package that is not a formula, of which nothing runs', async () => {
    const found = await tried(await formula({ 'metadata.yaml': 'summary: x\n' }));
    expect(faultsIn(found)).toEqual(['package']);
    expect(found.hooks).toEqual([]);
  });
});

const related = 'db={"host":"10.0.0.4","password":"correct horse battery","megabytes":64}';
const samples: [name: string, version: string, remote: string[]][] = [['Acme.Lab.store', '1.0.0.0', []]];
if (runsLong) samples.push(['Acme.Lab.blog', '1.1.0.0', [related]]);

test.each(samples)('the sample %s %s passes every check', async (name, version, remote) => {
  const resources = formulaLanguages.map((lang) => {
    const path = join(folder, `${name}-${lang}.json`);
    writeFileSync(path, JSON.stringify(sampleResource(name, lang)));
    return path;
  });
  const found = await tried(await formulaPackage(name, version), { remote, resources });
  expect(found.checks.filter(({ verdict }) => verdict === 'fault')).toEqual([]);
  expect(found.isGood).toBe(true);
});

test.each([
  [{ remote: ['db'] }, '--remote is RELATION=JSON'],
  [{ settings: '[]' }, '--settings'],
])('options that are wrong are explained: %j', async (options, sentence) => {
  await expect(run(Buffer.from('x'), options)).rejects.toThrow(sentence);
});
