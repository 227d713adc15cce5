import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as x509 from '@peculiar/x509';

const dayMs = 86_400_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Paths of PEM files: a server's certificate and key, and the certificate of the authority that signed it. */
export interface TlsFiles {
  ca: string;
  cert: string;
  key: string;
}

/** Creates a certificate authority that can issue server certificates. Writes all files to a new folder. */
export async function createAuthority(): Promise<{
  ca: string;
  /** Issues a certificate for a host name. `endsInDays` is negative for a certificate that has expired. */
  issue(host: string, endsInDays?: number): Promise<TlsFiles>;
}> {
  x509.cryptoProvider.set(webcrypto as never);
  const folder = mkdtempSync(path.join(tmpdir(), 'annex-authority-'));
  const keys = await generateKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(30),
    name: 'CN=Annex test authority',
    keys: keys as never,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  const ca = path.join(folder, 'ca.pem');
  writeFileSync(ca, authority.toString('pem'));
  let count = 0;
  return {
    ca,
    async issue(host, endsInDays = 30) {
      count += 1;
      const own = await generateKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        ...validity(endsInDays),
        subject: `CN=${host}`,
        issuer: authority.subject,
        publicKey: own.publicKey as never,
        signingKey: keys.privateKey as never,
        signingAlgorithm: algorithm,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
      });
      const [cert, key] = [path.join(folder, `${count}.pem`), path.join(folder, `${count}.key`)];
      writeFileSync(cert, certificate.toString('pem'));
      const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey));
      const lines = der
        .toString('base64')
        .replaceAll(/(.{64})/g, '$1\n')
        .trimEnd();
      writeFileSync(key, `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`);
      return { ca, cert, key };
    },
  };
}

const validity = (endsInDays: number) => ({
  notBefore: new Date(Date.now() - 10 * dayMs),
  notAfter: new Date(Date.now() + endsInDays * dayMs),
});

const generateKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
