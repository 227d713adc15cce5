import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { checkParameterSchema, checkParameters, type GivenParameters } from './check-parameters.ts';
import { chooseRunbookVersion, saveRunbookVersion, withdrawRunbookVersion } from './index.ts';
import { judgePlan } from './judge-plan.ts';
import type { ParameterSchema } from './parameters.ts';
import { freshName, givenRunbook, greeting, patient } from './testing/given-runbook.ts';

let author: Context;
beforeAll(async () => {
  author = patient(await testContext({ role: 'operator', scripts: true }));
});

type Rejection = { code: string; faults: { path: string; code: string; params?: object }[] };

/** Returns the faults of a rejected call, and an empty list if the call is accepted. */
const faultsOf = (call: Promise<unknown>): Promise<string[]> =>
  call.then(
    () => [],
    (error: Rejection) => error.faults.map(({ path, code }) => `${path} ${code}`),
  );

const schema: ParameterSchema = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 9 },
    mode: { enum: ['fast', 'safe'] },
    sites: { type: 'array', items: { type: 'string', maxLength: 3 } },
    login: { type: 'object', properties: { user: {}, password: { type: 'string', minLength: 8, writeOnly: true } } },
  },
  required: ['size', 'login'],
};
const check = (given: Partial<GivenParameters>) =>
  faultsOf(checkParameters(author, schema, { planParameters: {}, parameters: {}, secretParameters: {}, ...given }));

describe('parameters are checked as one object', () => {
  const login = { user: 'ada', password: 'hunter2-hunter2' };

  test('from the plan, the request and the secret parameters', async () => {
    expect(await check({ parameters: { size: 1 }, secretParameters: { login } })).toEqual([]);
    expect(await check({ planParameters: { size: 1 }, secretParameters: { login } })).toEqual([]);
    expect(await check({ planParameters: { size: 99 }, parameters: { size: 2 }, secretParameters: { login } })).toEqual(
      [],
    );
  });

  test('each fault is at the place in the request', async () => {
    const parameters = { size: 10, mode: 'slow', sites: ['a', 'long'] };
    expect(await check({ parameters, secretParameters: { login } })).toEqual([
      '/parameters/size setting_maximum',
      '/parameters/mode setting_choice',
      '/parameters/sites/1 setting_long',
    ]);
  });

  test('a fault inside a secret parameter is at its name, and does not repeat its value', async () => {
    const secretParameters = { login: { user: 'ada', password: 'hunter2' } };
    const error = await checkParameters(author, schema, {
      ...{ planParameters: {}, parameters: { size: 1 }, secretParameters },
    }).catch((reason: Rejection) => reason);
    expect(error).toMatchObject({
      code: 'parameters_invalid',
      faults: [{ path: '/secretParameters/login', code: 'setting_short' }],
    });
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  test('a secret parameter that is missing is a fault among the secret ones', async () => {
    expect(await check({ parameters: { size: 1 } })).toEqual(['/secretParameters/login setting_required']);
  });

  test('a plain parameter may be given as a secret one', async () => {
    expect(await check({ secretParameters: { login, size: 3 } })).toEqual([]);
    expect(await check({ secretParameters: { login, size: 10 } })).toEqual(['/secretParameters/size setting_maximum']);
  });
});

describe('a schema of parameters', () => {
  test('is accepted with references into itself', async () => {
    const inside = { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string', writeOnly: true } } };
    expect(await faultsOf(checkParameterSchema(author, inside))).toEqual([]);
  });

  test('is rejected when it is too large', async () => {
    const large = { description: 'x'.repeat(author.config.limits.settings.schemaBytes) };
    expect(await faultsOf(checkParameterSchema(author, large))).toEqual(['/parameters schema_too_large']);
  });
});

describe('the version that runs', () => {
  const choose = (name: string, version?: string, ctx = author) =>
    chooseRunbookVersion(ctx, { name, version }).then(
      (row) => row.version,
      (error: Rejection) => error.code,
    );

  test('is the newest published one, and skips drafts and withdrawn versions', async () => {
    const { name } = await givenRunbook(author, { version: '1.0.0' });
    await givenRunbook(author, { name, version: '1.2.0' });
    await givenRunbook(author, { name, version: '2.0.0-rc.1', draft: true });
    expect(await choose(name)).toBe('1.2.0');
    await withdrawRunbookVersion(author, { name, version: '1.2.0', reason: 'x' });
    expect(await choose(name)).toBe('1.0.0');
    expect(await choose(name, '1.2.0')).toBe('runbook_withdrawn');
    expect(await choose(name, '2.0.0-rc.1')).toBe('2.0.0-rc.1');
    const operator = await testContext({ services: author, role: 'operator' });
    expect(await choose(name, '2.0.0-rc.1', operator)).toBe('scripts_forbidden');
  });

  test('does not exist for an unknown runbook, an unknown version, or without a published version', async () => {
    const { name } = await givenRunbook(author, { draft: true });
    expect(await choose(name)).toBe('runbook_not_published');
    expect(await choose(name, '9.9.9')).toBe('runbook_version_unknown');
    expect(await choose(freshName())).toBe('runbook_unknown');
    expect(await choose('__proto__', 'constructor')).toBe('runbook_unknown');
  });
});

test('two authors who save the same version at the same moment create it once', async () => {
  const name = freshName();
  const saves = Array.from({ length: 4 }, () =>
    saveRunbookVersion(author, { name, version: '1.0.0', title: 'Greet', plan: greeting }),
  );
  expect((await Promise.all(saves)).filter(({ isNew }) => isNew)).toHaveLength(1);
});

describe('a plan', () => {
  test('is judged as text and as a value alike', () => {
    for (const given of [greeting, JSON.stringify(greeting)]) {
      expect(judgePlan(given, null)).toMatchObject({ converted: false, plan: { version: '0.0.0' } });
    }
    expect(judgePlan(greeting, { Bash: { version: '5.2' } })).toMatchObject({ code: 3 });
  });

  test.each([
    ['{"FormatVersion":"2.0.0","Body":"a","Body":"b"}', 'invalid'],
    [`{"FormatVersion":"2.0.0","Body":"${'x'.repeat(5 * 1024 * 1024)}"}`, 'json_too_large'],
  ])('is rejected before it is read: %.40s', (text, code) => {
    expect(() => judgePlan(text, null)).toThrow(expect.objectContaining({ code }));
  });
});
