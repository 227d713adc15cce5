import { expect, test } from 'vitest';
import { type KeyOrigin, mayRelease } from './may-release.ts';

const issued = (key: string | null, isAdmin = false, sameKey = false): KeyOrigin => ({
  kind: 'issued',
  issuer: key === null ? null : { key, isAdmin },
  sameKey,
});

test.each<[string, string | null, boolean, KeyOrigin, boolean]>([
  ['the previous key had it and signed the new one', 'user:ada', true, { kind: 'renewed' }, true],
  ['withheld from the previous key, which signed the new one', 'user:ada', false, { kind: 'renewed' }, false],
  ['the issuer set it', 'user:ada', true, issued('user:ada'), true],
  ['the issuer set it before the first enrollment', 'user:ada', false, issued('user:ada'), true],
  ['another operator issued the token', 'user:ada', true, issued('user:eve'), false],
  ['an admin issued the token', 'user:ada', true, issued('user:root', true), true],
  ['an admin issued the token; who set it is unknown', null, true, issued('user:root', true), true],
  ['an operator issued the token; who set it is unknown', null, true, issued('user:ada'), false],
  ['who issued the token is unknown', 'user:ada', true, issued(null), false],
  ['nothing of either is known', null, false, issued(null), false],
  ['the same key again, with a token of another operator', 'user:ada', true, issued('user:eve', false, true), true],
  ['the same key again, from which it is withheld', 'user:ada', false, issued('user:eve', false, true), false],
  ['the same key again, with a token of unknown origin', 'user:ada', true, issued(null, false, true), true],
])('%s', (_, setBy, wasReleased, origin, released) => {
  expect(mayRelease({ setBy, wasReleased }, origin)).toBe(released);
});
