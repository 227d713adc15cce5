import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let lines = '';
  const keep = (line: string): void => {
    lines += line;
  };
  write(createLogger('test', 'info', { write: keep }));
  return lines;
}

test('redacts secrets by property name, at any usual depth', () => {
  const line = logged((log) => {
    log.info(
      {
        headers: { authorization: 'Bearer s3cret', cookie: 's3cret' },
        body: { settings: { protectedSettings: 's3cret' } },
      },
      'x',
    );
    log.info({ token: 's3cret', a: { b: { password: 's3cret' } } }, 'x');
  });
  expect(line).toContain('[redacted]');
  expect(line).not.toContain('s3cret');
});

test('logs a database error without the values of its statement', () => {
  const driver = Object.assign(new Error('invalid input syntax: "s3cret"'), { query: 'insert', detail: 's3cret' });
  const line = logged((log) => log.error({ err: new TypeError('outside', { cause: driver }) }, 'failed'));
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    room: 'test',
    err: { type: 'TypeError', message: 'outside' },
  });
  expect(line).not.toContain('s3cret');
});
