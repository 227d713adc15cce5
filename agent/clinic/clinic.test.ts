import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { resourceFile } from '#protocol/index.ts';
import { sampleLanguages, samplePackage, sampleResource, samples } from '#samples/build.ts';
import { longTest } from '#server/testing/long.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { clinicCases, patient, writeStatus } from '../testing/clinic-cases.ts';
import { zipOf } from '../testing/fake-handler.ts';
import { reportText, scoreOf } from './report.ts';
import type { Trial } from './trial.ts';
import { type Result, tryPackage } from './try-package.ts';

// A trial runs about twenty commands, each in its own process.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-clinic-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

let count = 0;
/** Runs a trial of a package, with short timeouts for status files. */
async function tried(zip: Buffer, more: Partial<Trial> = {}): Promise<Result> {
  count += 1;
  const path = join(folder, `${count}.zip`);
  writeFileSync(path, zip);
  return await tryPackage({
    work: join(folder, String(count)),
    zip: path,
    handler: 'Acme.Test.Patient',
    version: '1.0.0.0',
    settings: { publicSettings: {}, protectedSettings: { password: 'correct horse battery' } },
    resources: [resourceFile.parse([{ version: 1.0, lang: 'en', messages: [{ id: 'known', text: 'Well, {0}' }] }])],
    patience: { statusSeconds: 5, settleSeconds: 5, heartbeatSeconds: 0 },
    commandSeconds: 60,
    environment: { PATH: process.env.PATH },
    say: () => {},
    ...more,
  });
}

const faultsOf = ({ checks }: Result) => checks.filter(({ verdict }) => verdict === 'fault').map(({ check }) => check);

// These are only two of the clinic cases. `npm run try:all` runs all of them, and tries the demo's handlers.
test.each(runsLong ? ['exits 17', 'tells its secret'] : ['exits 17'])('%s: its single fault is named', async (name) => {
  const one = clinicCases.find((each) => each.name === name)!;
  expect(faultsOf(await tried(await one.zip(), one.trial))).toEqual([one.fault]);
});

test('a handler without faults passes every check, and its commands run in order', async () => {
  const result = await tried(
    await patient({ status: writeStatus('success', ',"message":{"id":"known","params":["Ann"]}') }),
  );
  const { passed, of } = scoreOf(result.checks);
  expect([faultsOf(result), passed]).toEqual([[], of]);
  expect(result.seen.commands.map(({ stage, command }) => `${stage}: ${command}`)).toEqual([
    'install: install',
    'install: enable',
    'enable again: enable',
    'new settings: enable',
    'previous version: disable',
    'previous version: uninstall',
    'previous version: install',
    'previous version: enable',
    'update: disable',
    'update: update',
    'update: uninstall',
    'update: enable',
    'disable: disable',
    'uninstall: disable',
    'uninstall: uninstall',
    'install again: install',
    'install again: enable',
    'end: disable',
    'end: uninstall',
  ]);
  expect(reportText('Acme.Test.Patient 1.0.0.0', result)).toMatch(/^Acme\.Test\.Patient 1\.0\.0\.0: (\d+)\/\1\n/);
});

test.each([
  ['a manifest in a folder', { 'inside/HandlerManifest.json': '[]' }, 'It is in inside/: zip the contents'],
  [
    'a manifest without commands',
    { 'HandlerManifest.json': '[{ "version": 1.0, "handlerManifest": {} }]' },
    '/installCommand is missing',
  ],
])('a package with %s is not run, and the reason is given', async (_, files, sentence) => {
  const result = await tried(await zipOf(files as Record<string, string>));
  expect(faultsOf(result)).toEqual(['package']);
  expect(result.checks[0]?.found.join(' ')).toContain(sentence);
  expect(result.seen.commands).toEqual([]);
  expect(scoreOf(result.checks).passed).toBe(0);
});

longTest('a sample with protected settings passes every check', async () => {
  const sample = samples.find(({ handler }) => handler === 'Northwind.Storage.Mount')!;
  const { checks } = await tried(await samplePackage(sample.handler, sample.version), {
    ...sample,
    resources: sampleLanguages.map((lang) => resourceFile.parse(sampleResource(sample.handler, lang))),
    patience: { statusSeconds: 10, settleSeconds: 10, heartbeatSeconds: 0 },
  });
  const { passed, of } = scoreOf(checks);
  expect([checks.filter(({ verdict }) => verdict === 'fault'), passed]).toEqual([[], of]);
});
