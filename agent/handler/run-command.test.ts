import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from './run-command.ts';
import { RunningCommand } from './running-command.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'annex-command-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const run = (line: string) =>
  runCommand({
    line,
    root,
    environment: { PATH: process.env.PATH ?? '' },
    record: {
      kind: 'enable',
      handler: 'Acme.Test.Echo',
      version: '1.0',
      purpose: 'goal',
      extensions: [{ name: 'echo', sequenceNumber: 1 }],
      attempt: 1,
      timeoutSeconds: 30,
      outputFile: join(root, 'output.log'),
    },
    running: new RunningCommand(join(root, 'running')),
    secrets: [],
  });

test('output is complete even if the end of the command is noticed first', async () => {
  const outcome = run('echo said');
  // Blocks the event loop, so that nothing is read until the command has ended.
  execFileSync('/bin/sh', ['-c', `until [ -f '${root}'/running/*/exit ]; do :; done; sleep 0.1`]);
  expect(await outcome).toMatchObject({ exitCode: 0, output: 'said\n' });
});

test('AZ-G3 an exit code counts even if the output cannot be read', async () => {
  // The process in the background still writes into the pipe, which cannot be opened again.
  const outcome = await run(`rm '${root}'/running/*/pipe; sleep 2 &`);
  expect(outcome.exitCode).toBe(0);
  expect(outcome.output).toContain('could not read the rest of the output');
});
