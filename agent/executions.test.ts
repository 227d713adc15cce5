import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DomainError } from '#server/domain/error.ts';
import { agentProgram } from '#server/testing/agent-program.ts';
import { longTest } from '#server/testing/long.ts';
import { openCaller } from './portal/call.ts';
import { type ExecutionPortal, openExecutionPortal, type PortalMachine } from './testing/execution-portal.ts';
import { planMachine } from './testing/plan-run.ts';
import { writeStandIns } from './testing/stand-ins.ts';

let portal: ExecutionPortal;
let machine: PortalMachine;
let folder: string;
let processes: ChildProcess[] = [];
beforeAll(async () => {
  portal = await openExecutionPortal();
  machine = await portal.machine();
  await machine.start();
  folder = mkdtempSync(join(tmpdir(), 'annex-executions-test-'));
});
afterEach(async () => {
  for (const child of processes) if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  processes = [];
});
afterAll(async () => {
  await portal.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts an agent in a separate process. */
function startProcess(dir: string): ChildProcess {
  const environment = { ...process.env, ANNEX_AGENT_WAAGENT_FOLDER: 'none' };
  const child = spawn(process.execPath, [agentProgram(), 'run', '--dir', dir], {
    stdio: 'ignore',
    env: environment,
  });
  processes.push(child);
  return child;
}

const hello = {
  FormatVersion: '2.0.0',
  Action: 'Execute',
  Name: 'Hello',
  Version: '1.0.0',
  Service: 'web',
  Body: "api.logInfo('renewing')\nreturn hello(args.who).stdout",
  Parameters: { who: 'w' },
  Scripts: { hello: { Type: 'Application', Version: '1.0.0', EntryPoint: 'f1', Files: [], Options: {} } },
  Files: { f1: { Name: 'hello.sh', BodyType: 'Text', Body: '#!/bin/sh\necho hello $1\n' } },
};

/** Returns a plan that runs one Application script with these commands. */
const planOf = (text: string, more: object = {}) => ({
  FormatVersion: '2.0.0',
  Body: 'return s().stdout',
  Scripts: { s: { Type: 'Application', EntryPoint: 'f' } },
  Files: { f: { Name: 's.sh', BodyType: 'Text', Body: `#!/bin/sh\n${text}\n` } },
  ...more,
});

/** Ends all other connections to the database of the test, as a restart of the database does. */
async function endConnections({ db }: PortalMachine['admin']): Promise<void> {
  const others = 'datname = current_database() and pid <> pg_backend_pid()';
  await db.execute(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`).catch(() => {});
}

/** Whether a process is running. A zombie has ended and does not count. */
function isRunning(pid: string | number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'));
}

const pidIn = async (file: string) => {
  await expect
    .poll(() => (existsSync(file) ? readFileSync(file, 'utf8').trim() : ''), { timeout: 15_000 })
    .not.toBe('');
  return readFileSync(file, 'utf8').trim().split('\n');
};

describe('an execution with a real portal', () => {
  test('MU-4 MU-9 sends the platforms, the transcript and one result', async () => {
    const { execution, result, log } = await machine.run(hello);
    expect(result).toMatchObject({ ErrorCode: 0, Body: 'hello w', Action: 'Execute:Result', SourceID: execution.id });
    expect(result.ID).toMatch(/^[0-9a-f]{32}$/);
    expect(result.Time).toBe(new Date(result.Time).toISOString());
    expect(execution).toMatchObject({ state: 'succeeded', calls: [{ n: 1, state: 'succeeded', exitCode: 0, row: 2 }] });
    expect(log.map(({ kind, n, text }) => [kind, n, text]).slice(0, -1)).toEqual([
      ['begin', null, 'first'],
      ['log', null, 'renewing'],
      ['call', 1, 'hello'],
      ['out', 1, 'hello w'],
      ['end', 1, expect.stringMatching(/^\{"exitCode":0,"ms":\d+\}$/)],
    ]);
    expect(log.at(-1)?.kind).toBe('done');
    const lacking = { ...hello, Scripts: { hello: { ...hello.Scripts.hello, Type: 'PowerShell' } } };
    await expect(machine.queue(lacking), 'the portal knows that there is no PowerShell').rejects.toThrow(DomainError);
  });

  longTest('MU-6 MU-46 a failure tells the line of the Body and the output of the script', async () => {
    const { execution, result } = await machine.run(planOf('echo o; echo e >&2; exit 3'));
    expect(execution.state).toBe('failed');
    expect(result).toMatchObject({
      ErrorCode: 1,
      Body: {
        Message: 's ended with exit code 3',
        AdditionalInfo: { script: 's', function: null, exitCode: 3, stdout: 'o', stderr: 'e' },
        Stack: ['<plan>:1 in Body: return s().stdout'],
      },
    });
  });

  test('a transcript is on the portal while the script still runs', async () => {
    const go = join(folder, 'go');
    const { id } = await machine.queue(planOf(`echo early; while [ ! -e ${go} ]; do sleep 0.05; done`));
    await expect
      .poll(async () => (await machine.log(id)).map(({ text }) => text), { timeout: 15_000 })
      .toContain('early');
    expect(await machine.get(id)).toMatchObject({ state: 'running', calls: [{ n: 1, state: 'running' }] });
    spawn('touch', [go]);
    expect(await machine.until(id, 'its end', ({ concludedAt }) => concludedAt !== null)).toMatchObject({
      state: 'succeeded',
    });
  });

  longTest('MU-33 a cancelled one ends with its group and strays, and the next plan runs', async () => {
    const file = join(folder, 'cancelled');
    const text = `trap '' TERM\nsetsid sleep 300 & echo $! >> ${file}\nsleep 300 & echo $! >> ${file}; echo $$ >> ${file}\nwait; wait`;
    const { id } = await machine.queue(planOf(text));
    await expect.poll(async () => (await pidIn(file)).length, { timeout: 15_000 }).toBe(3);
    await machine.cancel(id);
    const execution = await machine.until(id, 'its end', ({ concludedAt }) => concludedAt !== null);
    expect(execution.state).toBe('cancelled');
    for (const pid of await pidIn(file)) expect(isRunning(pid), pid).toBe(false);
    expect(await machine.result(id)).toMatchObject({ ErrorCode: 1, Body: { Cancelled: true } });
    expect((await machine.run(hello)).result.ErrorCode).toBe(0);
  });

  longTest('MU-8 the time of an execution ends it with code 10', async () => {
    const { execution, result } = await machine.run(planOf('sleep 300'), { timeoutSeconds: 4 });
    expect(execution.state).toBe('failed');
    expect(result).toMatchObject({ ErrorCode: 10, Body: { AdditionalInfo: { script: 's', seconds: 4 } } });
  });

  longTest('MU-30 an execution begins within a second on a machine that holds a poll and is idle', async () => {
    const delay = async () => {
      const { execution } = await machine.run(hello);
      return Date.parse(execution.begunAt ?? '') - Date.parse(execution.queuedAt);
    };
    // Other work on this computer can delay individual executions.
    await expect.poll(delay, { timeout: 60_000, interval: 1_000 }).toBeLessThan(1_000);
  });

  longTest('three in a row run one after the other, in their order', async () => {
    const file = join(folder, 'order');
    const one = (name: string) => planOf(`echo begin ${name} >> ${file}; sleep 0.2; echo end ${name} >> ${file}`);
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push((await machine.queue(one(name))).id);
    for (const id of ids) await machine.until(id, 'its end', ({ concludedAt }) => concludedAt !== null);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toEqual(
      ['a', 'b', 'c'].flatMap((name) => [`begin ${name}`, `end ${name}`]),
    );
  });
});

describe('a plan in format vCurrent', () => {
  const text = 'function New-Person {}\nfunction fail { throw 1 }';
  const planOfCommand = (Name: string) => ({
    Scripts: [Buffer.from(text).toString('base64')],
    Commands: [{ Name, Arguments: { name: 'Ada' } }],
  });

  longTest('MU-17 is converted, and its result is converted back', async () => {
    const windows = await portal.machine();
    await windows.start({ environment: { PATH: writeStandIns(join(folder, 'bin'), ['pwsh']) } });
    const good = await windows.run(planOfCommand('New-Person'));
    expect(good).toMatchObject({ execution: { state: 'succeeded', errorCode: 0 } });
    expect(good.result).toEqual({
      IsException: false,
      Result: { IsException: false, Result: [expect.objectContaining({ kwargs: { name: 'Ada' } })] },
    });
    const bad = await windows.run(planOfCommand('fail'));
    expect(bad).toMatchObject({
      execution: { state: 'failed', errorCode: 1 },
      result: { IsException: false, Result: { IsException: true, Result: { Type: 'ScriptError' } } },
    });
    await windows.stop();
  });

  test('MU-17 a machine without PowerShell answers with an outer exception', async () => {
    const { id } = await machine.queue(planOfCommand('New-Person')).catch(() => ({ id: null }));
    expect(id, 'the portal knows that this machine has no PowerShell').toBeNull();
    const fresh = await portal.machine();
    const queued = await fresh.queue(planOfCommand('New-Person'));
    await fresh.start();
    const execution = await fresh.until(queued.id, 'its end', ({ concludedAt }) => concludedAt !== null);
    expect(execution).toMatchObject({ state: 'failed', errorCode: null, message: { id: 'execution.plan-fault' } });
    expect(await fresh.result(queued.id)).toMatchObject({ IsException: true, Result: { Type: 'PlanInvalid' } });
    await fresh.stop();
  });
});

describe('the format of a plan', () => {
  test('MU-1 decides at the portal and at the agent whether the plan runs, is converted or is rejected', async () => {
    // The portal does not know the platforms of a machine whose agent never ran.
    const waiting = await portal.machine();
    const agent = await planMachine(undefined, writeStandIns(join(folder, 'bin'), ['pwsh']));
    const atPortal = (plan: object) =>
      waiting.queue(plan).then(
        () => 0,
        (error: unknown) => (error as DomainError).params.code,
      );
    const Body = 'return 1';
    const Commands = [{ Name: 'fn' }];
    const Scripts = [Buffer.from('function fn {}').toString('base64')];
    const cases: [plan: object, code: number, body: unknown][] = [];
    for (const FormatVersion of ['2.0.0', '2.0.0+x', '2.99.1']) cases.push([{ FormatVersion, Body }, 0, 1]);
    for (const FormatVersion of [undefined, '1.0.0', '2.0.0-rc.1']) {
      cases.push([{ FormatVersion, Commands, Scripts }, 0, [{ function: 'fn' }]]);
    }
    for (const FormatVersion of ['3.0.0', '3.0.0-alpha', '10.0.0']) cases.push([{ FormatVersion, Body }, 9, {}]);
    for (const FormatVersion of ['2', 'v2.0.0', '', 2]) cases.push([{ FormatVersion, Body }, 2, {}]);
    for (const [plan, code, body] of cases) {
      const what = JSON.stringify(plan);
      expect(await atPortal(plan), what).toBe(code);
      expect(await agent.run(plan), what).toMatchObject({ code, body });
    }
    agent.close();
  }, 60_000);
});

describe('an agent that is stopped or killed', () => {
  test('MU-11 an agent killed during a script: the script continues, and there is one result', async () => {
    const killed = await portal.machine();
    const file = join(folder, 'killed');
    const first = startProcess(killed.dir);
    const { id } = await killed.queue(
      planOf(`echo $$ >> ${file}\nuntil [ -e ${file}.go ]; do sleep 0.05; done; echo ended`),
    );
    const [pid = ''] = await pidIn(file);
    await killed.until(id, 'running', ({ state }) => state === 'running');
    first.kill('SIGKILL');
    await once(first, 'exit');
    expect(isRunning(pid)).toBe(true);
    startProcess(killed.dir);
    await killed.until(id, 'the second run', ({ run }) => run === 2);
    spawn('touch', [`${file}.go`]);
    const execution = await killed.until(id, 'its end', ({ concludedAt }) => concludedAt !== null);
    expect(execution).toMatchObject({ state: 'succeeded', run: 2, repeats: 0, calls: [{ n: 1, state: 'succeeded' }] });
    expect(await killed.result(id)).toMatchObject({ ErrorCode: 0, Body: 'ended' });
    expect(await pidIn(file)).toEqual([pid]);
    expect((await killed.log(id)).filter(({ kind }) => kind === 'begin').map(({ text }) => text)).toEqual([
      'first',
      'agent',
    ]);
  }, 60_000);

  longTest(
    'MU-11 killed before the result was sent: it goes first at the next start, and nothing runs twice',
    async () => {
      const held = await portal.machine();
      const file = join(folder, 'once');
      const call = openCaller({ environment: {} });
      let attempts = 0;
      await held.start({
        call: (request) => {
          if (!request.url.pathname.endsWith('/result')) return call(request);
          attempts += 1;
          return Promise.reject(new Error('the network is down'));
        },
      });
      const { id } = await held.queue(planOf(`echo ran >> ${file}`));
      const second = await held.queue(planOf(`echo second >> ${file}`));
      await expect.poll(() => attempts, { timeout: 15_000 }).toBeGreaterThan(0);
      await held.stop();
      expect(await held.get(id)).toMatchObject({ state: 'running' });
      expect(await held.get(second.id)).toMatchObject({ state: 'queued' });
      await held.start();
      await held.until(second.id, 'its end', ({ concludedAt }) => concludedAt !== null);
      expect(await held.get(id)).toMatchObject({ state: 'succeeded', run: 1 });
      expect(readFileSync(file, 'utf8')).toBe('ran\nsecond\n');
    },
  );

  longTest(
    'MU-11 a portal that loses connections and its database in the middle gets one result',
    async () => {
      const unlucky = await portal.machine();
      const call = openCaller({ environment: {} });
      const file = join(folder, 'unlucky');
      const cut = new Map<string, number>();
      await unlucky.start({
        call: async (request) => {
          const [, what = ''] = /\/executions\/(?:[^/]+\/)?(\w+)$/.exec(request.url.pathname) ?? [];
          const times = (cut.get(what) ?? 0) + 1;
          cut.set(what, times);
          if (what === '' || times > 2) return call(request);
          // During the first request, ends the portal's database connections. The responses to the first two are lost.
          const answer = call(request);
          if (times === 1) await endConnections(unlucky.admin);
          await answer.catch(() => {});
          throw new Error('the connection was lost');
        },
      });
      const { id } = await unlucky.queue(planOf(`echo ran >> ${file}`));
      const { run, repeats, state } = await unlucky.until(id, 'its end', ({ concludedAt }) => concludedAt !== null);
      expect([state, run]).toEqual(['succeeded', 1]);
      await expect.poll(() => cut.get('result'), { timeout: 30_000 }).toBe(3);
      expect(repeats).toBeLessThan(3);
      expect((await unlucky.log(id)).filter(({ kind }) => kind === 'begin')).toHaveLength(1);
      expect(readFileSync(file, 'utf8')).toBe('ran\n');
      expect((await unlucky.run(hello)).result.ErrorCode, 'the next plan runs').toBe(0);
    },
    60_000,
  );

  longTest(
    'MU-41 bodies that misbehave leave the agent as small as it was',
    async () => {
      const small = await portal.machine();
      const agent = startProcess(small.dir);
      expect((await small.run(hello)).result.ErrorCode).toBe(0);
      const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${agent.pid}/status`, 'utf8'))?.[1]) / 1024;
      const before = memory();
      const bodies = [
        'import sys\nfor i in range(100): sys.stdout.write("x" * 1048576)',
        'import os\nfor i in range(1100): os.write(4, b"x" * 1048576)',
        'x = bytearray(2 << 30)',
        'def f(): return f()\nf()',
        'import os\nos.kill(os.getpid(), 9)',
      ];
      const codes = [];
      for (const Body of bodies) codes.push((await small.run({ FormatVersion: '2.0.0', Body })).result.ErrorCode);
      expect(codes).toEqual([0, 1, 1, 1, 1]);
      expect((await small.run(hello)).result.ErrorCode).toBe(0);
      expect(memory() - before).toBeLessThan(50);
    },
    60_000,
  );

  test('MU-61 a machine with execution plans turned off says so, and runs none', async () => {
    const off = await portal.machine();
    const { id } = await off.queue(hello);
    await off.start({ executionPlans: 'off' });
    await expect
      .poll(async () => (await off.queue(hello).catch((error: unknown) => error)) instanceof DomainError, {
        timeout: 15_000,
      })
      .toBe(true);
    expect(await off.get(id)).toMatchObject({ state: 'queued' });
  });
});
