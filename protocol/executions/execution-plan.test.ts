import { describe, expect, test } from 'vitest';
import { formatOf, readExecutionPlan } from './execution-plan.ts';
import { corpusPlatforms, planCorpus } from './testing/plan-corpus.ts';

const read = (text: string, platforms = corpusPlatforms) => readExecutionPlan(JSON.parse(text), { platforms, id: 'x' });

describe('the validation of plans (MU-2, MU-22)', () => {
  test.each(planCorpus)('$name', ({ text, code, paths }) => {
    const result = read(text);
    expect('faults' in result ? [result.code, result.faults.map(({ path }) => path)] : [0, []]).toEqual([code, paths]);
  });

  test('checks a format of 9,999 digits in less than 10 ms', () => {
    const plan = { FormatVersion: '9'.repeat(9_999) };
    readExecutionPlan(plan);
    const begun = performance.now();
    readExecutionPlan(plan);
    expect(performance.now() - begun).toBeLessThan(10);
  });

  test('faults repeat only names and versions from the plan', () => {
    const result = read(
      '{"FormatVersion":"2.0.0","Body":7,"Files":{"f1":{"Name":"/secret","BodyType":"x","Body":"s3cret"}}}',
    );
    expect(JSON.stringify(result)).not.toContain('s3cret');
  });

  test('returns at most 1,000 faults', () => {
    const scripts = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [
        `s${index}`,
        { Type: 'Bash', EntryPoint: 'f', Files: Array(100).fill(1) },
      ]),
    );
    const result = readExecutionPlan({ FormatVersion: '2.0.0', Scripts: scripts });
    expect('faults' in result && result.faults.length).toBe(1_000);
  });
});

test('without known platforms, no type is rejected', () => {
  const plan = {
    FormatVersion: '2.0.0',
    Scripts: { a: { Type: 'Fish', EntryPoint: 'f', Version: '9' } },
    Files: { f: { Name: 'a', BodyType: 'Text', Body: '' } },
  };
  expect(readExecutionPlan(plan)).toMatchObject({ converted: false });
  expect(readExecutionPlan(plan, { platforms: {} })).toMatchObject({ code: 3 });
});

test('a plan is read with its defaults', () => {
  const text = JSON.stringify({
    FormatVersion: '2.0.0',
    Scripts: { hello: { Type: 'Bash', EntryPoint: 'f1' } },
    Files: { f1: { Name: 'a.sh', BodyType: 'Text', Body: 'true' } },
  });
  expect(read(text)).toEqual({
    converted: false,
    plan: {
      formatVersion: '2.0.0',
      id: 'x',
      stamp: null,
      name: null,
      version: '0.0.0',
      service: null,
      body: null,
      parameters: {},
      scripts: new Map([
        [
          'hello',
          {
            type: 'Bash',
            version: null,
            entryPoint: 'f1',
            files: [],
            options: {
              verifyExitcode: true,
              captureStdout: true,
              captureStderr: true,
              environment: {},
              reboots: false,
              shell: 'bash',
            },
          },
        ],
      ]),
      files: new Map([['f1', { name: 'a.sh', bodyType: 'Text', body: 'true', sha256: null }]]),
      replyTo: null,
    },
  });
});

test.each(['__proto__', 'constructor'])('a parameter named %s is an ordinary one', (name) => {
  const result = read(`{"FormatVersion":"2.0.0","Parameters":{"${name}":{"polluted":true}}}`);
  if ('faults' in result) throw new Error('the plan was refused');
  expect(Object.keys(result.plan.parameters)).toEqual([name]);
  expect({}).not.toHaveProperty('polluted');
});

test.each([
  ['1.9.9', 'v-current'],
  ['2.0.0-rc.1', 'v-current'],
  ['2.0.0', 'v-next'],
  ['2.0.0-0', 'v-current'],
  ['3.0.0-alpha', 'newer'],
  ['latest', 'invalid'],
])('format %s is %s (MU-22)', (version, format) => {
  expect(formatOf({ FormatVersion: version })).toBe(format);
});
