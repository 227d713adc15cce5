import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resourceFile } from '#protocol/index.ts';
import { sampleLanguages, samplePackage, sampleResource, samples } from '#samples/build.ts';
import { provideTestPrograms } from '#server/testing/programs.ts';
import { scoreOf } from '../clinic/report.ts';
import { type Result, tryPackage } from '../clinic/try-package.ts';
import { clinicCases } from './clinic-cases.ts';

// Tries the demo's handlers, which must pass all checks, and handlers with one fault each, which the checks must find:
// `npm run try:all [-- PART OF A NAME]`. Takes a few minutes; `npm test` tries some of them.
await provideTestPrograms();
const only = process.argv.slice(2).join(' ');
const folder = await mkdtemp(path.join(tmpdir(), 'annex-try-all-'));
const usual = {
  handler: 'Acme.Test.ExaminedMachine',
  version: '1.0.0.0',
  settings: { publicSettings: {}, protectedSettings: { password: 'correct horse battery' } },
  resources: [resourceFile.parse([{ version: 1.0, lang: 'en', messages: [{ id: 'known', text: 'Well, {0}' }] }])],
  patience: { statusSeconds: 120, settleSeconds: 300, heartbeatSeconds: 60 },
  commandSeconds: 300,
};
const wellBehaved = samples.map(({ handler, version, settings }) => {
  // Without these settings, the Orbit sample always warns and the Helix sample takes a minute.
  const calm = { Orbit: { warnAtPercent: 100 }, Helix: { rules: 2, secondsPerRule: 1 } }[handler.split('.')[0] ?? ''];
  const publicSettings = { ...settings.publicSettings, ...calm };
  const resources = sampleLanguages.map((lang) => resourceFile.parse(sampleResource(handler, lang)));
  const trial = { ...usual, handler, version, resources, settings: { ...settings, publicSettings } };
  return { name: `${handler} ${version}`, fault: '', zip: () => samplePackage(handler, version), trial };
});
const faulty = clinicCases.map((one) => ({ ...one, trial: { ...usual, ...one.trial } }));

let wrong = 0;
try {
  for (const [index, one] of [...wellBehaved, ...faulty].entries()) {
    if (!one.name.includes(only)) continue;
    const zip = path.join(folder, `${index}.zip`);
    await writeFile(zip, await one.zip());
    const work = path.join(folder, String(index));
    const result = await tryPackage({
      ...one.trial,
      work,
      zip,
      environment: {},
      say: () => {},
    });
    const found = faultsOf(result);
    const { passed, of } = scoreOf(result.checks);
    const isRight = found === one.fault && (found !== '' || passed === of);
    if (!isRight) wrong += 1;
    console.log(`${isRight ? 'ok   ' : 'WRONG'}  ${one.name.padEnd(34)} ${`${passed}/${of}`.padStart(5)}  ${found}`);
    if (!isRight)
      console.log(
        JSON.stringify(
          result.checks.filter(({ verdict }) => verdict !== 'passed'),
          null,
          2,
        ),
      );
  }
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
console.log(wrong === 0 ? 'Every one as it should be.' : `${wrong} are not as they should be.`);
process.exit(wrong === 0 ? 0 : 1);

function faultsOf({ checks }: Result): string {
  return checks.flatMap(({ check, verdict }) => (verdict === 'fault' ? [check] : [])).join(', ');
}
