import { afterAll, beforeAll, expect, test } from 'vitest';
import { unitCounters } from '#db/schema/index.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';

let stage: UnitStage;
beforeAll(async () => {
  stage = await UnitStage.open();
});
afterAll(() => stage.close());

interface Enrolled {
  credential: string;
}

async function enroll(enrollmentToken: string, { certificate } = newKeyPair()): Promise<Enrolled> {
  const agent = { name: 'test', version: '1.0' };
  const body = JSON.stringify({ enrollmentToken, certificate, agent });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${stage.door.url}/enroll`, { method: 'POST', body, headers });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Enrolled;
}

let calls = 0;

async function unitsOf({ credential }: Enrolled): Promise<string[]> {
  calls += 1;
  const headers = { authorization: `Bearer ${credential}`, 'annex-agent': `another-machine; ${calls}` };
  const answer = await fetch(`${stage.door.url}/units`, { headers });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  const { units } = (await answer.json()) as { units: { unit: string }[] };
  return units.map(({ unit }) => unit);
}

test('EN-54 a machine that enrolls for a VM with units gets new units, once', async () => {
  const serviceId = await stage.service('blog');
  await stage.ctx.db.insert(unitCounters).values({ modelId: stage.modelId, serviceName: 'blog', next: 5 });
  const unit = await stage.unit(serviceId);
  expect((await unit.look()).state.units.map((one) => one.unit)).toEqual([unit.name]);
  const { enrollmentToken } = await issueEnrollmentToken(stage.ctx, { vmId: unit.vmId });
  const key = newKeyPair();
  const enrolled = await enroll(enrollmentToken, key);
  expect(await unitsOf(enrolled)).toEqual(['blog/5']);
  // The machine did not get the answer, and repeats the call.
  expect(await unitsOf(await enroll(enrollmentToken, key))).toEqual(['blog/5']);
});
