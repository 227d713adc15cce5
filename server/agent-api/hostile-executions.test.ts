import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outputPieces } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { queueExecution, readLog } from '#server/domain/executions/index.ts';
import { logOf } from '#server/domain/executions/testing/bound-vm.ts';
import { givenMachine } from '#server/domain/executions/testing/machine.ts';
import { type AgentDoor, givenAgent, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';

/*
 * Hostile plans at the operators' door, and hostile requests at the agents' door. Each row names its case and the
 * expected answer. What plans do on a machine is tested in agent/hostile-executions.test.ts.
 */
let door: AgentDoor;
let admin: Context;
let vmId: string;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
  vmId = (await givenAgent(admin, door, 'hostile-plans')).vmId;
});
afterAll(() => door.close());

const long = 'x'.repeat(257);
const letters = (count: number) => Array.from({ length: count }, (_, index) => String.fromCodePoint(0x10_000 + index));
const json = (rest: object) => JSON.stringify({ FormatVersion: '2.0.0', ...rest });
const script = (rest: object) => json({ Scripts: { s: { Type: 'Bash', EntryPoint: 'f', ...rest } } });
const named = (name: string) =>
  json({
    Scripts: { [name]: { Type: 'Bash', EntryPoint: 'f' } },
    Files: { f: { Name: 'f', BodyType: 'Text', Body: '' } },
  });

/** Returns how the portal answers a plan: `queued`, or the error with its code and the paths of its faults. */
async function answerTo(text: string): Promise<unknown[]> {
  try {
    await queueExecution({ ...admin, now: new Date() }, { vmId, plan: text });
    return ['queued'];
  } catch (thrown) {
    const {
      code,
      params,
      faults = [],
    } = thrown as {
      code: string;
      params?: { code?: number };
      faults?: { path: string; code: string }[];
    };
    return [code, params?.code ?? null, faults.slice(0, 2).map(({ path, code: fault }) => `${path} ${fault}`)];
  }
}

describe('a hostile plan at the operators’ door', () => {
  test.each<[number: number, what: string, text: string, answer: unknown[]]>([
    [1, 'of 5 MiB', json({ Name: 'x'.repeat(5 << 20) }), ['json_too_large', null, []]],
    [
      2,
      'nested 10,000 levels',
      `{"FormatVersion":"2.0.0","Parameters":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
      ['invalid', null, [expect.stringMatching(/ json_too_deep$/)]],
    ],
    [
      3,
      'with __proto__ as the name of a parameter',
      '{"FormatVersion":"2.0.0","Parameters":{"__proto__":{"polluted":1},"constructor":2}}',
      ['queued'],
    ],
    [4, 'with a script named args', named('args'), ['plan_invalid', 2, ['/Scripts/args plan_script_name']]],
    [4, 'with a script named api', named('api'), ['plan_invalid', 2, ['/Scripts/api plan_script_name']]],
    [4, 'with a script named scripts', named('scripts'), ['queued']],
    [4, 'with a script named class', named('class'), ['queued']],
    [4, 'with a script named __body__', named('__body__'), ['queued']],
    [
      5,
      'with a property twice',
      '{"FormatVersion":"2.0.0","Name":"a","Name":"b"}',
      ['invalid', null, ['/Name json_duplicate_key']],
    ],
    [
      6,
      'with half of a character pair',
      '{"FormatVersion":"2.0.0","Name":"\\ud800"}',
      ['invalid', null, ['/Name json_character']],
    ],
    [
      6,
      'with a NUL character',
      '{"FormatVersion":"2.0.0","Name":"a\\u0000"}',
      ['invalid', null, ['/Name json_character']],
    ],
    [6, 'with a name of 257 characters', json({ Name: long }), ['plan_invalid', 2, ['/Name field_too_long']]],
    [6, 'with a service of 257 characters', json({ Service: long }), ['plan_invalid', 2, ['/Service field_too_long']]],
    [
      11,
      'with the EntryPoint __proto__',
      script({ EntryPoint: '__proto__' }),
      ['plan_invalid', 7, ['/Scripts/s/EntryPoint plan_file_missing']],
    ],
    [
      11,
      'with an array as EntryPoint',
      script({ EntryPoint: [] }),
      ['plan_invalid', 2, ['/Scripts/s/EntryPoint field_not_text']],
    ],
    [
      12,
      'with an unknown option',
      named('s').replace('"EntryPoint"', '"Options":{"retry":1},"EntryPoint"'),
      ['plan_invalid', 5, ['/Scripts/s/Options/retry field_unknown']],
    ],
    [
      12,
      'with a negative timeout',
      named('s').replace('"EntryPoint"', '"Options":{"timeout":-1},"EntryPoint"'),
      ['plan_invalid', 5, ['/Scripts/s/Options/timeout field_too_small']],
    ],
    [
      14,
      'with a version of 9,999 digits',
      json({ FormatVersion: '9'.repeat(9_999) }),
      ['plan_invalid', 2, ['/FormatVersion plan_semver']],
    ],
    [
      15,
      'with 100,000 scripts whose names are one letter each',
      json({ Scripts: Object.fromEntries(letters(100_000).map((letter) => [letter, {}])) }),
      ['plan_invalid', 2, ['/Scripts field_too_many']],
    ],
  ])('case %i: a plan %s', async (_, __, text, answer) => {
    expect(await answerTo(text)).toEqual(answer);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('hostile requests at the agents’ door', () => {
  /** Returns a machine that has fetched its execution. */
  async function begun() {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    await machine.progress(id);
    return { machine, id };
  }
  const range = (from: number, bytes: Buffer, total = '*') => ({
    'content-range': `bytes ${from}-${from + bytes.length - 1}/${total}`,
  });

  longTest('case 23: a later piece of a transcript replaces the bytes that it overlaps', async () => {
    const { machine, id } = await begun();
    const [first, second] = ['[1,"out",0,"aa"]\n', '[1,"out",0,"bb"]\n'];
    await machine.transcript(id, first);
    expect((await machine.transcript(id, second, range(0, Buffer.from(second)))).status).toBe(204);
    const { rows } = await readLog(admin, { vmId: machine.vmId, executionId: id, row: 0 });
    expect(rows.map(({ text }) => text)).toEqual(['bb']);
  });

  longTest('case 23: a piece beyond 64 MiB and a compressed bomb are rejected', async () => {
    const { machine, id } = await begun();
    const byte = Buffer.from('x');
    const far = await machine.transcript(id, byte, range(64 << 20, byte));
    const bomb = gzipSync(Buffer.alloc(80 << 20));
    const bombed = await machine.transcript(id, bomb, { 'content-encoding': 'gzip' });
    expect([far.status, bombed.status]).toEqual([413, 413]);
  });

  test('case 23: a transcript with very many gaps is rejected', async () => {
    const { machine, id } = await begun();
    const byte = Buffer.from('x');
    await machine.transcript(id, byte, range(0, byte));
    const [piece] = await admin.db.select().from(outputPieces).where(eq(outputPieces.vmId, machine.vmId));
    if (piece === undefined) throw new Error('nothing is kept');
    const others = Array.from({ length: 1_300 }, (_, index) => 2 * index + 2);
    await admin.db.insert(outputPieces).values(others.map((start) => ({ ...piece, start, until: start + 1 })));
    const refused = await machine.transcript(id, byte, range(9_000, byte));
    expect([refused.status, await refused.json()]).toEqual([
      422,
      expect.objectContaining({ code: 'output_scattered' }),
    ]);
  });

  test('case 29: of two different results at the same moment, one is kept', async () => {
    const { machine, id } = await begun();
    const both = await Promise.all([machine.result(id, id, { Body: 'a' }), machine.result(id, id, { Body: 'b' })]);
    expect(both.map(({ status }) => status)).toEqual([204, 204]);
    expect(await machine.get(id)).toMatchObject({ state: 'succeeded', repeats: 1 });
  });

  longTest('case 31: calls for the next execution without end get one execution, and are limited', async () => {
    const limited = await openTestDoor({ vmRate: 20 });
    try {
      const ctx = await testContext({ services: limited.ctx, role: 'admin' });
      const machine = await givenMachine(ctx, limited.door);
      const { id } = await machine.queue();
      await machine.queue();
      const answers = await Promise.all(Array.from({ length: 300 }, () => machine.agent.call('/executions/next')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
      const given = await Promise.all(answers.filter(({ status }) => status === 200).map((answer) => answer.json()));
      expect(new Set(given.map((envelope) => (envelope as { id: string }).id))).toEqual(new Set([id]));
    } finally {
      await limited.door.close();
    }
  });

  test('numbers and IDs that the database cannot store are rejected, and the report after them is stored', async () => {
    const { machine, id } = await begun();
    const call = { n: 1, script: 'hello', function: null, state: 'running', row: 2, atMs: 12 };
    const refused = [
      await machine.progress(id, 'running', { run: 2 ** 31 }),
      ...(await Promise.all(
        [{ row: 2 ** 31 }, { untilRow: 2 ** 53 - 1 }, { exitCode: 2 ** 31 }].map((odd) =>
          machine.progress(id, 'running', { calls: [{ ...call, ...odd }] }),
        ),
      )),
      await machine.agent.call(`/executions/${id}/messages`, {
        method: 'POST',
        body: JSON.stringify(logOf(Array.from({ length: 1_000 }, () => randomUUID()).join(''))),
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
    expect((await machine.progress(id, 'running', { calls: [{ ...call, exitCode: -1 }] })).status).toBe(204);
  });
});
