import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { enroll } from '../commands/enroll.ts';
import { layoutOf } from '../folder/layout.ts';
import { Agent } from '../work/agent.ts';
import type { PortalResponse } from './call.ts';
import { plainHttpWarning } from './plain-http.ts';

test.each([
  ['http://annex.example.net', true],
  ['http://10.0.0.4:3001', true],
  ['http://[2001:db8::1]', true],
  ['http://127.evil.example', true],
  ['http://localhost.example.net', true],
  ['https://annex.example.net', false],
  ['http://localhost:3001', false],
  ['http://portal.localhost', false],
  ['http://127.0.0.1:3001', false],
  ['http://127.8.8.8', false],
  ['http://[::1]:3001', false],
])('%s: the warning is %s', (address, isWarned) => {
  expect(plainHttpWarning(address) !== null).toBe(isWarned);
});

test('enroll and the journal warn about a remote portal without TLS', { timeout: 30_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'annex-plain-'));
  const answer: PortalResponse = {
    status: 201,
    headers: {},
    text: JSON.stringify({ vmId: 'vm', credential: 'credential', pollSeconds: 30 }),
  };
  const printed: string[] = [];
  const portal = 'http://annex.invalid';
  await enroll({ portal, token: 'token', dir, call: async () => answer }, (line) => printed.push(line));
  expect(printed[0]).toContain('Warning: http://annex.invalid is not encrypted');
  const warned: string[] = [];
  const agent = new Agent({
    layout: layoutOf(dir),
    journal: { info() {}, warn: (line) => void warned.push(line), note() {} },
    heartbeatSeconds: 600,
    statusSeconds: 600,
    statusAfterConclusion: 'follow',
    environment: {},
    call: () => Promise.reject(new Error('away')),
  });
  await agent.start();
  await agent.stop(0);
  expect(warned[0]).toContain('http://annex.invalid is not encrypted');
  rmSync(dir, { recursive: true, force: true });
});
