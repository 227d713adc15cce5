import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encryptForCertificate } from './cms.ts';
import { openPfx } from './pkcs12.ts';

const folder = mkdtempSync(join(tmpdir(), 'annex-pfx-'));
const openssl = (...args: string[]): Buffer =>
  execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

function newPair(name: string): void {
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`];
  openssl(...kind, '-keyout', `${name}.key`, '-out', `${name}.crt`);
}

test('openssl opens the file as the stock agent does, with an empty password', () => {
  newPair('tenant');
  newPair('transport');
  const key = createPrivateKey(read('tenant.key'));
  const pfx = openPfx(key.export({ type: 'pkcs8', format: 'der' }), read('tenant.crt'));
  writeFileSync(join(folder, 'wrapped.der'), encryptForCertificate(read('transport.crt'), pfx));
  const opening = [
    '-decrypt',
    '-inform',
    'DER',
    '-in',
    'wrapped.der',
    '-recip',
    'transport.crt',
    '-inkey',
    'transport.key',
  ];
  openssl('cms', ...opening, '-out', 'tenant.pfx');
  const pem = openssl('pkcs12', '-nodes', '-in', 'tenant.pfx', '-password', 'pass:').toString();
  expect(pem).toContain(read('tenant.crt').trim());
  const found = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/.exec(pem)?.[0] ?? '';
  expect(createPrivateKey(found).equals(key)).toBe(true);
});
