import { expect, test } from 'vitest';
import { termsFrom } from '../../vms/[vmId]/executions/new/terms.ts';
import type { SentStrategy } from './definition.ts';
import { definitionOf } from './definition-of.ts';
import { formOf } from './read-form.ts';
import { emptyForm, inputOf, missingPart, type RolloutForm } from './rollout-form.ts';
import { forRuns } from './run-parts.ts';

const parts: SentStrategy = {
  rings: [
    { name: 'tenth', upTo: { percent: 10 } },
    { name: 'all', upTo: { percent: 100 } },
  ],
  gates: {
    inFlight: { percent: 10 },
    ramp: true,
    soakSeconds: 300,
    settleSeconds: 600,
    bakeSeconds: 1800,
    errors: { percent: 5, atLeast: 20 },
    success: { percent: 95, atLeast: 1 },
    compare: null,
  },
  silent: 'wait',
  newcomers: 'ignore',
  onStepFailure: 'leave',
  onHalt: 'pause',
};

const prod = { tags: [{ name: 'env', value: 'prod' }], handler: 'Acme.Lab.Probe' };

function formWith(change: Partial<RolloutForm['change']>): RolloutForm {
  const form = emptyForm('careful', parts, prod);
  return { ...form, change: { ...form.change, ...change } };
}

test('RO-1 a form without a filter selects nothing, and is not planned', () => {
  expect(missingPart(emptyForm('careful', parts))).toBe('target');
  expect(missingPart({ ...emptyForm('careful', parts), target: 'all' })).toBe('handler');
});

test('the filter of the VM list chooses the handler', () => {
  expect(emptyForm('careful', parts, prod).change.handler).toBe('Acme.Lab.Probe');
  expect(missingPart(formWith({}))).toBe('change');
  expect(missingPart(formWith({ kind: 'remove' }))).toBeNull();
});

test('RO-3 sends only what was set', () => {
  const { change, select } = inputOf(formWith({ version: '1.1.0.0', settings: { level: 'info', old: null } }), 'probe');
  expect(change).toEqual({
    kind: 'set',
    handler: 'Acme.Lab.Probe',
    extension: null,
    version: '1.1.0.0',
    state: null,
    publicSettings: { merge: { level: 'info', old: null } },
    onAbsent: 'skip',
    allowLower: false,
  });
  expect(select).toEqual({ include: { tags: ['env=prod'], handler: 'Acme.Lab.Probe' } });
});

test('protected settings are sent as a whole, as null to remove them, or not at all', () => {
  const sent = (secrets: RolloutForm['change']['secrets']) => inputOf(formWith({ secrets }), 'probe').change;
  expect(sent({ mode: 'keep' })).not.toHaveProperty('protectedSettings');
  expect(sent({ mode: 'remove' }).protectedSettings).toBeNull();
  expect(sent({ mode: 'replace', values: { token: 's' }, text: '', unread: false }).protectedSettings).toEqual({
    token: 's',
  });
});

test('an unnamed rollout has the suggested name', () => {
  expect(inputOf(formWith({ kind: 'retry' }), 'Retry Probe').name).toBe('Retry Probe');
});

test('reads a stored definition back unchanged', () => {
  const form = { ...formWith({ version: '1.1.0.0' }), name: 'probe 1.1', exclude: { q: 'db' }, rest: { keepDays: 7 } };
  const input = inputOf(form, '');
  const stored = definitionOf({ definition: input, name: 'probe 1.1', note: null });
  expect(inputOf(formOf(stored, parts), '')).toEqual(input);
});

test('a run needs a runbook and its parameters, and sends nothing that a run has no use for', () => {
  const run = { runbook: 'greet', version: '1.0.0', parameters: { who: 'w' }, secrets: {}, terms: undefined };
  const unused: Partial<SentStrategy> = { silent: 'declare', onStepFailure: 'revert', onHalt: 'revert' };
  const compare = { minEffectPercent: 1, minPairs: 50, onTooFew: 'goOn' as const };
  const form = { ...formWith({ kind: 'run', run }), ...unused, gates: { ...parts.gates, compare } };
  expect(missingPart({ ...form, change: { ...form.change, run: { ...run, runbook: '' } } })).toBe('runbook');
  expect(missingPart({ ...form, change: { ...form.change, run: { ...run, parameters: null } } })).toBe('parameters');
  expect(missingPart(form)).toBeNull();
  const sent = inputOf(form, 'Run greet');
  expect(sent.change).toEqual({ kind: 'run', runbook: 'greet', version: '1.0.0', parameters: { who: 'w' } });
  expect(sent).toMatchObject({ silent: 'wait', onStepFailure: 'leave', onHalt: 'pause', gates: { compare: null } });
  expect(formOf({ ...sent, name: 'Run greet' } as never, parts).change.run).toEqual(run);
});

test('a run has the time limits that were entered, and cannot be planned while the timeout is invalid', () => {
  const terms = termsFrom({ timeoutSeconds: 5_400, validForSeconds: 3_600 });
  const run = { runbook: 'greet', version: '1.0.0', parameters: {}, secrets: {}, terms };
  const sent = inputOf(formWith({ kind: 'run', run }), 'Run greet');
  expect(sent.change).toMatchObject({ timeoutSeconds: 5_400, validForSeconds: 3_600 });
  expect(formOf(sent as never, parts).change).toMatchObject({ run, rest: {} });
  const invalid = formWith({ kind: 'run', run: { ...run, terms: { ...terms, time: 'soon' } } });
  expect(missingPart(invalid)).toBe('timeout');
});

test('for a run, a strategy soaks nothing and compares nothing', () => {
  expect(forRuns(parts)).toMatchObject({ gates: { soakSeconds: 0, compare: null, bakeSeconds: 1800 } });
});
