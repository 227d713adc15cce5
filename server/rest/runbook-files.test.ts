import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

const bytes = Buffer.from([0, 255, 10, 13, 128]);
const upload = (body: unknown, type = 'application/octet-stream') => ({ body, headers: { 'content-type': type } });

test('a file is uploaded, replaced, listed, downloaded and deleted', async () => {
  const id = 'tools/probe ü';
  const stored = await door.expect('putRunbookFile', { id }, 201, upload(bytes));
  expect(stored).toMatchObject({ id, size: 5, revision: 1 });
  await door.expect('putRunbookFile', { id }, 200, upload('two'));
  const { items } = await door.expect<{ items: { id: string; size: number }[] }>('listRunbookFiles', {}, 200);
  expect(items).toMatchObject([{ id, size: 3, revision: 2 }]);
  const path = `${door.url}/api/v1/runbook-files/${encodeURIComponent(id)}`;
  const headers = { authorization: `Bearer ${door.tokens.operator}` };
  const first = await fetch(`${path}?revision=1`, { headers });
  expect(Buffer.from(await first.arrayBuffer())).toEqual(bytes);
  expect([first.headers.get('content-type'), first.headers.get('content-length')]).toEqual([
    'application/octet-stream',
    '5',
  ]);
  await door.expect('removeRunbookFile', { id }, 204);
  await door.expect('removeRunbookFile', { id }, [404, 'runbook_file_unknown']);
  await door.expect('getRunbookFile', { id }, [404, 'runbook_file_unknown']);
});

test('an upload is rejected without the grant, and with another media type', async () => {
  await door.expect('putRunbookFile', { id: 'x' }, [403, 'scripts_forbidden'], { ...upload('x'), as: 'operator' });
  await door.expect('putRunbookFile', { id: 'x' }, [415, 'media_type_unsupported'], upload('{}', 'application/json'));
});

test('a revision beyond the range of the database is rejected', async () => {
  await door.expect('putRunbookFile', { id: 'y' }, 201, upload('y'));
  const query = (revision: number) => ({ query: `?revision=${revision}` });
  await door.expect('getRunbookFile', { id: 'y' }, [404, 'runbook_file_unknown'], query(2 ** 31 - 1));
  await door.expect('getRunbookFile', { id: 'y' }, [400, 'invalid'], query(2 ** 31));
});
