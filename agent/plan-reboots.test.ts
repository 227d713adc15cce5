import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { signal } from '#server/platform/processes.ts';
import { agentProgram } from '#server/testing/agent-program.ts';
import { longDescribe, longTest } from '#server/testing/long.ts';
import { CommandProcesses } from './handler/command-processes.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';
import { planEnvelope, resultIn, rowsIn, type TestPlan } from './testing/plan-envelope.ts';
import type { AgentOptions } from './work/agent.ts';

let machine: TestMachine;
let log: string;
/** File that the agent reads instead of the machine's boot id. */
let bootIdFile: string;
let boots: number;
beforeEach(async () => {
  machine = await testMachine();
  log = join(machine.dir, 'script.log');
  bootIdFile = join(machine.dir, '..', 'boot-id');
  boots = 0;
  nextBoot();
});
afterEach(async () => {
  await machine.stop();
  endProcesses();
  await machine.close();
});

const nextBoot = () => {
  boots += 1;
  writeFileSync(bootIdFile, `boot-${boots}\n`);
};
const executions = () => join(machine.dir, 'executions');
const folders = () => (existsSync(executions()) ? readdirSync(executions()).filter((name) => name !== 'answers') : []);
const idsIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
function endProcesses(): void {
  const ids = folders().flatMap((name) => idsIn(join(executions(), name, 'running')));
  for (const id of ids) new CommandProcesses(null, id).signal('SIGKILL');
}
const logged = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
const untilLogged = (line: string, times = 1) =>
  machine.until(line, () => logged().filter((each) => each === line).length === times);
const transcript = () => rowsIn(machine.portal.executions.transcripts.get('execution-1'));
const queue = (plan: TestPlan) => machine.portal.queue(planEnvelope(1, plan));
const start = (options: Partial<AgentOptions> = {}) => machine.start({ executionPlans: 'on', bootIdFile, ...options });

/** Restarts the machine: all processes end, and the boot id changes. */
async function reboot(options: Partial<AgentOptions> = {}): Promise<void> {
  await machine.stop();
  endProcesses();
  nextBoot();
  await start(options);
}

async function result() {
  const { results } = machine.portal.executions;
  await machine.portal.until('the result', () => results.length > 0);
  expect(results).toHaveLength(1);
  return resultIn(results[0]?.text ?? '');
}

const echo = { name: 'echo', handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const once = (name: string) => `echo ${name} >> ${log}`;
const hangs = (name: string) => `echo ${name} >> ${log}; sleep 300`;
const isRestarting = () => machine.portal.executions.progress.at(-1)?.startsWith('execution-1 restarting') === true;

describe('waitReboot', () => {
  test('MU-15 MU-51 ends when the machine has restarted, and handlers are enabled before the Body continues', async () => {
    await machine.addHandler({ ...echo, script: `echo $1 >> ${log}` });
    machine.portal.setGoal([echo], 0);
    queue({
      body: 'first()\napi.waitReboot()\nsecond()\nreturn 1',
      scripts: { first: once('first'), second: once('second') },
    });
    await start();
    await machine.portal.until('restarting', isRestarting);
    expect(logged()).toEqual(['install', 'enable', 'first']);

    // While the boot id is unchanged, the execution keeps waiting.
    await machine.stop();
    await start();
    await machine.portal.until('restarting again', () =>
      machine.portal.executions.progress.includes('execution-1 restarting 2'),
    );
    expect(machine.portal.executions.results).toEqual([]);

    // A goal state that arrives during the restart is applied after the execution.
    await machine.stop();
    machine.portal.setGoal([{ ...echo, sequenceNumber: 2 }], 2);
    nextBoot();
    const before = logged().length;
    await start();
    expect(await result()).toMatchObject({ ErrorCode: 0, Body: 1 });
    await machine.until('the newer goal state', () => logged().length === before + 3);
    expect(logged().slice(before)).toEqual(['enable', 'second', 'enable']);
    expect(logged().filter((line) => line === 'first')).toHaveLength(1);
    const begins = transcript()
      .filter(([kind]) => kind === 'begin')
      .map(([, begin]) => begin);
    expect(begins).toEqual(['first', 'agent', 'reboot'].map((why, index) => ({ run: index + 1, why })));
  });

  longTest('MU-15 fails with code 10 after its timeout', async () => {
    queue({ body: 'api.waitReboot(timeout=1)' });
    await start();
    expect(await result()).toMatchObject({
      ErrorCode: 10,
      Body: { Type: 'RebootTimeout', AdditionalInfo: { seconds: 1 } },
    });
  });
});

longDescribe('a script that restarts the machine', () => {
  test('with the option `reboots`, has ended with exit code 0; without this option, runs again', async () => {
    const declared = { text: `echo said; ${hangs('declared')}`, Options: { reboots: true } };
    const body = 'r = declared()\nreturn [r, r.stdout, silent()]';
    const silent = `echo silent >> ${log}; [ -e ${log}.go ] || { touch ${log}.go; sleep 300; }`;
    queue({ body, scripts: { declared, silent } });
    await start();
    await untilLogged('declared');
    await machine.portal.until('its output', () => transcript().some(([kind]) => kind === 'out'));
    await reboot();
    await untilLogged('silent');
    await reboot();
    expect(await result()).toMatchObject({ ErrorCode: 0, Body: [0, 'said', 0] });
    expect(logged()).toEqual(['declared', 'silent', 'silent']);
    expect(transcript()).toContainEqual([
      'note',
      'The machine restarted during this call, which counts as its success.',
    ]);
  });
});

longDescribe('endless loops', () => {
  test('MU-15 MU-52 with expectReboots(2), the third restart ends the plan with code 1', async () => {
    queue({ body: 'api.expectReboots(2)\napi.setExitCode(7)\nhang()', scripts: { hang: hangs('hang') } });
    await start();
    for (let times = 1; times <= 3; times += 1) {
      await untilLogged('hang', times);
      await reboot();
    }
    expect(await result()).toMatchObject({ ErrorCode: 1, Body: { Type: 'RebootLoop' } });
    expect(logged()).toHaveLength(3);
  }, 60_000);

  test('MU-52 without expectReboots, the fourth restart that no call waited for ends the plan with code 1', async () => {
    queue({ body: 'api.waitReboot()\nhang()', scripts: { hang: hangs('hang') } });
    await start();
    await machine.portal.until('restarting', isRestarting);
    await reboot();
    for (let times = 1; times <= 4; times += 1) {
      await untilLogged('hang', times);
      await reboot();
    }
    expect(await result()).toMatchObject({ ErrorCode: 1, Body: { Type: 'RebootLoop' } });
    expect(logged()).toHaveLength(4);
  }, 60_000);
});

describe('api.reboot', () => {
  test('MU-53 without a restart command fails with code 1', async () => {
    queue({ body: 'api.reboot()' });
    await start();
    expect(await result()).toMatchObject({ ErrorCode: 1, Body: { Type: 'RebootUnavailable' } });
  });

  longTest('MU-53 with a command that does nothing, the result comes after 600 s with a note', async () => {
    const rebootCommand = `echo restart >> ${log}`;
    queue({ body: 'api.reboot()\nfirst()\nreturn 1', scripts: { first: once('first') } });
    await start({ rebootCommand });
    await untilLogged('restart');
    await machine.portal.until('restarting', isRestarting);
    await machine.stop();
    // Moves the request 598 seconds into the past.
    const file = join(executions(), folders()[0] ?? '', 'progress.json');
    const progress = JSON.parse(readFileSync(file, 'utf8')) as { restart: { since: { uptime: number } } };
    progress.restart.since.uptime -= 598;
    writeFileSync(file, JSON.stringify(progress));
    expect(machine.portal.executions.results).toEqual([]);
    await start({ rebootCommand });
    expect(await result()).toMatchObject({ ErrorCode: 0, Body: 1 });
    expect(transcript().slice(-3)).toEqual([
      ['reboot'],
      ['done', 0],
      ['note', 'The machine was not restarted within 600 s.'],
    ]);
    expect(logged()).toEqual(['first', 'restart']);
  });

  test('a restart command that fails does not delay the result', async () => {
    queue({ body: 'api.reboot()\nreturn 1' });
    await start({ rebootCommand: 'exit 3' });
    expect((await result()).ErrorCode).toBe(0);
    expect(transcript().at(-1)).toEqual(['note', 'The machine was not restarted: the restart command exited with 3.']);
  });
});

describe('a machine that really restarts', () => {
  test('MU-15 MU-51 a script restarts it, then the plan does; the result comes after the second restart', async () => {
    const standIn = join(import.meta.dirname, 'testing', 'reboot-stand-in.sh');
    const pids = join(machine.dir, '..', 'pids');
    const agentScript = join(machine.dir, '..', 'agent.sh');
    const main = agentProgram();
    const restart = `sh '${standIn}' '${machine.dir}' '${bootIdFile}' '${pids}' sh '${agentScript}'`;
    const options = `--dir '${machine.dir}' --boot-id-file '${bootIdFile}' --waagent-folder none --execution-plans on`;
    const rebootCommand = `echo restart >> ${log}; ${restart}`;
    writeFileSync(
      agentScript,
      `exec '${process.execPath}' '${main}' run ${options} --reboot-command "${rebootCommand}"\n`,
    );
    await machine.addHandler({ ...echo, script: `echo $1 >> ${log}` });
    machine.portal.setGoal([echo], 0);
    const body = 'api.expectReboots(2)\nfirst()\nrestarts()\nsecond()\napi.reboot()\nreturn "restarted"';
    const restarts = {
      text: `echo restarts >> ${log}; setsid env -u ANNEX_COMMAND ${restart} & sleep 300`,
      Options: { reboots: true },
    };
    queue({ body, scripts: { first: once('first'), restarts, second: once('second') } });
    const first: ChildProcess = spawn('sh', [agentScript], { stdio: 'ignore' });
    try {
      await untilLogged('enable');
      await untilLogged('restarts');
      await machine.portal.until('the second run', () =>
        machine.portal.executions.progress.includes('execution-1 running 2'),
      );
      await untilLogged('restart');
      expect(await result()).toMatchObject({ ErrorCode: 0, Body: 'restarted' });
      const calls = ['install', 'enable', 'first', 'restarts', 'enable', 'second', 'restart'];
      expect(logged().slice(0, calls.length)).toEqual(calls);
      expect(logged().filter((line) => ['first', 'second', 'restart'].includes(line))).toHaveLength(3);
      expect(transcript().slice(-2)).toEqual([['reboot'], ['done', 0]]);
    } finally {
      first.kill('SIGKILL');
      const later = existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n') : [];
      for (const pid of later) signal(Number(pid), 'SIGKILL');
    }
  }, 120_000);
});
