import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executionFiles } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { cancelExecution } from '#server/domain/executions/index.ts';
import { givenMachine } from '#server/domain/executions/testing/machine.ts';
import { removeUnusedBytes } from '#server/domain/packages/index.ts';
import { withdrawRunbookVersion } from '#server/domain/runbooks/index.ts';
import { givenRunbook } from '#server/domain/runbooks/testing/given-runbook.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { removeRunbookFile } from './index.ts';
import { digestOf, uploadRunbookFile } from './testing/upload.ts';

let door: AgentDoor;
let admin: Context;
let machine: Awaited<ReturnType<typeof givenMachine>>;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
  machine = await givenMachine(admin, door);
});
afterAll(() => door.close());

/** Returns a plan that names a file by its id. */
const planWith = (id: string) => ({
  FormatVersion: '2.0.0',
  Files: { f: { Name: 'x.bin', BodyType: 'ID', Body: id } },
});
const refused = { kind: 'conflict', code: 'runbook_file_in_use' };

test('case 36: a file cannot be deleted while an execution that names it has not ended', async () => {
  const id = `tool-${randomUUID()}`;
  const { file } = await uploadRunbookFile(admin, id, `contents of ${id}`);
  const execution = await machine.queue(planWith(id));
  await expect(removeRunbookFile(admin, { id })).rejects.toMatchObject(refused);
  await machine.next();
  await expect(removeRunbookFile(admin, { id })).rejects.toMatchObject(refused);
  await machine.result(execution.id);
  await removeRunbookFile(admin, { id });
  await expect(removeRunbookFile(admin, { id })).rejects.toMatchObject({ code: 'runbook_file_unknown' });
  expect(await admin.blobs.size(file.sha256)).toBeNull();
});

test('a file cannot be deleted while a published version of a runbook names it', async () => {
  const id = `tool-${randomUUID()}`;
  await uploadRunbookFile(admin, id, id);
  const { name, version } = await givenRunbook(admin, { plan: planWith(id), parameters: null });
  await expect(removeRunbookFile(admin, { id })).rejects.toMatchObject({
    kind: 'conflict',
    code: 'runbook_file_published',
    params: { runbook: name, version },
  });
  await withdrawRunbookVersion(admin, { name, version, reason: 'replaced' });
  await removeRunbookFile(admin, { id });
  await expect(removeRunbookFile(admin, { id })).rejects.toMatchObject({ code: 'runbook_file_unknown' });
});

test('a published plan with a number that PostgreSQL cannot store does not prevent files from being deleted', async () => {
  const id = `tool-${randomUUID()}`;
  await uploadRunbookFile(admin, id, id);
  const plan = '{"FormatVersion":"2.0.0","Parameters":{"a":1e-400000},"Body":"return 1"}';
  await givenRunbook(admin, { plan, parameters: null });
  await removeRunbookFile(admin, { id });
  await expect(removeRunbookFile(admin, { id })).rejects.toMatchObject({ code: 'runbook_file_unknown' });
});

test('replaced contents are kept until the executions that use them have ended', async () => {
  const id = `tool-${randomUUID()}`;
  const first = digestOf(`first ${id}`);
  await uploadRunbookFile(admin, id, `first ${id}`);
  const executions = [await machine.queue(planWith(id)), await machine.queue(planWith(id))];
  for (let n = 0; n < 21; n += 1) await uploadRunbookFile(admin, id, `${n} ${id}`);
  const isKept = async () => {
    await removeUnusedBytes(admin, first);
    return (await admin.blobs.size(first)) !== null;
  };
  for (const { id: executionId } of executions) {
    expect(await isKept()).toBe(true);
    await cancelExecution(admin, { vmId: machine.vmId, executionId });
  }
  expect(await isKept(), 'no revision and no execution').toBe(false);
});

test('a file is either deleted or named by the execution, when both happen at the same moment', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = `tool-${randomUUID()}`;
    await uploadRunbookFile(admin, id, id);
    const [queued, removed] = await Promise.allSettled([machine.queue(planWith(id)), removeRunbookFile(admin, { id })]);
    expect([queued.status, removed.status].sort()).toEqual(['fulfilled', 'rejected']);
    const pinned = await admin.db.$count(executionFiles, eq(executionFiles.runbookFile, id));
    expect(pinned).toBe(queued.status === 'fulfilled' ? 1 : 0);
  }
});
