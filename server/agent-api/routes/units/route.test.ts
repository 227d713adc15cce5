import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';

let stage: UnitStage;
let unit: StagedUnit;
beforeAll(async () => {
  stage = await UnitStage.open();
  unit = await stage.unit(await stage.service('blog'));
});
afterAll(() => stage.close());

const begin = { phase: 'begin', hook: 'install', attempt: 1, formula: '1.0.0.0', timeoutSeconds: 300 };

describe('calls about units', () => {
  test.each<[string, string, number]>([
    ['GET', '/units', 200],
    ['POST', '/units', 405],
    ['GET', '/units/blog/99/settings', 404],
    ['GET', '/units/..%2fx/1/settings', 404],
    ['GET', '/units/blog/0', 405],
    ['GET', '/units/blog', 404],
    ['DELETE', '/units/blog/99', 404],
    ['PUT', '/units/blog/0/runs/none', 404],
    ['PUT', `/units/blog/0/runs/${uuid()}`, 400],
    ['POST', '/units/blog/0/skipped', 400],
    ['POST', `/units/blog/0/runs/${uuid()}/log`, 404],
  ])('%s %s is answered with %i', async (method, path, status) => {
    const answer = await unit.agent.call(path, { method, ...(method !== 'GET' && { body: '{}' }) });
    expect(answer.status).toBe(status);
  });

  test('need the credential of the VM', async () => {
    const answer = await fetch(`${stage.door.url}/units`);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, 'credential_refused']);
  });

  test('a run that is larger than 1 MiB is 413', async () => {
    const large = { ...begin, hook: 'x'.repeat(1024 * 1024) };
    expect((await unit.call(`/runs/${uuid()}`, large)).status).toBe(413);
  });
});
