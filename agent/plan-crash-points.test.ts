import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { endLeftovers } from './execution/run-process.ts';
import { crashPoint, visitCrashPoints } from './folder/crash-point.ts';
import type { TranscriptPiece } from './portal/execution-calls.ts';
import { noExecutions } from './portal/portal.ts';
import { isWhole, liveUntilKilled, memoryAgent, writeIdentity } from './testing/crash-life.ts';
import { MemoryPortal } from './testing/memory-portal.ts';
import { planEnvelope, resultIn } from './testing/plan-envelope.ts';
import type { Agent } from './work/agent.ts';

/*
 * Stops the agent at points between two persistent effects of an execution, as crash-points.test.ts does for handlers,
 * and starts it again. `npm run test:crashes` stops it at every point, `npm run test:all` at some of them.
 */
const fewest = 5;
const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'annex-plan-crash-'));
const log = join(base, 'scripts.log');

/** An execution that calls three scripts in processes, a function in a process that ends with the agent, and `api`. */
const envelope = planEnvelope(1, {
  body: `a = first('x').stdout
b = second(a).stdout
api.setState('k', [a, b])
c = third.f(b)
try:
  fourth()
except ScriptError as error:
  d = error.exitCode
return [a, b, c, d, api.getState('k')]`,
  scripts: {
    first: `echo first >> ${log}; sleep 0.05; echo a$1`,
    second: { text: `#!/bin/sh\necho second >> ${log}; echo b$1`, Type: 'Application' },
    third: { text: `def f(x):\n  open('${log}', 'a').write('third\\n')\n  return [x]`, Type: 'Python' },
    fourth: `echo fourth >> ${log}; exit 3`,
  },
  more: { Service: 'web' },
});
const expected = ['ax', 'bax', ['bax'], 3, ['ax', 'bax']];

/** A portal with one execution. */
class PlanPortal extends MemoryPortal {
  readonly results: string[] = [];
  transcript = Buffer.alloc(0);
  isAcknowledged = false;
  handedOut = 0;

  constructor() {
    super(1, [], []);
  }

  override async goalState() {
    const waiting = this.handedOut > 0 && this.isAcknowledged ? null : { stamp: 1, turn: 1 };
    return { ...(await super.goalState()), executions: { ...noExecutions, waiting } };
  }

  override async nextExecution() {
    crashPoint('next');
    // An agent that still had the acknowledged execution would send its result before it requests another execution.
    if (this.isAcknowledged && this.results.length === 0) throw new Error('the execution is lost');
    if (this.isAcknowledged) return null;
    this.handedOut += 1;
    const text = JSON.stringify(envelope);
    crashPoint('handed out');
    return text;
  }

  override async sendProgress() {
    crashPoint('progress');
    this.isAcknowledged = true;
    crashPoint('progress sent');
    return null;
  }

  override async sendTranscript(_id: string, { from, bytes }: TranscriptPiece) {
    this.transcript = Buffer.concat([this.transcript.subarray(0, from), bytes]);
    return { received: this.transcript.length, nextAfter: null };
  }

  override async sendResult(_id: string, text: string) {
    crashPoint('send the result');
    this.results.push(text);
    crashPoint('sent the result');
  }
}

beforeAll(() => {
  writeIdentity(join(base, 'before'));
});
afterAll(() => {
  visitCrashPoints(null);
  rmSync(base, { recursive: true, force: true });
});

let warnings: string[] = [];

/** Runs the agent until the execution is over, or until crash point number `killAt`. Returns the points it reached. */
function live(folder: string, portal: PlanPortal, killAt = Number.POSITIVE_INFINITY): Promise<string[]> {
  const work = async (agent: Agent) => {
    await agent.start();
    await agent.lane.whenIdle();
  };
  return liveUntilKilled(() => agentIn(folder, portal), work, { killAt, onKill: () => leaveProcesses(folder) });
}

const agentIn = (folder: string, portal: PlanPortal): Agent =>
  memoryAgent(folder, warnings, { executionPlans: 'on', portal, environment: { PATH: process.env.PATH } });

/** Makes the processes of calls behave as if the agent had ended, although the process of this test still runs. */
function leaveProcesses(folder: string): void {
  const executions = join(folder, 'executions');
  for (const name of existsSync(executions) ? readdirSync(executions) : []) {
    const running = join(executions, name, 'running');
    for (const id of existsSync(running) ? readdirSync(running) : []) writeFileSync(join(running, id, 'left'), '');
  }
}

const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);

function newRun(): { folder: string; portal: PlanPortal } {
  const folder = join(base, 'run');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(base, 'before'), folder, { recursive: true });
  rmSync(log, { force: true });
  warnings = [];
  return { folder, portal: new PlanPortal() };
}

function expectOneResult(portal: PlanPortal): void {
  const results = portal.results.map(resultIn);
  expect(new Set(results.map(({ ID }) => ID)).size).toBe(1);
  expect(results[0]).toMatchObject({ ErrorCode: 0, Body: expected });
}

longTest(
  'MU-11 MU-48 an execution of five calls whose agent is killed at any point gives one result',
  {
    timeout: isWhole ? 1_800_000 : 120_000,
  },
  async () => {
    const whole = newRun();
    const points = await live(whole.folder, whole.portal);
    expectOneResult(whole.portal);
    expect(calls()).toEqual(['first', 'second', 'third', 'fourth']);
    expect(points.length).toBeGreaterThan(60);

    const step = isWhole ? 1 : Math.ceil(points.length / fewest);
    for (let killAt = isWhole ? 1 : Math.ceil(step / 2); killAt <= points.length; killAt += step) {
      const { folder, portal } = newRun();
      const passed = await live(folder, portal, killAt);
      await live(folder, portal);
      try {
        expectOneResult(portal);
        const made = calls();
        expect(made.filter((call, index) => made.indexOf(call) === index)).toEqual([
          'first',
          'second',
          'third',
          'fourth',
        ]);
        // Only the function may run twice: its process ends with the agent, so its outcome may be lost.
        const repeated = made.filter((call, index) => made.indexOf(call) !== index);
        expect(['', 'third']).toContain(repeated.join());
        const left = readdirSync(join(folder, 'executions'));
        expect(left).toEqual(['answers']);
      } catch (error) {
        const where = `killed at ${killAt} of ${points.length}, ${passed.at(-1)}`;
        throw new Error(`${where}: calls ${calls().join()}; ${portal.results.join()}; ${warnings.join(' ')}`, {
          cause: error,
        });
      } finally {
        for (const name of readdirSync(join(folder, 'executions'))) {
          await endLeftovers(join(folder, 'executions', name, 'running'));
        }
      }
    }
  },
);

/** Runs an execution on a disk that rejects some writes, which are counted from 1. Returns all attempted writes. */
async function liveOnFullDisk(folder: string, portal: PlanPortal, isFull: (write: number) => boolean) {
  const writes: { point: string; isRejected: boolean }[] = [];
  visitCrashPoints((point) => {
    if (!/^(?:write|sync) /.test(point)) return;
    const isRejected = isFull(writes.length + 1);
    writes.push({ point, isRejected });
    if (isRejected) throw Object.assign(new Error('no space left on the device'), { code: 'ENOSPC' });
  });
  const agent = agentIn(folder, portal);
  try {
    await agent.start();
    await agent.lane.whenIdle();
  } finally {
    await agent.stop(0);
    visitCrashPoints(null);
  }
  return writes;
}

longTest(
  'MU-70 case 46: a disk that is full while a plan is received: the plan is not acknowledged, and is delivered again',
  async () => {
    const { folder, portal } = newRun();
    let before: number | null = null;
    const writes = await liveOnFullDisk(folder, portal, () => {
      // Only the first attempt to store the plan fails.
      const isFirst = portal.handedOut === 1 && !portal.isAcknowledged;
      if (isFirst) before = portal.results.length;
      return isFirst;
    });
    expect(before).toBe(0);
    expect(writes.some(({ isRejected }) => isRejected)).toBe(true);
    expect(portal.handedOut).toBe(2);
    expectOneResult(portal);
    expect(calls()).toEqual(['first', 'second', 'third', 'fourth']);
  },
  60_000,
);

test('MU-70 case 46: a disk that is full while a plan runs: the result has code 8, or the transcript has a note', {
  timeout: isWhole ? 1_800_000 : 120_000,
}, async () => {
  const whole = newRun();
  const all = await liveOnFullDisk(whole.folder, whole.portal, () => false);
  const first = all.findIndex(({ point }) => point.includes('progress.json'));
  const step = isWhole ? 1 : Math.ceil((all.length - first) / fewest);
  for (let from = first + 1; from <= all.length; from += step) {
    const { folder, portal } = newRun();
    const writes = await liveOnFullDisk(folder, portal, (write) => write >= from && write < from + 3);
    const results = portal.results.map(resultIn);
    const where = `writes ${from} to ${from + 2} of ${all.length}, ${all[from - 1]?.point}`;
    expect(new Set(results.map(({ ID }) => ID)).size, where).toBe(1);
    expect([0, 8], where).toContain(results[0]?.ErrorCode);
    if (results[0]?.ErrorCode !== 0) continue;
    expect(results[0]?.Body, where).toEqual(expected);
    const kept = writes.filter(({ point }) => /transcript|journal/.test(point));
    // The note is written last. It is missing if the disk is still full at that point.
    const isCut = kept.some(({ isRejected }) => isRejected) && kept.at(-1)?.isRejected === false;
    if (isCut) expect(String(portal.transcript), where).toMatch(/"note","(?:Cut: the disk|The answer of call)/);
  }
});
