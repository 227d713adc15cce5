import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import {
  downloadOutput,
  getOutput,
  listArchives,
  listOutputs,
  openArchive,
  readOutput,
  requestArchive,
  searchOutput,
} from './index.ts';
import { givenArchive } from './testing/archive.ts';
import { actsOf, givenMachine, logServices, type Machine } from './testing/machine.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';
const handler = 'Acme.Lab.Probe';

let services: Services;
let machine: Machine;
let archiveId: string;
beforeAll(async () => {
  services = await logServices();
  machine = await givenMachine(services);
  await machine.send('one\n');
  ({ id: archiveId } = await givenArchive(services, machine.vmId));
});

type Input = Record<string, unknown>;
type Verb = (ctx: Context, input: never) => Promise<unknown>;

/** Each verb with a valid input. */
const verbs: Record<string, [Verb, () => Promise<Input>]> = {
  listOutputs: [listOutputs, async () => ({ vmId: machine.vmId })],
  getOutput: [getOutput, async () => ({ vmId: machine.vmId, outputId: await machine.newest() })],
  readOutput: [readOutput, async () => ({ vmId: machine.vmId, outputId: await machine.newest(), row: 0 })],
  searchOutput: [searchOutput, async () => ({ vmId: machine.vmId, outputId: await machine.newest(), q: 'one' })],
  downloadOutput: [downloadOutput, async () => ({ vmId: machine.vmId, outputId: await machine.newest() })],
  requestArchive: [requestArchive, async () => ({ vmId: machine.vmId, handler })],
  listArchives: [listArchives, async () => ({ vmId: machine.vmId })],
  openArchive: [openArchive, async () => ({ vmId: machine.vmId, archiveId })],
};
const names = Object.keys(verbs);

const call = async (name: string, ctx: Context, changed: Input = {}) => {
  const [verb, valid] = verbs[name] ?? [];
  if (verb === undefined || valid === undefined) throw new Error(`${name} is no verb`);
  return verb(ctx, { ...(await valid()), ...changed } as never);
};
const as = (role: Role | null) => testContext({ services, role });

describe('who may read logs and request archives', () => {
  test.each(names)('%s: operators and administrators only', async (name) => {
    for (const role of ['viewer', 'publisher'] as const) {
      const expected = { kind: 'forbidden', code: 'forbidden', params: { role: 'operator' } };
      await expect(call(name, await as(role)), role).rejects.toMatchObject(expected);
    }
    await expect(call(name, await as(null))).rejects.toMatchObject({ kind: 'unauthenticated' });
    for (const role of ['operator', 'admin'] as const) {
      const outcome = await call(name, await as(role)).then(
        () => 'done',
        (error: { code: string }) => error.code,
      );
      expect(outcome, role).toBe(name === 'openArchive' ? 'archive_unknown' : 'done');
    }
  });

  test('a rejected request is not recorded', async () => {
    const before = await actsOf(services, machine.vmId);
    await expect(call('requestArchive', await as('viewer'))).rejects.toMatchObject({ kind: 'forbidden' });
    expect(await actsOf(services, machine.vmId)).toEqual(before);
  });
});

describe('bad input is named by its path', () => {
  const form = { code: 'field_format' };
  test.each<[name: string, changed: Input, fault: object]>([
    ['listOutputs', { vmId: 'one' }, { path: '/vmId', ...form }],
    ['listOutputs', { limit: 0 }, { path: '/limit', code: 'field_too_small', params: { minimum: 1 } }],
    ['listOutputs', { limit: 201 }, { path: '/limit', code: 'field_too_big', params: { maximum: 200 } }],
    ['listOutputs', { limit: '5' }, { path: '/limit', code: 'field_not_number' }],
    ['listOutputs', { extension: 'a b' }, { path: '/extension', code: 'extension_name_form' }],
    ['listOutputs', { cursor: 'x'.repeat(201) }, { path: '/cursor', code: 'field_too_long' }],
    ['getOutput', { outputId: '1' }, { path: '/outputId', ...form }],
    ['getOutput', { outputId: undefined }, { path: '/outputId', code: 'field_missing' }],
    ['downloadOutput', { vmId: 7 }, { path: '/vmId', code: 'field_not_text' }],
    ['readOutput', { row: -1 }, { path: '/row', code: 'field_too_small', params: { minimum: 0 } }],
    ['readOutput', { row: 1.5 }, { path: '/row', code: 'field_not_integer' }],
    ['readOutput', { count: 0 }, { path: '/count', code: 'field_too_small' }],
    ['readOutput', { count: 501 }, { path: '/count', code: 'field_too_big', params: { maximum: 500 } }],
    ['searchOutput', { q: '' }, { path: '/q', code: 'field_empty' }],
    ['searchOutput', { q: 'x'.repeat(201) }, { path: '/q', code: 'field_too_long', params: { maximum: 200 } }],
    ['searchOutput', { row: -1 }, { path: '/row', code: 'field_too_small' }],
    ['requestArchive', { handler: 'Probe' }, { path: '/handler', code: 'handler_form' }],
    ['requestArchive', { handler: undefined }, { path: '/handler', code: 'field_missing' }],
    ['listArchives', { vmId: null }, { path: '/vmId', code: 'field_not_text' }],
    ['openArchive', { archiveId: 'newest' }, { path: '/archiveId', ...form }],
  ])('%s %j', async (name, changed, fault) => {
    const expected = { kind: 'unprocessable', code: 'invalid', faults: [fault] };
    await expect(call(name, machine.operator, changed)).rejects.toMatchObject(expected);
  });

  test('the role is checked before the input', async () => {
    await expect(call('getOutput', await as('viewer'), { outputId: '1' })).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

describe('what does not exist', () => {
  test.each(['getOutput', 'readOutput', 'searchOutput', 'downloadOutput'])('%s: 404', async (name) => {
    const unknown = { kind: 'not_found', code: 'output_unknown' };
    await expect(call(name, machine.operator, { outputId: unknownId })).rejects.toMatchObject(unknown);
    const other = await givenMachine(services);
    await expect(call(name, machine.operator, { vmId: other.vmId })).rejects.toMatchObject(unknown);
  });

  test('lists of an unknown VM are empty', async () => {
    expect(await listOutputs(machine.operator, { vmId: unknownId })).toEqual({ items: [], nextCursor: null });
    expect(await listArchives(machine.operator, { vmId: unknownId })).toEqual({ handlers: [], items: [] });
  });
});
