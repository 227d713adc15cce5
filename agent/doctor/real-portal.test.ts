import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueEnrollmentToken, registerVm } from '#server/domain/enrollment/index.ts';
import { openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { enroll } from '../commands/enroll.ts';
import { layoutOf } from '../folder/layout.ts';
import { openCaller } from '../portal/call.ts';
import { examine } from './examine.ts';

let folder: string;
let ctx: Awaited<ReturnType<typeof testContext>>;
let door: Awaited<ReturnType<typeof openAgentDoor>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-doctor-'));
  const services = await testServices({ config: { vmRate: 0 } });
  ctx = await testContext({ role: 'operator', services });
  door = await openAgentDoor(services);
});
afterAll(async () => {
  await door.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = openCaller({ environment: {} });
const examined = async (dir: string) => {
  const findings = await examine({
    layout: layoutOf(dir),
    call,
    configurationFault: null,
    path: process.env.PATH,
    space: async () => ({ freeBytes: 1e10, freeFiles: 1e6, allFiles: 1e7 }),
    mayRun: async () => true,
  });
  return findings.map(({ check, verdict }) => `${check} ${verdict}`);
};

test('the doctor reads the responses of the real portal correctly', async () => {
  const portal = door.url.replace('/agent/v1', '');
  const [first, second] = ['first', 'second'].map((name) => join(folder, name)) as [string, string];
  const { id, enrollmentToken } = await registerVm(ctx, { name: 'examined' });
  await enroll({ portal, token: enrollmentToken, dir: first, call }, () => {});
  expect(await examined(first)).toEqual(expect.arrayContaining(['portal good', 'clock good', 'credential good']));

  const again = await issueEnrollmentToken(ctx, { vmId: id });
  await enroll({ portal, token: again.enrollmentToken, dir: second, call }, () => {});
  expect(await examined(first)).toEqual(expect.arrayContaining(['portal good', 'clock good', 'credential bad']));
  expect(await examined(second)).toContain('credential good');
});
