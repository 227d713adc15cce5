import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { greeting, greetingParameters } from '#server/domain/runbooks/testing/given-runbook.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { longTest } from '#server/testing/long.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let vmId: string;

beforeAll(async () => {
  // A busy machine starts the workers that check schemas slowly.
  const settings = { ...defaultLimits.settings, checkMs: 60_000 };
  door = await openRestDoor({ config: { limits: { ...defaultLimits, settings } } });
  vmId = (await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'web-1' } })).id;
});
afterAll(() => door.close());

const reference = { name: 'rotate-certificates', version: '1.0.0' };
const contents = { title: 'Rotate certificates', plan: greeting, parameters: greetingParameters };

test('a runbook is saved, published, run and withdrawn', async () => {
  const saved = await door.expect<object>('saveRunbookVersion', reference, 201, { body: contents });
  expect(saved).toMatchObject({ state: 'draft', secretParameters: ['token'], timeoutSeconds: 3_600 });
  await door.expect('saveRunbookVersion', reference, 200, { body: contents });
  await door.expect('withdrawRunbookVersion', reference, [409, 'runbook_not_published'], { body: { reason: 'x' } });
  await door.expect('publishRunbookVersion', reference, 200);
  const changed = { ...contents, title: 'Other' };
  await door.expect('saveRunbookVersion', reference, [409, 'runbook_version_fixed'], { body: changed });
  await door.expect('deleteRunbookDraft', reference, [409, 'runbook_not_draft']);

  const list = await door.expect<{ items: object[] }>('listRunbooks', {}, 200);
  expect(list.items).toMatchObject([{ name: reference.name, version: '1.0.0', runs: { succeeded: 0 } }]);
  expect(await door.expect('getRunbook', reference, 200)).toMatchObject({ published: '1.0.0' });
  const version = await door.expect<{ plan: string }>('getRunbookVersion', reference, 200);
  expect(JSON.parse(version.plan)).toEqual(greeting);

  const body = { runbook: reference.name, parameters: { who: 'w' }, secretParameters: { token: 'hunter2-hunter2' } };
  const queued = await door.expect<object>('queueExecution', { id: vmId }, 201, { body });
  expect(queued).toMatchObject({
    ...{ runbook: reference.name, runbookVersion: '1.0.0', state: 'queued', secretParameters: ['token'] },
  });

  await door.expect('withdrawRunbookVersion', reference, 200, { body: { reason: 'too slow' } });
  await door.expect('publishRunbookVersion', reference, [409, 'runbook_withdrawn']);
  await door.expect('queueExecution', { id: vmId }, [409, 'runbook_not_published'], { body });
});

test('a draft is deleted', async () => {
  const draft = { name: 'draft', version: '0.1.0' };
  await door.expect('saveRunbookVersion', draft, 201, { body: contents });
  await door.expect('deleteRunbookDraft', draft, 204);
  for (const call of ['getRunbook', 'getRunbookVersion', 'publishRunbookVersion', 'deleteRunbookDraft']) {
    await door.expect(call, draft, [404, 'runbook_unknown']);
  }
  await door.expect('withdrawRunbookVersion', draft, [404, 'runbook_unknown'], { body: { reason: 'x' } });
});

test('every fault of a runbook and of its parameters has a path', async () => {
  type Answer = { errors: { path: string; code: string; message: string }[] };
  const bad = { ...contents, plan: { ...greeting, ID: 'x' }, more: 1 };
  const unknown = await door.expect<Answer>('saveRunbookVersion', reference, [422, 'invalid'], { body: bad });
  expect(unknown.errors).toMatchObject([{ path: '/more', code: 'field_unknown' }]);
  const { more: _, ...known } = bad;
  const rejected = await door.expect<Answer>('saveRunbookVersion', reference, [422, 'plan_invalid'], { body: known });
  expect(rejected.errors).toMatchObject([{ path: '/plan/ID', code: 'runbook_plan_identity' }]);

  const published = { name: 'greet', version: '1.0.0' };
  await door.expect('saveRunbookVersion', published, 201, { body: contents });
  await door.expect('publishRunbookVersion', published, 200);
  const body = { runbook: 'greet', parameters: { token: 'x' } };
  const refused = await door.expect<Answer>('queueExecution', { id: vmId }, [422, 'parameters_invalid'], { body });
  expect(refused.errors).toMatchObject([{ path: '/parameters/token', code: 'parameter_secret' }]);
});

describe('case 41: a hostile schema of parameters', () => {
  type Answer = { errors: { path: string; code: string }[] };
  const save = (name: string, properties: object, outcome: number | [number, string], more: object = {}) => {
    const body = { ...contents, parameters: { properties, ...more } };
    return door.expect<Answer>('saveRunbookVersion', { name, version: '1.0.0' }, outcome, { body });
  };

  test('that refers to another server is rejected, and nothing is fetched', async () => {
    let calls = 0;
    const server = createServer((_, response) => {
      calls += 1;
      response.end('{"type":"string"}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const remote = `http://127.0.0.1:${(server.address() as AddressInfo).port}/schema.json`;
    try {
      for (const [$ref, more] of [
        [remote, {}],
        [`${remote}#/$defs/a`, {}],
        ['other.json', { $id: remote }],
        ['file:///etc/passwd', {}],
      ] as const) {
        const { errors } = await save('remote', { who: { items: { $ref } } }, [422, 'schema_refused'], more);
        expect(errors).toMatchObject([{ path: '/parameters/properties/who/items/$ref', code: 'schema_reference' }]);
      }
      expect(calls).toBe(0);
    } finally {
      server.close();
    }
    await door.expect('getRunbook', { name: 'remote' }, [404, 'runbook_unknown']);
  });

  longTest(
    'with a pattern that takes too long ends the check of a run, and other calls are answered meanwhile',
    async () => {
      const reference = { name: 'slow-pattern', version: '1.0.0' };
      await save(reference.name, { who: { type: 'string', pattern: '^(a+)+$' } }, 201);
      await door.expect('publishRunbookVersion', reference, 200);
      const settings = { ...defaultLimits.settings, checkMs: 1_000 };
      const hasty = await openRestDoor({ config: { limits: { ...defaultLimits, settings } }, db: door.services.db });
      try {
        const body = { runbook: reference.name, parameters: { who: `${'a'.repeat(40)}!` } };
        let isOver = false;
        const run = hasty
          .expect<Answer>('queueExecution', { id: vmId }, [422, 'parameters_invalid'], { body })
          .finally(() => {
            isOver = true;
          });
        let answered = 0;
        for (; !isOver; answered += 1) await hasty.expect('getExecutionRules', {}, 200);
        expect((await run).errors).toMatchObject([{ path: '/parameters', code: 'schema_slow' }]);
        expect(answered).toBeGreaterThan(10);
      } finally {
        await hasty.close();
      }
      const list = await door.expect<{ items: { runbook: string }[] }>('listExecutions', {}, 200);
      expect(list.items.filter(({ runbook }) => runbook === reference.name)).toEqual([]);
    },
  );

  longTest('with writeOnly deep inside an array makes the whole parameter secret', async () => {
    const reference = { name: 'deep-secret', version: '1.0.0' };
    const password = { type: 'string', writeOnly: true };
    const site = { anyOf: [{ type: 'string' }, { properties: { login: { prefixItems: [{}, password] } } }] };
    await save(reference.name, { sites: { type: 'array', items: { type: 'array', items: site } } }, 201);
    await door.expect('publishRunbookVersion', reference, 200);
    const sites = [['plain-site-of-sites', { login: ['user-of-sites', 'hunter2-of-sites'] }]];
    const queue = (given: object, outcome: number | [number, string]) =>
      door.expect<Answer & { id: string }>('queueExecution', { id: vmId }, outcome, {
        body: { runbook: reference.name, ...given },
      });
    const refused = await queue({ parameters: { sites } }, [422, 'parameters_invalid']);
    expect(refused.errors).toMatchObject([{ path: '/parameters/sites', code: 'parameter_secret' }]);
    const { id } = await queue({ secretParameters: { sites } }, 201);
    for (const call of ['getExecution', 'getExecutionPlan']) {
      const text = JSON.stringify(await door.expect(call, { id: vmId, execution: id }, 200));
      expect(text).not.toContain('-of-sites');
      if (call === 'getExecution') expect(text).toContain('"secretParameters":["sites"]');
    }
  });
});

test('MU-60 a token cannot approve, and a token without the grant cannot queue a plan', async () => {
  expect(await door.expect('getExecutionRules', {}, 200)).toEqual({ approval: 'none' });
  await door.expect('setExecutionRules', {}, 200, { body: { approval: 'all' } });
  const body = { plan: { FormatVersion: '2.0.0' } };
  const { id, state } = await door.expect<{ id: string; state: string }>('queueExecution', { id: vmId }, 201, { body });
  expect(state).toBe('waiting-approval');
  const params = { id: vmId, execution: id };
  await door.expect('decideExecution', params, [403, 'person_required'], { body: { approve: true } });
  const made = { name: 'ci', role: 'operator' };
  const { token } = await door.expect<{ token: string }>('createToken', {}, 201, { body: made });
  const call = await door.call('POST', `/vms/${vmId}/executions`, { token, body });
  expect(call).toMatchObject({ status: 403, body: { code: 'scripts_forbidden' } });
  await door.expect('setExecutionRules', {}, 200, { body: { approval: 'none' } });
  const unknown = { ...params, execution: '00000000-0000-7000-8000-000000000000' };
  await door.expect('decideExecution', unknown, [404, 'execution_unknown'], { body: { approve: true } });
  await door.expect('cancelExecution', params, 200, { body: {} });
  await door.expect('decideExecution', params, [409, 'not_waiting_approval'], { body: { approve: true } });
});

test('every documented status of these calls was received, except an approval, which no token can give', () => {
  const calls = ['listRunbooks', 'getRunbook', 'getRunbookVersion', 'saveRunbookVersion', 'deleteRunbookDraft'];
  const acts = ['publishRunbookVersion', 'withdrawRunbookVersion', 'decideExecution', 'setExecutionRules'];
  expect(door.unmet([...calls, ...acts, 'getExecutionRules'])).toEqual(['decideExecution 200']);
});
