import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Creates a self-signed certificate for a portal on this machine. `file` is its PEM. */
export function selfSigned(folder: string): { key: Buffer; cert: Buffer; file: string } {
  const [key, file] = [join(folder, 'tls.key'), join(folder, 'tls.pem')];
  const names = 'subjectAltName=DNS:portal.test,IP:127.0.0.1';
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'];
  execFileSync('openssl', [...kind, '-subj', '/CN=portal.test', '-addext', names, '-keyout', key, '-out', file], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key), cert: readFileSync(file), file };
}
