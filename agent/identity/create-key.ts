import { createHash, webcrypto } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import 'reflect-metadata';
import { cryptoProvider, X509CertificateGenerator } from '@peculiar/x509';
import type { AgentLayout } from '../folder/layout.ts';
import { writeAtomically } from '../folder/write-file.ts';

export interface MachineKey {
  /** SHA-1 of the certificate in uppercase hexadecimal, by which handlers find the key. */
  thumbprint: string;
  certificatePem: string;
}

const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2048,
};

/** Creates the machine's key pair and a self-signed certificate. The private key never leaves the machine (AZ-C3). */
export async function createKey(layout: AgentLayout, name: string): Promise<MachineKey> {
  cryptoProvider.set(webcrypto as Crypto);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // Quotes and commas have a special meaning in a distinguished name.
    name: [{ CN: [name.replace(/[^\w .-]/g, '-').slice(0, 64)] }],
    notBefore: new Date(Date.now() - 24 * 3600_000),
    notAfter: new Date(Date.now() + 20 * 365 * 24 * 3600_000),
    signingAlgorithm: algorithm,
    keys: keys as CryptoKeyPair,
  });
  const thumbprint = createHash('sha1').update(new Uint8Array(certificate.rawData)).digest('hex').toUpperCase();
  const certificatePem = `${certificate.toString('pem').trim()}\n`;
  const privateKey = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  mkdirSync(layout.certificates, { recursive: true, mode: 0o700 });
  writeAtomically(join(layout.certificates, `${thumbprint}.prv`), pem('PRIVATE KEY', privateKey), 0o600);
  writeAtomically(join(layout.certificates, `${thumbprint}.crt`), certificatePem, 0o600);
  return { thumbprint, certificatePem };
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
