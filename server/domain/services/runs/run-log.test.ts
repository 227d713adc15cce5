import { gzipSync } from 'node:zlib';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listOutputs } from '#server/domain/logs/index.ts';
import { testContext } from '#server/testing/context.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { readRunOutput } from './list-runs.ts';

let stage: UnitStage;
let service: string;
beforeAll(async () => {
  stage = await UnitStage.open();
  service = await stage.service('blog');
});
afterAll(() => stage.close());

async function begun(): Promise<{ unit: StagedUnit; run: string }> {
  const [unit, run] = [await stage.unit(service), uuid()];
  await unit.begin(run, 'install');
  return { unit, run };
}
const send = (
  { unit, run }: { unit: StagedUnit; run: string },
  body: string | Buffer,
  headers: Record<string, string> = {},
) =>
  unit.agent.call(`/units/${unit.name}/runs/${run}/log`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body)),
    headers,
  });
const rows = async ({ unit, run }: { unit: StagedUnit; run: string }, more: object = {}) => {
  const { rows: all } = await readRunOutput(stage.ctx, { model: 'prod', unit: unit.name, run, ...more });
  return all.map((row) => (row.kind === 'line' ? row.text : `${row.bytes} bytes missing`));
};

test('EN-23 parts arrive in any order, even compressed, and what is missing is shown', async () => {
  const of = await begun();
  expect(await rows(of), 'nothing has arrived').toEqual([]);
  const [first, second] = ['+0.1 INFO one\n', '+0.2 ERROR two\n'];
  const range = `bytes ${first.length}-${first.length + second.length - 1}/${first.length + second.length}`;
  const answer = await send(of, gzipSync(second), { 'content-encoding': 'gzip', 'content-range': range });
  expect([answer.status, answer.headers.get('annex-output-bytes')]).toEqual([204, '0']);
  expect(await rows(of)).toEqual([`${first.length} bytes missing`, '+0.2 ERROR two']);
  await send(of, first, { 'content-range': `bytes 0-${first.length - 1}/*` });
  expect(await rows(of)).toEqual(['+0.1 INFO one', '+0.2 ERROR two']);
  expect(await rows(of, { row: 1, count: 1 })).toEqual(['+0.2 ERROR two']);
});

test('EN-23 output arrives even after the hook failed, and after the unit was removed', async () => {
  const of = await begun();
  await of.unit.end(of.run, { exitCode: 1 });
  expect((await send(of, '+0.1 ERROR late\n')).status).toBe(204);
  await stage.ctx.db.execute(`update units set removed_at = now() where id = '${of.unit.id}'`);
  expect((await send(of, '+0.1 ERROR late\n+0.2 INFO end\n')).status).toBe(204);
  expect(await rows(of)).toEqual(['+0.1 ERROR late', '+0.2 INFO end']);
});

test('each run has its output, and outputs of hooks are not outputs of extensions', async () => {
  const of = await begun();
  await send(of, 'first\n');
  const again = { ...of, run: uuid() };
  await of.unit.begin(again.run, 'install', { attempt: 2 });
  await send(again, 'second\n');
  expect([await rows(of), await rows(again)]).toEqual([['first'], ['second']]);
  expect((await listOutputs(stage.ctx, { vmId: of.unit.vmId })).items).toEqual([]);
});

test('output is for operators, and only of runs of the unit', async () => {
  const [of, other] = [await begun(), await begun()];
  const viewer = await testContext({ services: stage.ctx, role: 'viewer' });
  const input = { model: 'prod', unit: of.unit.name, run: of.run };
  await expect(readRunOutput(viewer, input)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(readRunOutput(stage.ctx, { ...input, run: other.run })).rejects.toMatchObject({ code: 'run_unknown' });
  expect((await send({ unit: of.unit, run: other.run }, 'x\n')).status).toBe(404);
});
