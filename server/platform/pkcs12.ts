import { createHash, createHmac, randomBytes, X509Certificate } from 'node:crypto';
import { ContentInfo } from '@peculiar/asn1-cms';
import {
  AuthenticatedSafe,
  CertBag,
  id_certBag,
  id_keyBag,
  id_x509Certificate,
  MacData,
  PFX,
  SafeBag,
  SafeContents,
} from '@peculiar/asn1-pfx';
import { DigestInfo } from '@peculiar/asn1-rsa';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier } from '@peculiar/asn1-x509';

const oid = {
  data: '1.2.840.113549.1.7.1',
  sha256: '2.16.840.1.101.3.4.2.1',
} as const;

const own = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
const der = (value: unknown): ArrayBuffer => AsnConvert.serialize(value);
const octets = (bytes: Uint8Array): OctetString => new OctetString(own(bytes));
const dataOf = (content: ArrayBuffer): ContentInfo =>
  new ContentInfo({ contentType: oid.data, content: der(new OctetString(content)) });

/**
 * Returns a private key (PKCS#8, DER) and its certificate as PKCS#12 with an empty password. The result is not
 * encrypted, so callers must encrypt it before sending.
 */
export function openPfx(privateKey: Buffer, certificatePem: string): Buffer {
  const certificate = new X509Certificate(certificatePem).raw;
  const certBag = new CertBag({ certId: id_x509Certificate, certValue: der(octets(certificate)) });
  const safe = new SafeContents([
    new SafeBag({ bagId: id_keyBag, bagValue: own(privateKey) }),
    new SafeBag({ bagId: id_certBag, bagValue: der(certBag) }),
  ]);
  const content = der(new AuthenticatedSafe([dataOf(der(safe))]));
  return Buffer.from(der(new PFX({ version: 3, authSafe: dataOf(content), macData: macOf(Buffer.from(content)) })));
}

/**
 * Computes the MAC with a key derived as in RFC 7292, appendix B. The key is as long as a digest, so one round is
 * enough: the digest of the purpose (3 for MAC), the salt and the password, each repeated to 64 bytes. An empty
 * password consists of two zero bytes, its terminator.
 */
function macOf(content: Buffer): MacData {
  const salt = randomBytes(8);
  const filled = Buffer.concat([Buffer.alloc(64, 3), Buffer.alloc(64, salt), Buffer.alloc(64, 0)]);
  const key = createHash('sha256').update(filled).digest();
  return new MacData({
    mac: new DigestInfo({
      digestAlgorithm: new AlgorithmIdentifier({ algorithm: oid.sha256, parameters: new Uint8Array([5, 0]).buffer }),
      digest: octets(createHmac('sha256', key).update(content).digest()),
    }),
    macSalt: octets(salt),
    iterations: 1,
  });
}
