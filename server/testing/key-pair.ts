import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

const folder = mkdtempSync(join(tmpdir(), 'annex-key-pairs-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** The path of a private key's file, and the key's self-signed certificate as PEM. */
export interface KeyPair {
  key: string;
  certificate: string;
}

export type KeyKind = 'P-256' | 'RSA 1024' | 'RSA 2048';

const commonName = '2.5.4.3';
const signatures = { ec: '1.2.840.10045.4.3.2', rsa: '1.2.840.113549.1.1.11' };
const dayMs = 86_400_000;

/** Creates a key pair. P-256 is the fastest. */
export function newKeyPair(kind: KeyKind = 'P-256'): KeyPair {
  const { publicKey, privateKey } =
    kind === 'P-256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: Number(kind.slice(4)) });
  const algorithm = new AlgorithmIdentifier({ algorithm: kind === 'P-256' ? signatures.ec : signatures.rsa });
  const value = new AttributeValue({ utf8String: 'vm' });
  const name = new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonName, value })])]);
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: new Uint8Array([1, ...randomBytes(15)]).buffer,
    signature: algorithm,
    issuer: name,
    validity: new Validity({ notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + 2 * dayMs) }),
    subject: name,
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), privateKey);
  const der = AsnConvert.serialize(
    new Certificate({
      tbsCertificate,
      signatureAlgorithm: algorithm,
      signatureValue: new Uint8Array(signature).buffer,
    }),
  );
  count += 1;
  const key = join(folder, `${count}.key`);
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return { key, certificate: pemOf(Buffer.from(der)) };
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

/** Signs a text with the key. Returns the signature. */
export function signed({ key }: KeyPair, text: string): string {
  return sign('sha256', Buffer.from(text), readFileSync(key)).toString('base64');
}

/** Returns the signature that proves possession of the old key when a certificate is replaced (docs/protocol.md). */
export function proofOf(before: KeyPair, { certificate }: KeyPair): string {
  return signed(before, certificate);
}
