import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'annex-key-pairs-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** A private key, as a file, and its self-signed certificate, as PEM. */
export interface KeyPair {
  key: string;
  certificate: string;
}

export const p256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

/** Made by `openssl req`, whose `-newkey` it is told; a P-256 key is made in no time. */
export function newKeyPair(algorithm = p256): KeyPair {
  count += 1;
  const [key, out] = [join(folder, `${count}.key`), join(folder, `${count}.pem`)];
  const args = ['req', '-x509', '-newkey', ...algorithm, '-nodes', '-days', '2', '-subj', '/CN=vm'];
  execFileSync('openssl', [...args, '-keyout', key, '-out', out], { stdio: 'ignore' });
  return { key, certificate: readFileSync(out, 'utf8') };
}

/** That the holder of one key wants the certificate of another, as docs/protocol.md has it: its text is signed. */
export function proofOf({ key }: KeyPair, { certificate }: KeyPair): string {
  return execFileSync('openssl', ['dgst', '-sha256', '-sign', key], { input: certificate }).toString('base64');
}
