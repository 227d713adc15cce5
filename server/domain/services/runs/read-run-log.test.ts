import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resources } from '#db/schema/index.ts';
import { testContext } from '#server/testing/context.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { getRun } from './get-run.ts';
import { filterRunLog, readRunLog, searchRunLog } from './read-run-log.ts';

const german = { acceptLanguage: 'de' };
const lines = [
  '+0.014 INFO reading db',
  '+0.100 WARNING slow',
  '+0.200 ERROR {"id":"no_database","params":["mysql/0"]} no database at mysql/0',
  '+0.300 ERROR {"id":"no_text","params":[]} an id without a text',
  'a line of another form',
];

let stage: UnitStage;
let unit: StagedUnit;
let about: { model: string; unit: string; run: string };
beforeAll(async () => {
  stage = await UnitStage.open();
  unit = await stage.unit(await stage.service('blog'));
  for (const [lang, text] of [
    ['en', 'There is no database at {0}.'],
    ['de', 'Auf {0} gibt es keine Datenbank.'],
  ] as const) {
    await stage.ctx.db.insert(resources).values({
      ...{
        handler: 'Acme.Lab.blog',
        version: '1.0.0.0',
        lang,
        revision: 1,
        warnings: [],
        messages: { no_database: text },
      },
      ...{ updatedAt: stage.ctx.now, updatedBy: 'Ada' },
    });
  }
  const run = uuid();
  await unit.begin(run, 'install');
  const body = lines.map((line) => `${line}\n`).join('');
  await unit.agent.call(`/units/${unit.name}/runs/${run}/log`, { method: 'POST', body });
  await unit.end(run, { exitCode: 1, reason: { id: 'no_database', params: ['mysql/0'] } });
  about = { model: 'prod', unit: unit.name, run };
});
afterAll(() => stage.close());

describe('EN-80 the log of a run', () => {
  test('has times, levels, and messages in the reader’s language', async () => {
    const { rows, total, missing } = await readRunLog(stage.ctx, about, german);
    expect({ total, missing }).toEqual({ total: 5, missing: 0 });
    expect(rows.map(({ ms, level, text }) => [ms, level, text])).toEqual([
      [14, 'info', 'reading db'],
      [100, 'warning', 'slow'],
      [200, 'error', 'Auf mysql/0 gibt es keine Datenbank.'],
      [300, 'error', 'an id without a text'],
      [null, null, 'a line of another form'],
    ]);
    expect((await readRunLog(stage.ctx, { ...about, row: 2, count: 1 }, {})).rows).toMatchObject([
      { row: 2, text: 'There is no database at mysql/0.' },
    ]);
  });

  test.each([
    ['messages', [0, 1, 2, 3]],
    ['warning', [1, 2, 3]],
    ['error', [2, 3]],
  ] as const)('shows rows of the level %s', async (level, expected) => {
    const { rows, next, isLast } = await filterRunLog(stage.ctx, { ...about, level }, german);
    expect({ rows: rows.map(({ row }) => row), next, isLast }).toEqual({ rows: expected, next: 5, isLast: true });
  });

  test('is searched ignoring case, times and levels', async () => {
    const rowsOf = async (q: string) => (await searchRunLog(stage.ctx, { ...about, q })).found;
    expect(await rowsOf('DATABASE')).toEqual([2]);
    expect(await rowsOf('ERROR')).toEqual([]);
    expect(await rowsOf('an')).toEqual([3, 4]);
    expect((await searchRunLog(stage.ctx, { ...about, q: 'an', row: 4 })).found).toEqual([4]);
  });

  test('is for operators', async () => {
    const viewer = await testContext({ services: stage.ctx, role: 'viewer' });
    for (const read of [
      readRunLog(viewer, about, {}),
      filterRunLog(viewer, { ...about, level: 'error' }, {}),
      searchRunLog(viewer, { ...about, q: 'x' }),
    ]) {
      await expect(read).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

test('EN-80 a run has its reason in the reader’s language', async () => {
  const messageOf = async (acceptLanguage: string) => (await getRun(stage.ctx, about, { acceptLanguage })).message;
  expect(await messageOf('de-AT')).toMatchObject({ lang: 'de', text: 'Auf mysql/0 gibt es keine Datenbank.' });
  expect(await messageOf('fr')).toMatchObject({ lang: 'en', text: 'There is no database at mysql/0.' });
});
