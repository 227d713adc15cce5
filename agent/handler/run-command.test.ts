import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from './run-command.ts';
import { RunningCommand } from './running-command.ts';

test('what a command wrote is there also where its end is heard before its output', async () => {
  const root = mkdtempSync(join(tmpdir(), 'annex-command-'));
  try {
    const outcome = runCommand({
      line: 'echo said',
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
    // Nothing is heard of it while this process is busy with something else.
    execFileSync('/bin/sh', ['-c', `until [ -f '${root}'/running/*/exit ]; do :; done; sleep 0.1`]);
    expect(await outcome).toMatchObject({ exitCode: 0, output: 'said\n' });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
