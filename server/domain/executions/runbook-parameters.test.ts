import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { givenRunbook, patient } from '#server/domain/runbooks/testing/given-runbook.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { queueExecution } from './index.ts';
import { givenMachine } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = patient(await testContext({ services: opened.ctx, role: 'admin' }));
});
afterAll(() => door.close());

describe('a parameter of a runbook', () => {
  test.each([
    ['__proto__', '{"__proto__":{"polluted":true},"who":"w"}'],
    ['constructor', '{"constructor":{"prototype":{"polluted":true}},"who":"w"}'],
  ])('can be named %s, and reaches the machine unchanged', async (name, text) => {
    const machine = await givenMachine(admin, door);
    const { name: runbook } = await givenRunbook(admin, { parameters: { type: 'object' } });
    const parameters = JSON.parse(text) as Record<string, unknown>;
    await queueExecution({ ...admin, now: new Date() }, { vmId: machine.vmId, runbook, parameters });
    const envelope = await machine.next();
    const filled = (envelope?.plan as { Parameters?: object })?.Parameters ?? {};
    expect(Object.keys(filled)).toContain(name);
    expect(Object.entries(filled)).toEqual(Object.entries(parameters));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test.each([
    ['a list', []],
    ['a text', 'who'],
    ['null', null],
  ])('%s in place of the parameters is rejected', async (_, given) => {
    const machine = await givenMachine(admin, door);
    const { name: runbook } = await givenRunbook(admin);
    const parameters = given as unknown as Record<string, unknown>;
    await expect(queueExecution(admin, { vmId: machine.vmId, runbook, parameters })).rejects.toMatchObject({
      kind: 'unprocessable',
      faults: [{ path: '/parameters', code: 'field_not_object' }],
    });
    expect(await machine.next()).toBeNull();
  });
});
