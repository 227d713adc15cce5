import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { statesOf, type TestMachine, testMachine } from './testing/machine.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const root = () => join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0');
const heartbeats = () => machine.portal.reports.flatMap((report) => report.heartbeats);
const statuses = () => machine.portal.reports.flatMap((report) => report.statuses);
const statusText = (word: string) =>
  JSON.stringify([{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: word } }]);
const heartbeatText = (word: string) => JSON.stringify([{ version: 1.0, heartbeat: { status: word } }]);
const writeStatus = (text: string, sequence = 1) => writeFileSync(join(root(), 'status', `${sequence}.status`), text);
const writeHeartbeat = (text: string) => writeFileSync(join(root(), 'heartbeat', 'heartbeat.json'), text);
const untilEnabled = (sequence = 1) =>
  machine.portal.until(`enabled ${sequence}`, () =>
    machine.portal.reports.some(({ handlers }) =>
      handlers.some((one) => one.state === 'enabled' && one.sequenceNumber === sequence),
    ),
  );

async function startWithEcho(options: { reportHeartbeat?: boolean; script?: string } = {}, periods = {}) {
  await machine.addHandler({ ...echo, ...options });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  const agent = await machine.start(periods);
  await untilEnabled();
  return agent;
}

test('AZ-H2 a heartbeat is read periodically, with the age of its file, and when its text changes', async () => {
  await startWithEcho({ reportHeartbeat: true }, { heartbeatSeconds: 0.3 });
  writeHeartbeat(heartbeatText('ready'));
  const old = new Date(Date.now() - 90_000);
  utimesSync(join(root(), 'heartbeat', 'heartbeat.json'), old, old);
  const aged = await machine.portal.until('an aged heartbeat', () => heartbeats().find((one) => one.ageSeconds > 80));
  expect(aged).toMatchObject({ extension: 'echo', file: [{ version: 1, heartbeat: { status: 'ready' } }] });
  expect(aged.ageSeconds).toBeLessThan(100);
  expect(machine.portal.reports.at(-1)).toMatchObject({ periods: { heartbeatSeconds: 0.3, statusSeconds: 300 } });
  const count = heartbeats().length;
  await machine.portal.until('the next reading, though nothing changed', () => heartbeats().length > count);
});

test('AZ-H2 a heartbeat that changes is reported before its period is over', async () => {
  await startWithEcho({ reportHeartbeat: true }, { heartbeatSeconds: 600 });
  writeHeartbeat(heartbeatText('ready'));
  await machine.portal.until('ready', () => heartbeats().length === 1);
  writeHeartbeat(heartbeatText('notready'));
  await machine.portal.until('notready', () => JSON.stringify(heartbeats().at(-1)?.file).includes('notready'));
});

test('a constantly changing heartbeat is reported a few times a second, with its last text', async () => {
  const script = `[ "$1" = enable ] || exit 0
cd heartbeat; i=0; while [ $i -lt 300 ]; do
  i=$((i + 1)); echo '[{"version":1.0,"heartbeat":{"status":"ready","code":'$i'}}]' > next; mv next heartbeat.json
done`;
  await startWithEcho({ reportHeartbeat: true, script });
  await machine.portal.until('the last', () => JSON.stringify(heartbeats().at(-1)?.file).includes('"code":300'));
  expect(heartbeats().length).toBeLessThan(50);
});

test('AZ-H3 setting the clock forward does not age a heartbeat', async () => {
  const agent = await startWithEcho({ reportHeartbeat: true });
  writeHeartbeat(heartbeatText('ready'));
  await machine.portal.until('ready', () => heartbeats().length === 1);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3600_000 });
  try {
    await agent.reportEverything(5);
  } finally {
    vi.useRealTimers();
  }
  expect(heartbeats()).toHaveLength(2);
  expect(heartbeats().at(-1)?.ageSeconds).toBeLessThan(60);
});

test('AZ-H2 without reportHeartbeat the file is never read', async () => {
  await startWithEcho({ reportHeartbeat: false }, { heartbeatSeconds: 0.1, statusSeconds: 0.1 });
  writeHeartbeat(heartbeatText('ready'));
  writeStatus(statusText('transitioning'));
  // The interval for heartbeats is the same, so by then the heartbeat file would have been read several times.
  await machine.portal.until('ten readings', () => statuses().length >= 10);
  expect(heartbeats()).toEqual([]);
});

const words = () => statuses().map(({ file }) => file[0]?.status.status);
const touchStatus = (seconds: number) => {
  const time = new Date(Date.now() - seconds * 1000);
  utimesSync(join(root(), 'status', '1.status'), time, time);
};

test('AZ-S5 changes to a terminal status are reported as often as heartbeats are read', async () => {
  await startWithEcho({ reportHeartbeat: true }, { heartbeatSeconds: 0.2 });
  writeHeartbeat(heartbeatText('ready'));
  writeStatus(statusText('success'));
  await machine.portal.until('success', () => words().includes('success'));
  writeStatus(statusText('error'));
  await machine.portal.until('the later error', () => words().at(-1) === 'error');
  writeStatus(statusText('success'));
  await machine.portal.until('the recovery', () => words().join() === 'success,error,success');
});

test('AZ-S5 after success or error a status file is read only if its modification time changed', async () => {
  await startWithEcho({ reportHeartbeat: true }, { heartbeatSeconds: 0.1, statusSeconds: 0.1 });
  writeHeartbeat(heartbeatText('ready'));
  writeStatus(statusText('success'));
  await machine.portal.until('success', () => statuses().length === 1);
  touchStatus(50);
  const count = heartbeats().length;
  await machine.portal.until('five looks', () => heartbeats().length > count + 5);
  // The file has a new modification time but the same text, so it is read again but not reported.
  expect(words()).toEqual(['success']);
  writeStatus(statusText('warning'));
  touchStatus(30);
  await machine.portal.until('the warning', () => words().at(-1) === 'warning');
  const later = heartbeats().length;
  await machine.portal.until('five looks more', () => heartbeats().length > later + 5);
  expect(words()).toEqual(['success', 'warning']);
  // Until the status is terminal, each write of the file shows that the handler is alive (AZ-S4).
  touchStatus(10);
  await machine.portal.until('its age', () => words().join() === 'success,warning,warning');
  expect(statuses().at(-1)?.ageSeconds).toBeLessThan(20);
});

test('AZ-S5 an error after success does not stop an extension that waited for the success', async () => {
  const go = join(machine.dir, 'go');
  await machine.addHandler({ ...echo, script: 'true' });
  const slow = { handler: 'Acme.Test.Slow', version: '1.0.0.0' };
  await machine.addHandler({ ...slow, script: `[ "$1" != install ] || until [ -f '${go}' ]; do sleep 0.02; done` });
  await machine.addHandler({ handler: 'Acme.Test.Last', version: '1.0.0.0' });
  machine.portal.setGoal([
    { ...echo, name: 'echo' },
    // Without this dependency, `slow` could run first, if its package arrives first.
    { ...slow, name: 'slow', dependsOn: ['echo'] },
    { ...slow, handler: 'Acme.Test.Last', name: 'last', dependsOn: ['echo', 'slow'] },
  ]);
  await machine.start({ heartbeatSeconds: 0.1 });
  await untilEnabled();
  writeStatus(statusText('success'));
  await machine.portal.until('success', () => words().at(-1) === 'success');
  writeStatus(statusText('error'));
  await machine.portal.until('the later error', () => words().at(-1) === 'error');
  writeFileSync(go, '');
  await machine.portal.until('the last', () => statesOf(machine.portal, 'last').some((s) => s.endsWith('enabled')));
});

test('AZ-S5 statusAfterConclusion=stop ignores a terminal status until the next configuration', async () => {
  const agent = await startWithEcho({}, { statusSeconds: 0.2, statusAfterConclusion: 'stop' });
  writeStatus(statusText('transitioning'));
  await machine.portal.until('several readings', () => statuses().length >= 3);
  writeStatus(statusText('success'));
  await machine.portal.until('success', () => statuses().at(-1)?.file[0]?.status.status === 'success');
  const count = statuses().length;
  writeStatus(statusText('error'));
  await agent.reportEverything(5);
  expect(statuses()).toHaveLength(count);
  machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 2 }]);
  await untilEnabled(2);
  writeStatus(statusText('warning'), 2);
  const next = await machine.portal.until('the next', () => statuses().find((one) => one.sequenceNumber === 2));
  expect(next).toMatchObject({ extension: 'echo', file: [{ status: { status: 'warning' } }] });
});

test('AZ-S5 the status of an earlier enable does not count while enable runs again', async () => {
  const go = join(machine.dir, 'go');
  // The second enable runs until the test releases it.
  const script = `[ "$1" = enable ] || exit 0
if [ ! -f status/1.status ]; then word=success; else word=transitioning; until [ -f '${go}' ]; do sleep 0.02; done; fi
echo '[{"version":1.0,"timestampUTC":"2026-01-01T00:00:00Z","status":{"status":"'$word'"}}]' > status/1.status`;
  await startWithEcho({ script });
  await machine.portal.until('success', () => statuses().length === 1);
  await machine.stop();
  const before = statuses().length;
  const agent = await machine.start({ statusSeconds: 0.05 });
  await machine.until('the second enable', () => machine.calls().length === 3);
  await agent.reportEverything(5);
  expect(statuses()).toHaveLength(before);
  writeFileSync(go, '');
  await machine.portal.until('transitioning', () => statuses().length > before + 1);
  expect(
    statuses()
      .slice(before)
      .every(({ file }) => file[0]?.status.status === 'transitioning'),
  ).toBe(true);
});

test('AZ-G9 a partial file is never reported, and is read again', async () => {
  const agent = await startWithEcho();
  const whole = statusText('warning');
  writeStatus(whole.slice(0, 40));
  const reading = agent.reportEverything(5);
  writeStatus(whole);
  await reading;
  await machine.portal.until('the whole', () => statuses().length > 0);
  expect(statuses().every(({ file }) => JSON.stringify(file) === whole)).toBe(true);
});

longTest('AZ-G9 a file that stays partial is reported once as a problem, without its contents', async () => {
  const agent = await startWithEcho();
  writeStatus('[{ "version": 1.0, "status": ');
  await agent.reportEverything(5);
  await agent.reportEverything(5);
  expect(statuses()).toEqual([]);
  expect(machine.lines.filter((line) => line.includes('is incomplete'))).toHaveLength(1);
  const problems = machine.portal.reports.flatMap((report) => report.problems ?? []);
  expect(problems).toMatchObject([{ about: 'echo', file: 'status' }]);
});

test('AZ-S1 a status in the spelling of the source document is sent as written', async () => {
  await startWithEcho();
  const text = '[{"version":1.0,"timestampUTC":"2013/11/13, 17:46:30.447","status":{"status":"Error","Message":"x"}}]';
  writeStatus(text);
  await machine.portal.until('it', () => statuses().length === 1);
  expect(statuses()[0]?.file).toEqual(JSON.parse(text));
});

test('reports are kept during an outage, and each is sent once, in order', async () => {
  const agent = await startWithEcho({ reportHeartbeat: true }, { heartbeatSeconds: 600 });
  const before = machine.portal.reports.length;
  machine.portal.refuseReports = { status: 503, times: 4 };
  writeStatus(statusText('transitioning'));
  await machine.portal.until('a refusal', () => machine.portal.refuseReports.times < 4);
  for (const word of ['notready', 'ready']) {
    writeHeartbeat(heartbeatText(word));
    await agent.reportEverything(0);
  }
  writeStatus(statusText('success'));
  await machine.portal.until('success', () => statuses().at(-1)?.file[0]?.status.status === 'success');
  await agent.reporter.drain(5);
  const numbers = machine.portal.reports.map(({ reportNumber }) => reportNumber);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(new Set(machine.portal.reports.map(({ run }) => run)).size).toBe(1);
  const later = machine.portal.reports.slice(before).flatMap((report) => report.statuses);
  expect(later[0]?.file[0]?.status.status).toBe('transitioning');
  expect(later.every(({ readSecondsAgo }) => readSecondsAgo >= 0)).toBe(true);
});

test('the agent continues from disk during an outage, and reports after it', async () => {
  await startWithEcho();
  await machine.stop();
  const before = machine.portal.reports.length;
  machine.portal.away = true;
  const agent = await machine.start();
  await agent.lane.whenIdle();
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'Echo-1.0.0.0 enable', 'Echo-1.0.0.0 enable']);
  machine.portal.away = false;
  await machine.portal.until('enabled again', () =>
    machine.portal.reports.slice(before).some(({ handlers }) => handlers.some(({ state }) => state === 'enabled')),
  );
  expect(machine.lines.some((line) => line.includes('The portal does not respond'))).toBe(true);
});

test('a goal state that cannot be read is reported, and the last valid one remains current', async () => {
  const agent = await startWithEcho();
  machine.portal.setGoalText('{ "protocol": 1, "extensions": [{ "name": "../x" }] }');
  const problem = await machine.portal.until('the problem', () =>
    machine.portal.reports.flatMap((report) => report.problems ?? []).at(0),
  );
  expect(problem).toMatchObject({ about: 'goal-state', message: expect.stringContaining('last valid one remains') });
  machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 2 }]);
  await untilEnabled(2);
  await agent.lane.whenIdle();
  expect(statesOf(machine.portal, 'echo').some((state) => state.endsWith('failed'))).toBe(false);
});

test('AZ-G6 an agent that starts with an unreadable goal state applies the last valid one', async () => {
  await startWithEcho();
  machine.portal.setGoalText('{ "protocol": 2 }');
  await machine.stop();
  await machine.start();
  await machine.until('enable again', () => machine.calls().length === 3);
  const asked = () => machine.portal.calls.filter((call) => call.endsWith('/goal-state')).length;
  const before = asked();
  await machine.portal.until('the problem', () =>
    machine.portal.reports.some(({ problems }) => problems !== undefined),
  );
  // The goal state is not requested repeatedly.
  expect(asked() - before).toBeLessThan(3);
});

test.each([
  ['a name that leaves the folder', { ...echo, name: '../../x' }],
  ['a handler that leaves the folder', { handler: '../x.y', version: '1', name: 'echo' }],
  ['a version that leaves the folder', { handler: 'a.b', version: '1/../..', name: 'echo' }],
])('a goal state with %s is rejected', async (_, extension) => {
  machine.portal.setGoal([extension]);
  await machine.start();
  await machine.portal.until('the problem', () =>
    machine.portal.reports.some((report) => report.problems?.length === 1),
  );
  expect(machine.calls()).toEqual([]);
});

test('the call counter increases across restarts', async () => {
  await startWithEcho();
  await machine.stop();
  await machine.start();
  await machine.portal.until('more calls', () => machine.portal.counters.length > 6);
  expect(machine.portal.counters).toEqual([...machine.portal.counters].sort((a, b) => a - b));
  expect(new Set(machine.portal.counters).size).toBe(machine.portal.counters.length);
});

test('output beyond 64 KiB is cut at the front, with a note', async () => {
  await startWithEcho({
    script: '[ "$1" != enable ] || { head -c 300000 /dev/zero | tr "\\\\0" "a"; printf "\\\\377\\\\001end"; }',
  });
  const enabled = machine.portal.reports.flatMap(({ handlers }) => handlers).find(({ state }) => state === 'enabled');
  expect(enabled?.output).toMatch(
    /^\[Cut: only the end of 300005 bytes\. The whole output is in .*\.log on the machine\.\]\na/,
  );
  expect(enabled?.output?.endsWith('\uFFFD\uFFFDend')).toBe(true);
  expect(Buffer.byteLength(enabled?.output ?? '')).toBeLessThanOrEqual(64 * 1024);
});

longTest('pipes in place of files that the agent reads are reported, and block nothing', async () => {
  const script = '[ "$1" != enable ] || mkfifo status/1.status heartbeat/heartbeat.json config/99.settings || true';
  const agent = await startWithEcho({ reportHeartbeat: true, script });
  await agent.lane.whenIdle();
  const problems = () => machine.portal.reports.flatMap(({ problems = [] }) => problems);
  await machine.portal.until('both problems', () => problems().length === 2);
  for (const { message } of problems()) expect(message).toContain('is not a plain file');
  machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 2 }]);
  await untilEnabled(2);
});
