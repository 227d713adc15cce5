import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { removeUnusedBytes } from '#server/domain/packages/index.ts';
import { digestOf, uploadRunbookFile } from '#server/domain/runbook-files/testing/upload.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { validatePlan } from './index.ts';
import { givenBoundVm } from './testing/bound-vm.ts';
import { givenMachine } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

const upload = (id: string, contents: string) => uploadRunbookFile(admin, id, contents);

/** Returns a plan with a file `f/ü` of BodyType `ID`. */
const planWith = (id: string) => ({
  FormatVersion: '2.0.0',
  Body: "api.putFile('f/ü', 'x')",
  Files: { 'f/ü': { Name: 'x.bin', BodyType: 'ID', Body: id } },
});

/** Returns a plan whose file of BodyType `ID` has an id that is special in JavaScript. */
const planWithProto = (id: string) => ({
  ...{ FormatVersion: '2.0.0', Body: "api.putFile('__proto__', 'x')" },
  Files: { ['__proto__']: { Name: 'x.bin', BodyType: 'ID', Body: id } },
});

describe('a file of BodyType ID', () => {
  test('MU-56 has the contents from when the plan was queued, with range, ETag and digest', async () => {
    const id = `tool-${randomUUID()}`;
    const machine = await givenMachine(admin, door);
    await upload(id, 'the first contents');
    const { id: execution } = await machine.queue(planWith(id));
    await upload(id, 'other contents');
    const { files } = (await machine.next()) ?? {};
    const sha256 = digestOf('the first contents');
    const url = `/agent/v1/executions/${execution}/files/f%2F%C3%BC`;
    expect(files).toEqual({ 'f/ü': { sha256, size: 18, url } });
    const path = url.replace('/agent/v1', '');
    const whole = await machine.agent.call(path);
    expect([whole.status, await whole.text()]).toEqual([200, 'the first contents']);
    expect(whole.headers.get('etag')).toBe(`"${sha256}"`);
    expect(whole.headers.get('repr-digest')).toBe(`sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`);
    const part = await machine.agent.call(path, { headers: { range: 'bytes=4-8' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, 'first', 'bytes 4-8/18']);
    const same = await machine.agent.call(path, { headers: { 'if-none-match': `"${sha256}"` } });
    expect(same.status).toBe(304);
    await removeUnusedBytes(admin, sha256);
    expect((await machine.agent.call(path)).status, 'the bytes are kept while the execution is open').toBe(200);
  });

  test('case 3: can have the id __proto__ in the plan, over HTTPS and over AMQP', async () => {
    const id = `tool-${randomUUID()}`;
    await upload(id, 'contents');
    const machine = await givenMachine(admin, door);
    const { id: execution } = await machine.queue(planWithProto(id));
    const { files = {} } = (await machine.next()) ?? {};
    const url = `/agent/v1/executions/${execution}/files/__proto__`;
    expect(Object.entries(files)).toEqual([['__proto__', { sha256: digestOf('contents'), size: 8, url }]]);
    expect(await (await machine.agent.call(url.replace('/agent/v1', ''))).text()).toBe('contents');
    const vm = await givenBoundVm(admin);
    await vm.queue(planWithProto(id));
    const { Files } = JSON.parse((await vm.publish())?.text ?? '') as { Files: object };
    const Body = Buffer.from('contents').toString('base64');
    expect(Object.entries(Files)).toEqual([['__proto__', { Name: 'x.bin', BodyType: 'Base64', Body }]]);
  });

  test('is delivered only for the execution that the machine has', async () => {
    const id = `tool-${randomUUID()}`;
    await upload(id, '');
    const [machine, other] = [await givenMachine(admin, door), await givenMachine(admin, door)];
    const { id: execution } = await machine.queue(planWith(id));
    const path = `/executions/${execution}/files/f%2F%C3%BC`;
    const statusOf = async (from: typeof machine, at = path) => (await from.agent.call(at)).status;
    expect(await statusOf(machine), 'before the delivery').toBe(404);
    await machine.next();
    expect(await statusOf(machine), 'an empty file').toBe(200);
    expect(await statusOf(other), 'another machine').toBe(404);
    for (const wrong of ['other', '%00', '%ff', '..%2f..%2fx']) {
      expect(await statusOf(machine, `/executions/${execution}/files/${wrong}`), wrong).toBe(404);
    }
    await machine.result(execution);
    expect(await statusOf(machine), 'after the end').toBe(404);
  });

  test('must exist when the plan is queued or checked', async () => {
    const machine = await givenMachine(admin, door);
    const faults = [{ path: '/Files/f~1ü/Body', code: 'runbook_file_unknown' }];
    await expect(machine.queue(planWith('nothing'))).rejects.toMatchObject({
      ...{ kind: 'unprocessable', code: 'plan_invalid', params: { code: 8 }, faults },
    });
    expect(await validatePlan(admin, { plan: planWith('nothing') })).toEqual({
      code: 8,
      faults,
      warnings: [],
      converted: false,
      schemaFaults: [],
    });
    expect(await machine.next()).toBeNull();
  });

  test('is part of the plan over AMQP, up to 4 MiB with the plan', async () => {
    const id = `tool-${randomUUID()}`;
    const vm = await givenBoundVm(admin);
    await upload(id, 'größer');
    await vm.queue({ ...planWith(id), Parameters: { n: 1.5 } });
    const plan = JSON.parse((await vm.publish())?.text ?? '');
    const Body = Buffer.from('größer').toString('base64');
    expect(plan).toMatchObject({
      Files: { 'f/ü': { Name: 'x.bin', BodyType: 'Base64', Body } },
      Parameters: { n: 1.5 },
    });
    await upload(id, 'x'.repeat(3 * 1024 * 1024));
    const refused = { kind: 'unprocessable', code: 'files_too_large_for_amqp' };
    await expect(vm.queue(planWith(id))).rejects.toMatchObject(refused);
  });
});
