import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { patient, writeStatus } from '#agent/testing/clinic-cases.ts';
import { fakeHandler } from '#agent/testing/fake-handler.ts';
import { fakePortal } from '#agent/testing/fake-portal.ts';
import { bundleAgent } from './bundle-agent.ts';

test('the agent’s single file enrolls, reaches a goal state and tries a package on its own', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'annex-bundle-'));
  const portal = await fakePortal();
  try {
    const [file, dir, calls] = ['agent.mjs', 'machine', 'calls.log'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    await bundleAgent(file);
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_ENV: 'production' } as const;
    const run = (...args: string[]) => promisify(execFile)(process.execPath, [file, ...args], { cwd: folder, env });
    const agent = (...args: string[]) => run(...args, '--dir', dir);
    const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
    portal.addPackage(echo.handler, echo.version, await fakeHandler(calls, echo));
    portal.setGoal([{ ...echo, name: 'echo' }]);
    await agent('enroll', '--portal', portal.url, '--token', 'token');
    await agent('once');
    expect(readFileSync(calls, 'utf8')).toBe('Echo-1.0.0.0 install\nEcho-1.0.0.0 enable\n');
    const zip = path.join(folder, 'Acme.Test.Patient-1.0.zip');
    writeFileSync(zip, await patient({ status: writeStatus('success') }));
    const tried = JSON.parse((await run('try', zip, '--json')).stdout);
    expect(tried).toMatchObject({ handler: 'Acme.Test.Patient', version: '1.0', score: { passed: tried.score.of } });
    const unit = await agent('install-unit');
    expect(unit.stdout).toContain(`"${file}" "run" "--dir" "${dir}"`);
  } finally {
    await portal.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
