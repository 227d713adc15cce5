import { expect, test } from 'vitest';
import { loadConfig } from '#server/platform/env.ts';
import { startWarnings } from './warnings.ts';

const gateway = { ANNEX_GATEWAY_URL: 'https://gateway.example.net' };

test.each([
  ['a gateway address that reaches nothing', gateway, 1],
  ['the same with HOST on another loopback address', { ...gateway, HOST: '::1' }, 1],
  ['a trusted proxy', { ...gateway, ANNEX_TRUST_PROXY: '127.0.0.1' }, 0],
  ['HOST on the network', { ...gateway, HOST: '0.0.0.0' }, 0],
  ['a loopback gateway address', { ANNEX_GATEWAY_URL: 'http://127.0.0.1:3001' }, 0],
  ['the defaults', {}, 0],
])('%s', (_, environment, count) => {
  expect(startWarnings(loadConfig(environment))).toHaveLength(count);
});

test('the warning names the settings to change', () => {
  expect(startWarnings(loadConfig(gateway))[0]).toMatch(/HOST is 127\.0\.0\.1.*Set HOST.*ANNEX_TRUST_PROXY/);
});
