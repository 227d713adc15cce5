import { describe, expect, test } from 'vitest';
import type { SentGates, SentStrategy } from './definition.ts';
import { jsonOf, readJson } from './json-mode.ts';
import { withOwnGates } from './own-gates.ts';
import { emptyForm, inputOf, type RolloutForm } from './rollout-form.ts';
import { strategyOf } from './strategy-of.ts';

const gates: SentGates = {
  ...{ inFlight: { percent: 10 }, ramp: true, soakSeconds: 300, settleSeconds: 600, bakeSeconds: 1_800 },
  ...{ errors: { percent: 5, atLeast: 20 }, success: { percent: 95, atLeast: 1 }, compare: null },
};
const parts: SentStrategy = {
  rings: [
    { name: 'canary', filter: { tags: [{ name: 'ring', value: 'canary' }] } },
    { name: 'tenth', upTo: { percent: 10 } },
    { name: 'all', upTo: { percent: 100 } },
  ],
  gates,
  ...{ silent: 'wait', newcomers: 'ignore', onStepFailure: 'leave', onHalt: 'pause' },
};
const strategies = [{ name: 'careful', parts }];
const form: RolloutForm = {
  ...emptyForm('careful', parts, { tags: [{ name: 'env', value: 'prod' }], handler: 'Acme.Lab.Probe' }),
  name: 'probe 1.1',
  rest: { keepDays: 3 },
};
const read = (text: string, before = form) => readJson(text, before, strategies);

describe('a definition as JSON', () => {
  test('is that of the form, and the form comes back from it', () => {
    const text = jsonOf(form, 'probe');
    expect(JSON.parse(text)).toMatchObject({
      ...{ name: 'probe 1.1', keepDays: 3, select: { include: { tags: ['env=prod'], handler: 'Acme.Lab.Probe' } } },
      rings: [{ filter: { tags: ['ring=canary'] } }, {}, {}],
    });
    const { sent, form: back } = read(text);
    expect(back).toEqual(form);
    expect(sent).toEqual({ kind: 'rollout', ...inputOf(form, 'probe') });
  });

  test('is sent as typed, even with parts that no form has', () => {
    const { sent } = read('{ "name": "x", "select": { "all": true }, "change": {}, "mood": "good" }');
    expect(sent).toEqual({ kind: 'rollout', name: 'x', select: { all: true }, change: {}, mood: 'good' });
  });

  test.each(['', '{', '[]', '3', 'null'])('is not read from %j', (text) => {
    expect(read(text)).toEqual({ text, sent: null, form: null });
  });

  test.each(['{}', '{ "name": "x", "select": [], "change": {} }', '{ "name": 3, "select": {}, "change": {} }'])(
    'of %s is for the portal to reject, and no form shows it',
    (text) => {
      const { sent, form: back } = read(text);
      expect([sent === null, back]).toEqual([false, null]);
    },
  );

  test('has no protected settings that were typed, and they are sent unless it has some', () => {
    const secrets = { mode: 'replace', values: { token: 'hush' }, text: '', unread: false } as const;
    const secret = { ...form, change: { ...form.change, secrets } };
    const text = jsonOf(secret, 'probe');
    expect(text).not.toContain('hush');
    expect(read(text, secret).sent?.change.protectedSettings).toEqual({ token: 'hush' });
    const own = JSON.stringify({ ...JSON.parse(text), change: { kind: 'set', protectedSettings: { token: 'new' } } });
    expect(read(own, secret).form?.change.secrets).toMatchObject({ mode: 'replace', values: { token: 'new' } });
  });
});

test('secret parameters of a run that were typed stay, but are not in the text', () => {
  const run = {
    runbook: 'greet',
    version: '1.0.0',
    parameters: { who: 'w' },
    secrets: { token: 'hush' },
    terms: undefined,
  };
  const secret = { ...form, change: { ...form.change, kind: 'run' as const, run } };
  const text = jsonOf(secret, 'greet');
  expect(text).not.toContain('hush');
  expect(read(text, secret).sent?.change).toMatchObject({ kind: 'run', secretParameters: { token: 'hush' } });
  expect(read(text, secret).form?.change.run).toEqual(run);
});

test('a ring with its own gates keeps them through JSON, and gives them back', () => {
  const rings = withOwnGates(form.rings, 0, { ...gates, soakSeconds: 60, noProgressSeconds: 3_600 });
  expect(rings[0]?.gates).toEqual({ ...gates, soakSeconds: 60 });
  expect(read(jsonOf({ ...form, rings }, '')).form?.rings).toEqual(rings);
  expect(withOwnGates(rings, 0, undefined)).toEqual(form.rings);
});

test('gates that all rings of a stored definition have are shared, and only others are those of a ring', () => {
  const stored = { ...JSON.parse(jsonOf(form, '')), gates: undefined };
  const own = { ...gates, bakeSeconds: 0 };
  stored.rings = stored.rings.map((ring: object, index: number) => ({ ...ring, gates: index === 0 ? own : gates }));
  const { form: back } = read(JSON.stringify(stored));
  expect(back?.gates).toEqual(gates);
  expect(back?.rings.map((ring) => ring.gates)).toEqual([own, undefined, undefined]);
});

test('a strategy has the rings and gates of the form, with filters as they are sent', () => {
  expect(strategyOf(form)).toEqual({
    ...parts,
    rings: [{ name: 'canary', filter: { tags: ['ring=canary'] } }, ...parts.rings.slice(1)],
  });
});
