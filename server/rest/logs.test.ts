import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { receiveArchive, receiveOutput } from '#server/domain/logs/index.ts';
import { grantWireAccess } from '#server/domain/stock-agents/index.ts';
import { testContext } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let vm: GivenVm;
let ctx: Context;

const operator = { as: 'operator' as const };
const unknownId = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  door = await openRestDoor({ config: { wire: true } });
  ctx = await testContext({ services: door.services });
  await givenVersion(ctx.db);
  vm = await givenVm(door.services);
  await vm.declare('probe');
  const run = { vmId: vm.vmId, extension: 'probe', command: 'enable', attempt: 1, sequence: 1, range: null } as const;
  await receiveOutput(ctx, run, Readable.from([Buffer.from('one\ntwo\n')]));
});
afterAll(() => door.close());

test('outputs are listed, and read as they were written', async () => {
  type Page = { items: { id: string }[] };
  const { items } = await door.expect<Page>('listOutputs', { id: vm.vmId }, 200, operator);
  expect(items).toMatchObject([{ extension: 'probe', command: 'enable', storedBytes: 8, totalBytes: 8 }]);
  const path = `/vms/${vm.vmId}/outputs`;
  const file = await door.call('GET', `${path}/${items[0]?.id}`, operator);
  expect([file.status, file.headers.get('content-type'), file.text]).toEqual([
    200,
    'text/plain; charset=utf-8',
    'one\ntwo\n',
  ]);
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="probe-1-enable-1.txt"');
  await door.expect('downloadOutput', { id: vm.vmId, output: unknownId }, [404, 'output_unknown'], operator);
  expect((await door.call('GET', `${path}/${items[0]?.id}`, { as: 'viewer' })).status).toBe(403);
});

test('AZ-G11 log folders are requested and downloaded', async () => {
  const wish = { ...operator, body: { handler: 'Acme.Lab.Probe' } };
  const asked = await door.expect<{ id: string }>('requestLogArchive', { id: vm.vmId }, 202, wish);
  await door.expect('requestLogArchive', { id: unknownId }, [404, 'vm_unknown'], wish);
  const archive = { id: vm.vmId, archive: asked.id };
  await door.expect('downloadLogArchive', archive, [404, 'archive_unknown'], operator);
  const bytes = Readable.from([Buffer.from('zipped')]);
  await receiveArchive(ctx, vm.vmId, asked.id, { form: 'zip', bytes, declared: undefined });
  const list = await door.expect('listLogArchives', { id: vm.vmId }, 200, operator);
  expect(list).toMatchObject({ handlers: ['Acme.Lab.Probe'], items: [{ id: asked.id, state: 'there', form: 'zip' }] });
  const file = await door.call('GET', `/vms/${vm.vmId}/log-archives/${asked.id}`, operator);
  expect([file.status, file.headers.get('content-type'), file.text]).toEqual([200, 'application/zip', 'zipped']);
  const stock = await registerVm(ctx, { name: 'stock' });
  await grantWireAccess(ctx, { vmId: stock.id });
  await door.expect('requestLogArchive', { id: stock.id }, [409, 'logs_not_supported'], wish);
  expect(door.unmet(['listOutputs', 'requestLogArchive', 'listLogArchives'])).toEqual([]);
});
