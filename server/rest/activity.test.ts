import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

interface Page {
  items: {
    type: string;
    action: { code: string; vm: { name: string } | null } | null;
    fold: { actions: number } | null;
    event: { kind: string; vms: number } | null;
  }[];
  nextCursor: string | null;
}

test('the activity lists actions and events, of people or of the fleet', async () => {
  const ids: string[] = [];
  for (const name of ['a', 'b']) {
    ids.push((await door.expect<{ id: string }>('createVm', {}, 201, { body: { name } })).id);
  }
  const { $client } = door.services.db;
  for (const id of ids) {
    await $client.query(
      `insert into vm_health (vm_id, name, tags, health, rank, agent, since)
       values ($1, $2, '{}', 'unresponsive', 1, 'unresponsive', now()) on conflict do nothing`,
      [id, id],
    );
    await $client.query(
      `insert into health_transitions (at, vm_id, kind, "from", "to")
       values ('2026-03-04T03:12:00Z', $1, 'health', 'healthy', 'unresponsive')`,
      [id],
    );
  }
  const list = async (query: string) =>
    (await door.expect<Page>('listActivity', {}, 200, { query: `?${query}`, as: 'viewer' })).items;
  const lines = async (query: string) =>
    (await list(query)).map(({ action, fold, event }) =>
      event ? `${event.vms} ${event.kind}` : `${action?.code} x${fold?.actions ?? 1}`,
    );
  expect(await lines('')).toEqual(['vm.create x2', '2 silent']);
  expect(await lines('kind=all&limit=1')).toEqual(['vm.create x2']);
  expect(await lines('kind=people')).toEqual(['vm.create x2']);
  expect(await lines('kind=fleet')).toEqual(['2 silent']);
  expect(await lines('from=2026-03-04T00:00:00Z&to=2026-03-05T00:00:00Z')).toEqual(['2 silent']);
  expect(await door.call('GET', '/activity?kind=weather')).toMatchObject({ status: 400 });
  expect(await door.call('GET', '/activity', { token: '' })).toMatchObject({ status: 401 });
  const vms = await door.expect<{ items: { id: string }[] }>('listVms', {}, 200, {
    query: '?event=silent:2026-03-04T03:12Z',
  });
  expect(vms.items.map(({ id }) => id).sort()).toEqual(ids.sort());
});
