import { expect, test } from 'vitest';
import { placeOfFault } from './place-of-fault.ts';

test('a fault leads to the field of its parameter', () => {
  expect(placeOfFault('/parameters/who')).toEqual({ name: 'who', at: '/who' });
  expect(placeOfFault('/parameters/proxy/port')).toEqual({ name: 'proxy.port', at: '/proxy/port' });
  expect(placeOfFault('/parameters/a~1b')).toEqual({ name: 'a/b', at: '/a~1b' });
  expect(placeOfFault('/secretParameters/token')).toEqual({ name: 'token', at: 'protected:/token' });
});

test.each(['', '/timeoutSeconds', '/parameters'])('the fault at "%s" is about no field', (path) => {
  expect(placeOfFault(path)).toBeNull();
});
