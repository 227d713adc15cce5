import { createInstance } from 'i18next';
import { describe, expect, test } from 'vitest';
import german from '#locales/de/activity.json' with { type: 'json' };
import english from '#locales/en/activity.json' with { type: 'json' };
import { type Say, sentenceOf } from './sentence-of.ts';

describe.each(Object.entries({ en: english, de: german }))('in %s', (lng, activity) => {
  const i18n = createInstance();
  void i18n.init({ lng, resources: { [lng]: { activity } }, defaultNS: 'activity', keySeparator: false });
  const sentence = (action: string, facts: Record<string, string>) =>
    sentenceOf(
      { action, facts, changes: null },
      { vm: 'web-1', reason: '', ...facts, count: 0 },
      i18n.t as unknown as Say,
    );

  test.each(['agent_unidentified', 'counter_jumped', 'renewals_exceeded', 'report_bytes_exceeded'])(
    'the sentence for a rejected call contains the reason, not the code: %s',
    (reason) => {
      const text = sentence('agent.reject', { reason });
      expect(text).toContain('web-1');
      expect(text).not.toContain(reason);
    },
  );

  test('a code that only another release knows is shown unchanged', () => {
    expect(sentence('agent.reject', { reason: 'moon_phase' })).toContain('moon_phase');
    expect(sentence('vm.fly', {})).toContain('vm.fly');
  });
});
