import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agentProgram } from '#server/testing/agent-program.ts';
import { longTest } from '#server/testing/long.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { endLeftovers } from './execution/run-process.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';
import { planEnvelope, resultIn, rowsIn, type TestPlan } from './testing/plan-envelope.ts';

let machine: TestMachine;
let log: string;
let go: string;
let processes: ChildProcess[] = [];
beforeEach(async () => {
  machine = await testMachine();
  log = join(machine.dir, 'script.log');
  go = join(machine.dir, 'go');
});
afterEach(async () => {
  for (const child of processes) if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  processes = [];
  await machine.stop();
  const executions = join(machine.dir, 'executions');
  const names = existsSync(executions) ? readdirSync(executions) : [];
  for (const name of names) await endLeftovers(join(executions, name, 'running'));
  await machine.close();
});

const on = { executionPlans: 'on' } as const;
const logged = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
const untilLogged = (line: string) => machine.until(line, () => logged().includes(line));
const transcript = () => rowsIn(machine.portal.executions.transcripts.get('execution-1'));
const queue = (plan: TestPlan) => machine.portal.queue(planEnvelope(1, plan));

/** Waits for the result, and checks that there is only one. */
async function result() {
  const { results } = machine.portal.executions;
  await machine.portal.until('the result', () => results.length > 0);
  expect(results).toHaveLength(1);
  return resultIn(results[0]?.text ?? '');
}

function startProcess(): ChildProcess {
  const child = spawn(process.execPath, [agentProgram(), 'run', '--dir', machine.dir], {
    stdio: 'ignore',
    env: { ...process.env, ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
  });
  processes.push(child);
  return child;
}

/** Whether a process is running. A zombie has ended and does not count. */
function isRunning(pid: string): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'));
}

/** Returns a script that logs its start, waits for the file `go`, and logs its end. */
const waiting = (name: string) => `echo begin ${name} >> ${log}
for i in $(seq 1200); do [ -e ${go} ] && break; sleep 0.05; done
echo end ${name} >> ${log}; echo from ${name}`;
const quick = (name: string) => `echo begin ${name} >> ${log}; echo from ${name}`;

describe('a script during which the agent ends', () => {
  test.each(runsLong ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGKILL'] as const))(
    'MU-11 MU-49 %s: is not run again, its output has no gap but a note, and its result counts',
    async (signal) => {
      const text = `echo begin >> ${log}
i=0; until [ -e ${go} ]; do i=$((i + 1)); echo line $i; [ $i -lt 3 ] || echo three >> ${log}; sleep 0.1; done
echo $i > ${log}.count; echo end >> ${log}; exit 4`;
      queue({ body: 'r = s()\nreturn [r, r.stdout]', scripts: { s: { text, Options: { verifyExitcode: false } } } });
      const first = startProcess();
      await untilLogged('three');
      first.kill(signal);
      await once(first, 'exit');
      const before = logged().length;
      await machine.until('the script goes on without an agent', () => logged().length > before + 2);
      startProcess();
      await machine.portal.until(
        'the second begin',
        () => transcript().filter(([kind]) => kind === 'begin').length === 2,
      );
      writeFileSync(go, '');
      const { ErrorCode, Body } = await result();
      const count = Number(readFileSync(`${log}.count`, 'utf8'));
      const lines = Array.from({ length: count }, (_, index) => `line ${index + 1}`);
      expect([ErrorCode, Body]).toEqual([0, [4, lines.join('\n')]]);
      expect(logged().filter((line) => line === 'begin')).toHaveLength(1);
      const rows = transcript();
      const note = rows.findIndex(([kind]) => kind === 'note');
      expect(rows[note]).toEqual(['note', expect.stringContaining('The agent was started again during this call')]);
      const out = (part: unknown[][]) => part.filter(([kind]) => kind === 'out').map(([, , line]) => String(line));
      const [early, late] = [out(rows.slice(0, note)), out(rows.slice(note))];
      expect(early).toEqual(lines.slice(0, early.length));
      expect(late).toEqual(lines.slice(count - late.length));
      if (signal === 'SIGTERM') expect(early.length + late.length).toBe(count);
      expect(rows.filter(([kind]) => kind === 'call')).toHaveLength(1);
      expect(rows.filter(([kind]) => kind === 'end')).toEqual([['end', 1, expect.objectContaining({ exitCode: 4 })]]);
    },
    60_000,
  );

  test('ends while the agent is not running: its result is used', async () => {
    queue({ body: 'return s().stdout', scripts: { s: waiting('s') } });
    await machine.start(on);
    await untilLogged('begin s');
    await machine.stop();
    writeFileSync(go, '');
    await untilLogged('end s');
    await machine.start(on);
    expect(await result()).toMatchObject({ ErrorCode: 0, Body: 'from s' });
    expect(logged()).toEqual(['begin s', 'end s']);
  });

  longTest('keeps its timeout', async () => {
    const text = `echo begin >> ${log}; echo $$ > ${log}.pid; sleep 300`;
    queue({ body: 's()', scripts: { s: { text, Options: { timeout: 3 } } } });
    await machine.start(on);
    await untilLogged('begin');
    await machine.stop();
    await machine.start(on);
    expect(await result()).toMatchObject({ ErrorCode: 10, Body: { AdditionalInfo: { script: 's' } } });
    expect(logged()).toEqual(['begin']);
    const pid = readFileSync(`${log}.pid`, 'utf8').trim();
    expect(isRunning(pid)).toBe(false);
  });

  test('MU-33 is ended by a later cancellation', async () => {
    queue({ body: 's()', scripts: { s: `echo begin >> ${log}; echo $$ > ${log}.pid; sleep 300` } });
    await machine.start(on);
    await untilLogged('begin');
    await machine.stop();
    machine.portal.executions.cancel = 1;
    await machine.start(on);
    expect(await result()).toMatchObject({ ErrorCode: 1, Body: { Cancelled: true } });
    const pid = readFileSync(`${log}.pid`, 'utf8').trim();
    expect(isRunning(pid)).toBe(false);
  });
});

describe('a Body that begins again', () => {
  test('gets the answers of its earlier calls, and its earlier output is not repeated', async () => {
    const body = `print('one')
a = first().stdout
api.logInfo('two')
api.setExitCode(9)
id = api.addFile({'Name': 'x', 'BodyType': 'Text', 'Body': 'added'})
open('left', 'w').write('by the Body')
try:
  fails()
except ScriptError as error:
  b = error.exitCode
print('three')
c = second().stdout
print('four')
api.putFile(id, 'x')
raise ValueError([a, b, c, id, open('x').read(), open('left').read()])`;
    queue({ body, scripts: { first: quick('first'), fails: `${quick('fails')}; exit 5`, second: waiting('second') } });
    await machine.start(on);
    await untilLogged('begin second');
    await machine.stop();
    await machine.start(on);
    writeFileSync(go, '');
    expect(await result()).toMatchObject({
      ErrorCode: 109,
      Body: { Message: "['from first', 5, 'from second', 'added-1', 'added', 'by the Body']" },
    });
    expect(logged()).toEqual(['begin first', 'begin fails', 'begin second', 'end second']);
    const rows = transcript();
    const own = rows.filter(([kind, n]) => kind === 'log' || (kind === 'out' && n === 0));
    expect(own.map(([kind, , text]) => [kind, text])).toEqual([
      ['out', 'one'],
      ['log', undefined],
      ['out', 'three'],
      ['out', 'four'],
    ]);
    const again = rows.slice(
      rows.findIndex(([kind, begin]) => kind === 'begin' && (begin as { run: number }).run === 2),
    );
    expect(again.slice(0, 6)).toEqual([
      ['begin', { run: 2, why: 'agent' }],
      ...[1, 2, 3, 4].map((n) => ['same', n]),
      ['note', expect.any(String)],
    ]);
    expect(machine.portal.executions.progress).toContain('execution-1 running 2');
  });

  longTest('prints what an earlier run had no time to print after its last call', async () => {
    const body = `first()
print('printed before')
import os, time
while not os.path.exists('${go}'): time.sleep(0.02)
print('printed after')
return 1`;
    queue({ body, scripts: { first: quick('first') } });
    await machine.start(on);
    await machine.portal.until('the print', () => transcript().some(([kind, n]) => kind === 'out' && n === 0));
    await machine.stop();
    await machine.start(on);
    writeFileSync(go, '');
    expect((await result()).ErrorCode).toBe(0);
    const printed = transcript().filter(([kind, n]) => kind === 'out' && n === 0);
    expect(printed.map(([, , text]) => text)).toEqual(['printed before', 'printed after']);
    expect(logged()).toEqual(['begin first']);
  });

  test('MU-50 with different calls than before ends with a result and a note', async () => {
    const body = 'import random\na(random.random())\nb(random.random())\nreturn c(random.random()).stdout';
    const b = `echo $$ >> ${log}.pids; ${waiting('b')}`;
    queue({ body, scripts: { a: quick('a'), b, c: quick('c') } });
    await machine.start(on);
    await untilLogged('begin b');
    const [old = ''] = readFileSync(`${log}.pids`, 'utf8').trim().split('\n');
    await machine.stop();
    await machine.start(on);
    await machine.until('the second b', () => logged().filter((line) => line === 'begin b').length === 2);
    expect(isRunning(old), 'the process of the dropped call').toBe(false);
    writeFileSync(go, '');
    expect(await result()).toMatchObject({ ErrorCode: 0, Body: 'from c' });
    const notes = transcript().filter(([kind]) => kind === 'note');
    expect(notes).toEqual([['note', 'The Body makes different calls than before. From here on, all calls run.']]);
    expect(logged()).toEqual(['begin a', 'begin b', 'begin a', 'begin b', 'end b', 'begin c']);
  });

  longTest('runs a function of a Python script again, because its process ends with the agent', async () => {
    const text = `import os, time
def f():
    open('${log}', 'a').write('begin f\\n')
    while not os.path.exists('${go}'): time.sleep(0.02)
    return {'n': 1}`;
    queue({ body: 'first()\nreturn s.f()', scripts: { first: quick('first'), s: { text, Type: 'Python' } } });
    await machine.start(on);
    await untilLogged('begin f');
    await machine.stop();
    writeFileSync(go, '');
    await machine.start(on);
    expect(await result()).toMatchObject({ ErrorCode: 0, Body: { n: 1 } });
    expect(logged()).toEqual(['begin first', 'begin f', 'begin f']);
  });
});
