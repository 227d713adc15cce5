import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signal } from '#server/platform/processes.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';
import { faultyPackage, type Misbehaviour, misbehaviours } from './testing/misbehaving.ts';
import { sealedFor } from './testing/seal.ts';
import type { Agent } from './work/agent.ts';

/*
 * All misbehaving handlers run on one machine, one after the other: each fails in its own way, and none keeps another
 * from reaching its goal. Then all are uninstalled.
 */
const names = Object.keys(misbehaviours) as Misbehaviour[];
const extensionOf = (what: Misbehaviour) => misbehaviours[what].type;
const version = '1.0.0.0';
let machine: TestMachine;
let agent: Agent;
let children: number[] = [];

beforeAll(async () => {
  machine = await testMachine();
  const extensions = await Promise.all(
    names.map(async (what) => {
      const { handler, zip } = await faultyPackage(what, version);
      machine.portal.addPackage(handler, version, zip);
      const sealed = what === 'tells its secret' ? sealedFor(machine.dir, { password: 'swordfish' }) : {};
      return { name: extensionOf(what), handler, version, settings: { publicSettings: {}, ...sealed } };
    }),
  );
  const timeouts = { enable: 1.5 } as never;
  const goal = extensions.map((one) => (one.name === 'Hangs' ? { ...one, timeouts } : one));
  machine.portal.setGoal(goal);
  agent = await machine.start({ heartbeatSeconds: 0.5, statusSeconds: 0.5 });
  await agent.lane.whenIdle();
  await machine.portal.until('an older heartbeat', () => heartbeatAges().some((age) => age > 0.3));
  await agent.reportEverything(10);
  children = readFileSync(join(logFolder('leaves children'), 'children'), 'utf8')
    .trim()
    .split('\n')
    .map(Number);
  machine.portal.setGoal(goal.map((one) => ({ ...one, state: 'uninstall' as const, sequenceNumber: 2 })));
  await machine.portal.until('all removed', () => names.every((what) => last(what)?.state === 'removed'));
  await agent.reportEverything(10);
  await machine.portal.until(
    'whole outputs',
    () => whole('writes 10 MB').length === 10_000_000 && whole('writes bytes that are not text').length > 0,
  );
});
afterAll(async () => {
  for (const child of children) signal(child, 'SIGTERM');
  await machine.close();
});

const logFolder = (what: Misbehaviour) =>
  join(machine.dir, 'logs', `Acme.Faulty.${misbehaviours[what].type}-${version}`);
const reportsOf = (what: Misbehaviour) =>
  machine.portal.reports.flatMap(({ handlers }) => handlers.filter((one) => one.extension === extensionOf(what)));
const last = (what: Misbehaviour) => reportsOf(what).at(-1);
/** Returns the report that says how enable ended. */
const enabled = (what: Misbehaviour) =>
  reportsOf(what).find(({ command, state }) => command === 'enable' && state !== 'enabling');
const statuses = (what: Misbehaviour) =>
  machine.portal.reports.flatMap((report) => report.statuses.filter((one) => one.extension === extensionOf(what)));
const heartbeatAges = () =>
  machine.portal.reports
    .flatMap(({ heartbeats }) => heartbeats.filter(({ extension }) => extension === 'OwnClock'))
    .map(({ ageSeconds }) => ageSeconds);
const calls = (what: Misbehaviour) =>
  readFileSync(join(logFolder(what), 'calls.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').slice(1).join(' '));
const whole = (what: Misbehaviour) => machine.portal.logs.get(`${extensionOf(what)} 1 enable 1`) ?? Buffer.alloc(0);

const usual = ['install 1', 'enable 1', 'disable 2', 'uninstall 2'].flatMap((call) => [`${call} begin`, `${call} end`]);
const brokenOff = usual.filter((line) => line !== 'enable 1 end');

describe('a handler’s calls are in order, whatever it does', () => {
  test.each(names.filter((what) => what !== 'deletes its folder'))('%s', (what) => {
    expect(calls(what)).toEqual(what === 'hangs' ? brokenOff : usual);
  });

  test('the commands of all handlers run one at a time (AZ-G2)', () => {
    const lines = names.flatMap((what) =>
      readFileSync(join(logFolder(what), 'calls.log'), 'utf8')
        .trim()
        .split('\n'),
    );
    const open: string[] = [];
    for (const line of lines.sort()) {
      const [, command, sequence, what] = line.split(' ');
      // A command that was killed does not log its end.
      if (what === 'end') open.pop();
      else if (open.length > 0 && open[0] !== 'enable 1') throw new Error(`${line} while ${open[0]} ran`);
      else open.splice(0, open.length, `${command} ${sequence}`);
    }
  });
});

describe('what is reported about each handler', () => {
  test.each<[Misbehaviour, Record<string, unknown>]>([
    ['is well', { state: 'enabled', exitCode: 0 }],
    ['hangs', { state: 'failed', timedOut: true }],
    ['exits 17', { state: 'failed', exitCode: 17, output: 'no such volume\n' }],
    ['leaves children', { state: 'enabled', exitCode: 0 }],
    ['writes half a status', { state: 'enabled', exitCode: 0 }],
    ['writes 10 MB', { state: 'enabled', exitCode: 0 }],
    ['writes bytes that are not text', { state: 'enabled', exitCode: 0 }],
    ['spells its status oddly', { state: 'enabled', exitCode: 0 }],
    ['tells its secret', { state: 'enabled', exitCode: 0, output: '{"password":"[masked]"}' }],
    ['deletes its folder', { state: 'enabled', exitCode: 0 }],
    ['has a clock of its own', { state: 'enabled', exitCode: 0 }],
  ])('%s', (what, expected) => {
    expect(enabled(what)).toMatchObject({ command: 'enable', attempt: 1, sequenceNumber: 1, ...expected });
    expect(last(what)).toMatchObject({ state: 'removed', sequenceNumber: 2 });
  });

  test('an output of 10 MB arrives complete', () => {
    expect(whole('writes 10 MB')).toHaveLength(10_000_000);
    expect(enabled('writes 10 MB')?.output).toContain('only the end of 10000000 bytes');
  });

  test('bytes that are not text are kept on disk and reported as text', () => {
    expect(whole('writes bytes that are not text').subarray(0, 4)).toEqual(Buffer.from([0xff, 0xfe, 0, 1]));
    expect(enabled('writes bytes that are not text')?.output?.slice(0, 9)).toBe('\uFFFD\uFFFD\uFFFD\uFFFD\u001b[31m');
  });

  test('AZ-G9 a partial status is reported as a problem, never as the status of its command', () => {
    expect(statuses('writes half a status').filter(({ sequenceNumber }) => sequenceNumber === 1)).toEqual([]);
    const problems = machine.portal.reports.flatMap((report) => report.problems ?? []);
    const message = expect.stringContaining('is incomplete');
    expect(problems).toContainEqual(expect.objectContaining({ about: 'HalfStatus', message }));
  });

  test('AZ-S1 a status with odd spelling is sent as written, and is terminal', () => {
    const sent = statuses('spells its status oddly').filter(({ sequenceNumber }) => sequenceNumber === 1);
    expect(sent).toHaveLength(1);
    expect(JSON.stringify(sent[0]?.file)).toContain('"STATUS":"SuCCess"');
  });

  test('AZ-H3 a heartbeat from the future has an age that grows', () => {
    const ages = heartbeatAges();
    expect(ages[0]).toBeLessThan(5);
    expect(ages).toEqual([...ages].sort((a, b) => a - b));
  });

  test('child processes that stay do not delay their command, and continue to run', () => {
    for (const child of children) expect(existsSync(`/proc/${child}`)).toBe(true);
  });

  test('a secret is in no output, neither on disk nor in transit', () => {
    expect(whole('tells its secret').toString()).toBe('{"password":"[masked]"}');
  });

  test('AZ-G5 a handler that deleted its folder is uninstalled without it', () => {
    expect(calls('deletes its folder').filter((call) => call.endsWith('begin'))).toEqual([
      'install 1 begin',
      'enable 1 begin',
    ]);
  });
});
