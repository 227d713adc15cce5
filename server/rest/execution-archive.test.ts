import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromBuffer } from 'yauzl';
import type { Context } from '#server/domain/context.ts';
import { givenMachine, plan } from '#server/domain/executions/testing/machine.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { archiveOf } from './execution-archive.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

test('the archive of an execution contains its plan, result, calls and log', async () => {
  const machine = await givenMachine(admin, door);
  const { id } = await machine.queue();
  await machine.next();
  const rows = [
    [0, 'begin', { run: 1, why: 'first' }],
    [1, 'call', 1, '=cmd()', 'run'],
    ...Array.from({ length: 1_200 }, (_, index) => [2, 'out', 1, `line ${index}`]),
    [9, 'end', 1, { exitCode: 3, ms: 8 }],
  ];
  await machine.transcript(id, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const call = {
    n: 1,
    script: '=cmd()',
    function: 'run',
    state: 'failed',
    row: 1,
    untilRow: 1_202,
    atMs: 1,
    exitCode: 3,
  };
  await machine.progress(id, 'running', { calls: [call] });
  const about = { vmId: machine.vmId, executionId: id };
  expect([...(await files(about)).keys()], 'before the result').not.toContain('result.json');
  await machine.result(id, id, { ErrorCode: 1, Body: { Message: 'exit code 3' } });
  const found = await files(about);
  expect([...found.keys()].toSorted()).toEqual([
    'calls.csv',
    'log.txt',
    'plan.json',
    'result.json',
    'transcript.jsonl',
  ]);
  expect(JSON.parse(found.get('plan.json') ?? '')).toEqual(plan);
  expect(JSON.parse(found.get('result.json') ?? '')).toMatchObject({ Body: { Message: 'exit code 3' } });
  expect(found.get('log.txt')?.split('\n').slice(-3)).toEqual(['line 1198', 'line 1199', '']);
  expect(found.get('transcript.jsonl')?.trim().split('\n')).toHaveLength(rows.length);
  const [header, line] = (found.get('calls.csv') ?? '').split('\r\n');
  expect(header).toContain('"script","function","state"');
  expect(line, 'a script’s name starts no formula').toMatch(/^1,1,"[^=]/);
});

/** Returns the texts of an archive's files, by name. */
async function files(of: { vmId: string; executionId: string }): Promise<Map<string, string>> {
  const { bytes } = await archiveOf(admin, of);
  const archive = await buffer(bytes);
  const texts = new Map<string, string>();
  return new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error);
      zip.on('error', reject).on('end', () => resolve(texts));
      zip.on('entry', (entry) =>
        zip.openReadStream(entry, (failure, stream) => {
          if (failure) return reject(failure);
          text(stream).then((content) => {
            texts.set(entry.fileName, content);
            zip.readEntry();
          }, reject);
        }),
      );
      zip.readEntry();
    });
  });
}
