import { expect, test } from 'vitest';
import { firstError, isTail } from './first-error.ts';

test.each([
  ['probe open\nmount.nfs4: access denied by server\ngiving up, error 51', 2, 'mount.nfs4: access denied by server'],
  ['ok\n  ERROR: no space\n', 2, 'ERROR: no space'],
  ['bash: nfsmount: command not found', 1, 'bash: nfsmount: command not found'],
  ['starting\ngiving up\n\n', 2, 'giving up'],
  ['terrorist\nthe end', 2, 'the end'],
])('the first error of %j is found', (output, line, text) => {
  expect(firstError(output)).toEqual({ line, text });
});

test('an empty output has no error', () => {
  expect(firstError('\n \n')).toBeNull();
});

test('lines of a truncated output have no line number', () => {
  expect(isTail('a line of the output\n'.repeat(3))).toBe(false);
  expect(isTail('a line of the output\n'.repeat(190))).toBe(true);
});
