import { expect, test } from 'vitest';
import { Mask } from '../handler/mask.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { isSecretKey, secretTexts } from './secret-keys.ts';

test.each([
  'password',
  'DB_PASSWD',
  'client-secret',
  'apiToken',
  'private_key',
  'privateKey',
  'aws-credentials',
  'salt',
])('%s is the key of a secret', (key) => {
  expect(isSecretKey(key, ['salt'])).toBe(true);
});

test.each(['host', 'pass', 'key', 'public-key', 'Salt'])('%s is not the key of a secret', (key) => {
  expect(isSecretKey(key, ['salt'])).toBe(false);
});

test('a long number is masked with all its digits, and words that are not secrets are not masked', () => {
  expect(secretTexts('12345678901234567890')).toContain('12345678901234567890');
  expect([...secretTexts('true'), ...secretTexts('null'), ...secretTexts('"short"')]).toEqual([]);
});

test('EN-63 what a hook reads or sets while it runs is masked in its output from then on, including in base64', async () => {
  const stage = new UnitStage();
  const mask = new Mask(['known from the start']);
  const hook = stage.begin('run-1');
  const printed = (text: string) => Buffer.concat([mask.push(Buffer.from(text)), mask.end()]).toString();
  expect(printed('correct horse, known from the start')).toBe('correct horse, [masked]');
  await stage.get(hook, 'host');
  expect(stage.learned).toEqual([]);
  await stage.get(hook, 'password');
  await stage.set(hook, '{"salt":{"inner":"deep value"},"other":"public value"}');
  await stage.call('config_get', { client_id: hook, option_name: '' });
  mask.learn(stage.learned);
  const base64 = Buffer.from('correct horse').toString('base64');
  expect(printed(`correct horse ${base64} deep value public value protected 10.0.0.4`)).toBe(
    '[masked] [masked] [masked] public value [masked] 10.0.0.4',
  );
});
