import { expect, test } from 'vitest';
import { exceptionOf, linesOfStack, shownText } from './result.ts';

test('an exception is shown with its causes, whatever else the agent sent', () => {
  const body = {
    Message: 'Installation failed.',
    Type: 'RuntimeError',
    Stack: ['<plan>:20 in Body: raise RuntimeError()', 7],
    Causes: [{ Message: 'apply ended with exit code 3', Type: 'ScriptError' }, 'no exception'],
  };
  const exception = exceptionOf(body);
  expect(exception?.Stack).toEqual(['<plan>:20 in Body: raise RuntimeError()']);
  expect(exception?.Causes.map(({ Message }) => Message)).toEqual(['apply ended with exit code 3']);
  expect(linesOfStack(exception?.Stack ?? [])).toEqual([20]);
});

test.each([['a text'], [null], [['Message']], [{ message: 'lower case' }]])('%j is not an exception', (body) => {
  expect(exceptionOf(body)).toBeNull();
});

test('a large value is cut', () => {
  expect(shownText('x'.repeat(100_001))).toMatchObject({ isCut: true, language: 'text' });
  expect(shownText({ files: 14 })).toEqual({ text: '{\n  "files": 14\n}', isCut: false, language: 'json' });
});
