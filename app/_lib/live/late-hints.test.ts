import { expect, test } from 'vitest';
import { LateHints } from './late-hints.ts';

const view = (vmId: string) => [['instanceViews', 'get'], { input: { vmId } }];

test('a new query sees changes that arrived while its page was loading', () => {
  const hints = new LateHints();
  hints.heard([{ topic: 'vm', key: 'one' }], 1_000);
  expect(hints.concern(view('one'), 2_000)).toBe(true);
  expect(hints.concern(view('two'), 2_000)).toBe(false);
  expect(hints.concern(view('one'), 12_000)).toBe(false);
  hints.heard('reset', 20_000);
  expect(hints.concern(view('two'), 21_000)).toBe(true);
});
