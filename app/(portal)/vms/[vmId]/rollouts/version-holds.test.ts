import { expect, test } from 'vitest';
import german from '#locales/de/memberships.json' with { type: 'json' };
import english from '#locales/en/memberships.json' with { type: 'json' };
import { versionHolds } from '#server/domain/rollout-rules/words.ts';
import { sentenceOf } from './version-holds.ts';

const held = { code: 'turn' as const, fault: null, version: null, rollout: null, step: null };

test('every hold has a sentence in English and German', () => {
  for (const words of [english, german]) {
    for (const code of versionHolds) expect(words).toHaveProperty([`version.held.${sentenceOf({ ...held, code })}`]);
  }
});

test.each([
  [{ ...held, step: { state: 'queued' as const, cause: null } }, 'turn'],
  [{ ...held, step: { state: 'parked' as const, cause: 'silent' } }, 'turn.parked'],
  [{ ...held, step: { state: 'soaking' as const, cause: null } }, 'turn.now'],
  [{ ...held, code: 'secrets' as const, fault: 'secrets_required' }, 'secrets'],
  [{ ...held, code: 'secrets' as const, fault: 'secrets_need_release' }, 'secrets.release'],
  [{ ...held, code: 'refused' as const, fault: 'vm_decommissioning' }, 'decommissioning'],
  [{ ...held, code: 'refused' as const, fault: 'platform_unsupported' }, 'refused'],
])('%o is the sentence %s', (given, sentence) => {
  expect(sentenceOf(given)).toBe(sentence);
});
