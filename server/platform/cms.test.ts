import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encryptForCertificate, readSealingCertificate } from './cms.ts';

const plain = Buffer.from(JSON.stringify({ password: 'käse & brot', nested: { n: 1 } }));
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'annex-cms-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function certificate(name: string, ...algorithm: string[]): { pem: string; key: string } {
  const key = path.join(dir, `${name}.key`);
  const pem = execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      ...algorithm,
      '-nodes',
      '-keyout',
      key,
      '-days',
      '2',
      '-subj',
      `/O=Größe/CN=${name}`,
      '-utf8',
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString();
  return { pem, key };
}

function open(tool: 'cms' | 'smime', sealed: Buffer, key: string): Buffer {
  const file = path.join(dir, 'sealed.der');
  writeFileSync(file, sealed);
  return execFileSync('openssl', [tool, '-decrypt', '-inform', 'DER', '-in', file, '-inkey', key]);
}

describe('AZ-C2 protected settings are encrypted for the VM’s certificate', () => {
  test('RSA: openssl cms and openssl smime return exactly the same bytes', () => {
    const { pem, key } = certificate('rsa', 'rsa:2048');
    const sealed = encryptForCertificate(pem, plain);
    expect(open('cms', sealed, key)).toEqual(plain);
    expect(open('smime', sealed, key)).toEqual(plain);
    expect(sealed.includes('brot')).toBe(false);
  });

  test('P-256: openssl cms returns exactly the same bytes', () => {
    const { pem, key } = certificate('ec', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1');
    expect(open('cms', encryptForCertificate(pem, plain), key)).toEqual(plain);
  });

  test('the thumbprint is the SHA-1 that openssl prints', () => {
    const { pem } = certificate('thumb', 'rsa:2048');
    const printed = execFileSync('openssl', ['x509', '-noout', '-fingerprint', '-sha1'], { input: pem }).toString();
    expect(readSealingCertificate(pem)?.thumbprint).toBe(printed.split('=')[1]?.trim().replaceAll(':', ''));
  });
});

describe('certificates that cannot be used for encryption', () => {
  test.each([
    ['RSA of 1024 bits', ['rsa:1024']],
    ['P-384', ['ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1']],
    ['Ed25519', ['ed25519']],
  ])('%s', (_, algorithm) => {
    expect(readSealingCertificate(certificate('weak', ...algorithm).pem)).toBeNull();
  });

  test('a text that does not contain a certificate', () => {
    expect(readSealingCertificate('hello')).toBeNull();
    expect(readSealingCertificate('')).toBeNull();
  });
});
