import { describe, expect, test } from 'vitest';
import { exceptionOf } from '#server/domain/executions/result-of.ts';
import { messageOf } from '#server/domain/executions/shown-execution.ts';
import { resultOf } from '#server/domain/executions/testing/machine.ts';
import { translateExecution } from './execution.ts';
import type { Language } from './languages.ts';

const sentenceOf = (language: Language, code: number | null, more: { reason?: string; state?: 'cancelled' } = {}) => {
  const body = { Message: 'exit code 3', AdditionalInfo: { script: 'install' } };
  const exception = code === null ? null : exceptionOf(resultOf('x', { ErrorCode: code, Body: body }));
  const row = {
    state: more.state ?? 'failed',
    reason: more.reason ?? null,
    errorCode: code,
    exception,
  };
  return translateExecution({ message: messageOf(row as Parameters<typeof messageOf>[0]) }, language).message;
};

const codes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 42, 100, 107];
const reasons = ['cancelled', 'declined', 'expired', 'lost', 'machine-replaced', 'needs-secrets', 'timed-out'];
const faultOfPlan = { IsException: true, Result: { Message: 'no PowerShell' } };

describe.each<Language>(['en', 'de'])('in %s (MU-68)', (language) => {
  test.each(codes)('code %i has a sentence that names the error that the agent reported', (code) => {
    const message = sentenceOf(language, code);
    expect(message?.lang).toBe(language);
    expect(message?.text).not.toContain('execution.');
    expect(message?.text).not.toMatch(/\{\{|\}\}/);
    if (code !== 0) expect(message?.text).toContain('exit code 3');
  });

  test.each(reasons)('the reason %s has a sentence', (reason) => {
    expect(sentenceOf(language, null, { reason: `execution.${reason}` })?.text).toMatch(/^\p{Lu}.+\.$/u);
  });

  test('a fault of the plan without a code has a sentence that names the error', () => {
    const row = { state: 'failed', reason: null, errorCode: null, exception: exceptionOf(faultOfPlan) };
    const message = messageOf(row as Parameters<typeof messageOf>[0]);
    expect(translateExecution({ message }, language).message?.text).toContain('no PowerShell');
  });

  test('an unknown code is shown as a number, and 100 is subtracted from a code of the plan', () => {
    expect(sentenceOf(language, 42)?.text).toContain('42');
    expect(sentenceOf(language, 107)?.text).toMatch(/\b7\b/);
  });
});

test('the portal’s reason comes before the code of a late result', () => {
  expect(sentenceOf('en', 0, { reason: 'execution.lost' })?.id).toBe('execution.lost');
  expect(sentenceOf('en', 1, { state: 'cancelled' })?.id).toBe('execution.cancelled');
});

test('an execution that has not ended has no message', () => {
  expect(sentenceOf('en', null)).toBeNull();
});
