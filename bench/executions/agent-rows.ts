import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executionEnvelope } from '#protocol/executions/index.ts';
import { Inbox } from '../../agent/execution/inbox.ts';
import { Lines } from '../../agent/execution/lines.ts';
import { findPlatforms } from '../../agent/execution/platforms.ts';
import { RunningExecution } from '../../agent/execution/run-execution.ts';
import { Transcript } from '../../agent/execution/transcript.ts';
import { layoutOf } from '../../agent/folder/layout.ts';
import { type PlanMachine, planMachine } from '../../agent/testing/plan-run.ts';
import { momentNow } from '../../agent/watch/moment.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';

const changes = 1_000;
const calls = 200;
const secrets = 20;
const outputBytes = 16 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/** Measures the agent without a portal: state changes, program calls, resuming a Body, and masking secrets. */
export async function agentRows({ rounds }: Bench): Promise<Figure[]> {
  const machine = await planMachine();
  const folder = mkdtempSync(join(tmpdir(), 'annex-bench-agent-'));
  try {
    const state = await alternate(
      rounds,
      () => bodySeconds(machine, `for i in range(${changes}):\n    api.setState('k', i)\nreturn 0`),
      () => syncedAppends(folder),
    );
    const called = await alternate(
      rounds,
      () => bodySeconds(machine, `for i in range(${calls}):\n    true()\nreturn 0`),
      spawns,
    );
    const resumed = await resumption(folder, rounds);
    const masked = await alternate(
      rounds,
      () =>
        outputPerSecond(
          folder,
          Array.from({ length: secrets }, (_, n) => `secret-number-${n}-that-nobody-sees`),
        ),
      () => outputPerSecond(folder, []),
    );
    return [
      figureOf(
        {
          what: `${changes} calls of api.setState in a Body`,
          unit: 's',
          against: `${changes} synced appends by node`,
          target: { kind: 'at most', value: 4, of: 'ratio' },
        },
        state,
      ),
      figureOf(
        {
          what: `${calls} calls of /bin/true`,
          unit: 's',
          against: `${calls} × spawn and wait by node`,
          target: { kind: 'at most', value: 6, of: 'ratio' },
        },
        called,
      ),
      figureOf(
        {
          what: `Restart of a Body after ${changes} calls`,
          unit: 's',
          against: 'starting Python and reading the journal',
          target: { kind: 'at most', value: 3, of: 'ratio' },
        },
        resumed,
      ),
      figureOf(
        {
          what: `Output written to the transcript, ${secrets} secrets masked`,
          unit: 'MB/s',
          against: 'without secrets',
          target: { kind: 'at least', value: 0.3, of: 'ratio' },
        },
        masked,
      ),
    ];
  } finally {
    machine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Measures restarting a Body after 1,000 completed calls, against starting Python and reading the journal of these
 * calls.
 */
async function resumption(folder: string, rounds: number): Promise<{ ours: number; yardstick: number }[]> {
  const layout = layoutOf(join(folder, 'agent'));
  const inbox = new Inbox(layout);
  const found = await findPlatforms(process.env);
  const body = `for i in range(${changes}):\n    api.setState('k', i)\nreturn 0`;
  const plan = { FormatVersion: '2.0.0', ID: 'resumed', Stamp: 1, Service: 'bench', Body: body, Scripts: {} };
  const text = JSON.stringify({ protocol: 1, id: 'resumed', stamp: 1, turn: 1, timeoutSeconds: 600, plan, files: {} });
  const { open } = inbox.receive(text, executionEnvelope.parse(JSON.parse(text)));
  const run = async (why: 'first' | 'agent', number: number): Promise<number> => {
    const began = performance.now();
    const ended = await new RunningExecution({
      ...{ layout, found, environment: { PATH: process.env.PATH }, open, why },
      ...{ journal: { info: () => {}, warn: () => {}, note: () => {} }, boot: '' },
      progress: { ...inbox.readProgress(open), run: number, begunAt: momentNow() },
      ...{ saveProgress: () => {}, onCall: () => {}, onBegin: () => {} },
    }).run();
    if (ended?.code !== 0) throw new Error(`The plan ended with code ${ended?.code}.`);
    return (performance.now() - began) / 1_000;
  };
  let number = 1;
  await run('first', number);
  return alternate(
    rounds,
    () => {
      number += 1;
      return run('agent', number);
    },
    async () => {
      const began = performance.now();
      await once(spawn('python3', ['-c', 'pass'], { stdio: 'ignore' }), 'close');
      const lines = readFileSync(join(open.folder, 'journal.jsonl'), 'utf8').split('\n').filter(Boolean);
      for (const line of lines) JSON.parse(line);
      return (performance.now() - began) / 1_000;
    },
  );
}

/** Returns how much longer a plan takes with this Body than with an empty one. */
async function bodySeconds(machine: PlanMachine, body: string): Promise<number> {
  const parts = {
    Service: 'bench',
    Scripts: { true: { Type: 'Application', Version: '1.0.0', EntryPoint: 'f1', Files: [], Options: {} } },
    Files: { f1: { Name: 'true.sh', BodyType: 'Text', Body: '#!/bin/true\n' } },
  };
  const take = async (text: string): Promise<number> => {
    const began = performance.now();
    const { code, text: answer } = await machine.body(text, parts);
    if (code !== 0) throw new Error(`The plan ended with code ${code}: ${answer}`);
    return (performance.now() - began) / 1_000;
  };
  const empty = await take('return 0');
  return (await take(body)) - empty;
}

function syncedAppends(folder: string): Promise<number> {
  const file = openSync(join(folder, 'appended'), 'a');
  const began = performance.now();
  for (let n = 0; n < changes; n += 1) {
    writeSync(file, `{"k":${n}}\n`);
    fdatasyncSync(file);
  }
  closeSync(file);
  return Promise.resolve((performance.now() - began) / 1_000);
}

async function spawns(): Promise<number> {
  const began = performance.now();
  for (let n = 0; n < calls; n += 1) await once(spawn('/bin/true', { stdio: ['ignore', 'pipe', 'pipe'] }), 'close');
  return (performance.now() - began) / 1_000;
}

/** Writes a call's output to a transcript as the agent does. Returns megabytes per second. */
function outputPerSecond(folder: string, masked: readonly string[]): Promise<number> {
  const path = join(folder, 'transcript.jsonl');
  rmSync(path, { force: true });
  const transcript = new Transcript(path, () => performance.now());
  const lines = new Lines(masked, (text) => transcript.add('out', 1, text));
  const line = `copied the file to the share, ${'x'.repeat(60)} secret-number-7-that-nobody-sees\n`;
  const chunk = Buffer.from(line.repeat(Math.ceil(chunkBytes / line.length)));
  const began = performance.now();
  let written = 0;
  for (; written < outputBytes; written += chunk.length) lines.write(chunk);
  lines.end();
  transcript.finish();
  return Promise.resolve(written / 1_000_000 / ((performance.now() - began) / 1_000));
}
