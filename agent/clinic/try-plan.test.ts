import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runsLong } from '#server/testing/runs-long.ts';
import { type TryPlanOptions, tryPlanCommand } from '../commands/try-plan.ts';
import type { CheckResult } from './evaluate-checks.ts';
import { judgePlan } from './judge-plan.ts';
import { livePlan, type PlanTrial } from './plan-life.ts';
import { killTrialProcesses } from './trial-processes.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-try-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

/** A plan that passes every check. */
const good = {
  FormatVersion: '2.0.0',
  Service: 'web',
  Body: "api.setState('n', 1)\nr = s('a').stdout\napi.putFile('f', 'copy')\nreturn [r, args.n]",
  Parameters: { n: 1 },
  Scripts: { s: { Type: 'Bash', EntryPoint: 'f', Options: { timeout: 20, stdin: '{0}' } } },
  Files: { f: { Name: 's.sh', BodyType: 'Text', Body: 'cat' } },
};
const scriptOf = (Body: string) => ({ Files: { f: { Name: 's.sh', BodyType: 'Text', Body } } });

let count = 0;
async function tried(plan: object, more: Partial<PlanTrial> = {}) {
  count += 1;
  const work = join(folder, String(count));
  mkdirSync(work);
  const usual = { isTwice: false, timeoutSeconds: 30, environment: { PATH: process.env.PATH } };
  const trial = { work, plan: { ...plan }, secrets: { password: 'correct horse battery' }, say: () => {}, ...usual };
  const seen = await livePlan({ ...trial, ...more });
  killTrialProcesses('ANNEX_WORK', work);
  return { seen, checks: judgePlan(seen) };
}

const faultsIn = (checks: CheckResult[]) =>
  checks.filter(({ verdict }) => verdict === 'fault').map(({ check }) => check);

test('a plan without faults passes every check, and its second run begins with the state of the first', async () => {
  const Body =
    "api.setState('runs', (api.getState('runs') or 0) + 1)\napi.logInfo(api.getState('runs'))\nreturn s(args.n).stdout";
  const { seen, checks } = await tried({ ...good, Body }, { isTwice: true });
  expect(checks.map(({ check, verdict }) => [check, verdict])).toEqual(
    ['valid', 'code', 'timeouts', 'twice', 'resume', 'secrets', 'processes', 'files'].map((check) => [check, 'passed']),
  );
  const logs = seen.runs.map(({ rows }) => rows.find(([, kind]) => kind === 'log')?.[2]);
  expect(logs).toMatchObject([{ Body: '1' }, { Body: '2' }]);
});

type Faulty = [fault: string, what: string, plan: object];

const slow: Faulty[] = [
  ['resume', 'makes other calls each time', { ...good, Body: "import os\napi.setState('k', os.urandom(4).hex())" }],
  ['processes', 'leaves a process', { ...good, ...scriptOf('setsid sleep 300 > /dev/null 2>&1 & disown') }],
];

test.each<Faulty>([
  ['valid', 'has unknown options', { ...good, Scripts: { s: { ...good.Scripts.s, Options: { retry: 1 } } } }],
  ['code', 'fails', { ...good, ...scriptOf('exit 3') }],
  ['timeouts', 'has a script without a timeout', { ...good, Scripts: { s: { ...good.Scripts.s, Options: {} } } }],
  ['twice', 'gives another result', { ...good, Body: 'import os\nreturn os.urandom(8).hex()' }],
  ['secrets', 'prints a secret', { ...good, Body: 'print(args.password)' }],
  ['secrets', 'returns a secret', { ...good, Body: 'return args.password' }],
  ['secrets', 'stores a secret', { ...good, Body: "api.setState('p', args.password)" }],
  ['files', 'leaves a file of the Body', { ...good, Body: "import os\nopen(os.environ['HOME'] + '/x', 'w')\ns(1)" }],
  ...(runsLong ? slow : []),
])('%s: a plan that %s', async (fault, _, plan) => {
  const { checks } = await tried(plan, { isTwice: ['twice', 'resume'].includes(fault) });
  expect(faultsIn(checks)).toEqual([fault]);
});

test('a file that a script leaves is not a fault, and a restart is not carried out', async () => {
  const { seen, checks } = await tried({ ...good, ...scriptOf('echo x > "$HOME/x"; reboot now') });
  expect(faultsIn(checks)).toEqual([]);
  expect(seen.reboots).toEqual(['reboot now']);
});

test('restarts that the Body requests are simulated', async () => {
  const { seen, checks } = await tried({ ...good, Body: 'api.waitReboot()\napi.reboot()\nreturn 1' });
  expect(faultsIn(checks)).toEqual([]);
  expect(seen).toMatchObject({ reboots: ['api.waitReboot()', 'api.reboot()'], runs: [{ body: '1' }] });
});

test('the command applies its options, prints a report, and leaves nothing', async () => {
  const at = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const within = join(folder, 'within');
  mkdirSync(within);
  const printed: string[] = [];
  const run = (plan: object, options: Partial<TryPlanOptions>) =>
    tryPlanCommand(
      at('plan.json', JSON.stringify(plan).replace('"n":1', '"n":1.50')),
      { timeoutSeconds: 30, within, ...options },
      { PATH: process.env.PATH },
      (line) => printed.push(line),
      () => {},
      new AbortController().signal,
    );
  const plan = { ...good, Service: undefined, Files: { f: { Name: 's.sh', BodyType: 'ID', Body: 'x' } } };
  const options = {
    parameters: '{"more":"m"}',
    secret: [`password=${at('password', 'correct horse battery\n')}`],
    file: [`f=${at('script', 'echo "file $(cat)"')}`],
    service: 'web',
  };
  const body = "api.setState('n', args.n)\nreturn [s(args.more).stdout, len(args.password), args.n]";
  expect(await run({ ...plan, Body: body }, options)).toBe(true);
  expect(printed[0]).toMatch(/^plan\.json: 6\/6\n/);
  expect(printed[0]).toContain('result: ["file m",21,1.5]');
  expect(printed[0]).toMatch(/out 2 {2}file m/);
  expect(await run({ ...plan, Body: 'return x' }, { ...options, json: true })).toBe(false);
  expect(JSON.parse(printed[1] ?? '')).toMatchObject({ score: { passed: 5, of: 6 }, runs: [{ code: 1 }] });
  await expect(run(plan, { secret: ['nothing'] })).rejects.toThrow('--secret is name=FILE');
  await expect(run(plan, { secret: [`n=${at('password', 'x')}`] })).rejects.toThrow('both a parameter');
  expect(readdirSync(within)).toEqual([]);
});
