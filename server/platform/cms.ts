import {
  constants,
  createCipheriv,
  createECDH,
  createHash,
  createPublicKey,
  publicEncrypt,
  randomBytes,
  verify,
  X509Certificate,
} from 'node:crypto';
import {
  CMSVersion,
  ContentInfo,
  EncryptedContent,
  EncryptedContentInfo,
  EnvelopedData,
  IssuerAndSerialNumber,
  KeyAgreeRecipientIdentifier,
  KeyAgreeRecipientInfo,
  KeyTransRecipientInfo,
  OriginatorIdentifierOrKey,
  OriginatorPublicKey,
  RecipientEncryptedKey,
  RecipientEncryptedKeys,
  RecipientIdentifier,
  RecipientInfo,
  RecipientInfos,
} from '@peculiar/asn1-cms';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier, Certificate } from '@peculiar/asn1-x509';

const oid = {
  data: '1.2.840.113549.1.7.1',
  envelopedData: '1.2.840.113549.1.7.3',
  rsaEncryption: '1.2.840.113549.1.1.1',
  aes256Cbc: '2.16.840.1.101.3.4.1.42',
  aes256Wrap: '2.16.840.1.101.3.4.1.45',
  ecPublicKey: '1.2.840.10045.2.1',
  ecdhSha256Kdf: '1.3.132.1.11.1',
} as const;

const derNull = new Uint8Array([5, 0]).buffer;

/**
 * Copies the bytes, because the ASN.1 classes need an ArrayBuffer, and a Buffer may be a view of a larger ArrayBuffer.
 */
const own = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

const der = (value: unknown): ArrayBuffer => AsnConvert.serialize(value);

/**
 * Encrypts for the holder of a certificate's key. Returns CMS EnvelopedData (AES-256-CBC) as DER. RSA keys use PKCS#1
 * v1.5, which existing handlers can decrypt with `openssl smime`; P-256 keys use ECDH with SHA-256. Throws for other
 * kinds of keys, which enrollment rejects.
 */
export function encryptForCertificate(pem: string, plain: Buffer): Buffer {
  const certificate = new X509Certificate(pem);
  const parsed = AsnConvert.parse(own(certificate.raw), Certificate);
  const recipient = new IssuerAndSerialNumber({
    issuer: parsed.tbsCertificate.issuer,
    serialNumber: parsed.tbsCertificate.serialNumber,
  });
  const contentKey = randomBytes(32);
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', contentKey, iv);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);

  const isRsa = certificate.publicKey.asymmetricKeyType === 'rsa';
  const info = isRsa
    ? new RecipientInfo({ ktri: wrapForRsa(certificate, recipient, contentKey) })
    : new RecipientInfo({ kari: wrapForP256(certificate, recipient, contentKey) });

  const enveloped = new EnvelopedData({
    version: isRsa ? CMSVersion.v0 : CMSVersion.v2,
    recipientInfos: new RecipientInfos([info]),
    encryptedContentInfo: new EncryptedContentInfo({
      contentType: oid.data,
      contentEncryptionAlgorithm: new AlgorithmIdentifier({
        algorithm: oid.aes256Cbc,
        parameters: der(new OctetString(own(iv))),
      }),
      encryptedContent: new EncryptedContent({ value: new OctetString(own(body)) }),
    }),
  });
  return Buffer.from(der(new ContentInfo({ contentType: oid.envelopedData, content: der(enveloped) })));
}

function wrapForRsa(certificate: X509Certificate, rid: IssuerAndSerialNumber, key: Buffer): KeyTransRecipientInfo {
  const encrypted = publicEncrypt({ key: certificate.publicKey, padding: constants.RSA_PKCS1_PADDING }, key);
  return new KeyTransRecipientInfo({
    version: CMSVersion.v0,
    rid: new RecipientIdentifier({ issuerAndSerialNumber: rid }),
    keyEncryptionAlgorithm: new AlgorithmIdentifier({ algorithm: oid.rsaEncryption, parameters: derNull }),
    encryptedKey: new OctetString(own(encrypted)),
  });
}

/** Wraps the content key as in RFC 5753, with a key derived from an ephemeral key and the recipient's key. */
function wrapForP256(certificate: X509Certificate, rid: IssuerAndSerialNumber, key: Buffer): KeyAgreeRecipientInfo {
  const jwk = certificate.publicKey.export({ format: 'jwk' });
  if (jwk.crv !== 'P-256' || !jwk.x || !jwk.y) throw new Error('only RSA and P-256 certificates can be sealed for');
  const theirs = Buffer.concat([Buffer.from([4]), Buffer.from(jwk.x, 'base64url'), Buffer.from(jwk.y, 'base64url')]);
  const ephemeral = createECDH('prime256v1');
  ephemeral.generateKeys();
  const shared = ephemeral.computeSecret(theirs);

  const wrap = new AlgorithmIdentifier({ algorithm: oid.aes256Wrap });
  const kek = createHash('sha256')
    .update(shared)
    .update(Buffer.from([0, 0, 0, 1]))
    .update(eccSharedInfo(wrap))
    .digest();
  const cipher = createCipheriv('id-aes256-wrap', kek, Buffer.alloc(8, 0xa6));
  const wrapped = Buffer.concat([cipher.update(key), cipher.final()]);

  return new KeyAgreeRecipientInfo({
    version: CMSVersion.v3,
    originator: new OriginatorIdentifierOrKey({
      originatorKey: new OriginatorPublicKey({
        algorithm: new AlgorithmIdentifier({ algorithm: oid.ecPublicKey, parameters: p256Parameters }),
        publicKey: own(ephemeral.getPublicKey()),
      }),
    }),
    keyEncryptionAlgorithm: new AlgorithmIdentifier({ algorithm: oid.ecdhSha256Kdf, parameters: der(wrap) }),
    recipientEncryptedKeys: new RecipientEncryptedKeys([
      new RecipientEncryptedKey({
        rid: new KeyAgreeRecipientIdentifier({ issuerAndSerialNumber: rid }),
        encryptedKey: new OctetString(own(wrapped)),
      }),
    ]),
  });
}

/** DER of the OBJECT IDENTIFIER prime256v1. */
const p256Parameters = new Uint8Array([0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]).buffer;

/** Returns ECC-CMS-SharedInfo as DER: the wrap algorithm, and its key length in bits as [2] OCTET STRING. */
function eccSharedInfo(wrap: AlgorithmIdentifier): Buffer {
  const algorithm = Buffer.from(der(wrap));
  const suppPubInfo = Buffer.from([0xa2, 0x06, 0x04, 0x04, 0x00, 0x00, 0x01, 0x00]);
  const body = Buffer.concat([algorithm, suppPubInfo]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

/** A certificate to encrypt for, with its digests. */
export interface SealingCertificate {
  /** The certificate as normalized PEM. */
  pem: string;
  /** SHA-1 of the DER in uppercase hex, as in `protectedSettingsCertThumbprint`. */
  thumbprint: string;
  /** SHA-256 of the public key (SPKI) in hex. */
  keyHash: string;
}

/**
 * Parses a PEM certificate. Returns null if it is malformed, or if its key is neither RSA with at least 2048 bits nor
 * P-256.
 */
export function readSealingCertificate(pem: string): SealingCertificate | null {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch {
    return null;
  }
  const key = certificate.publicKey;
  const details = key.asymmetricKeyDetails;
  const isRsa = key.asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= 2048;
  const isP256 = key.asymmetricKeyType === 'ec' && details?.namedCurve === 'prime256v1';
  if (!isRsa && !isP256) return null;
  const spki = createPublicKey(key.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'der' });
  return {
    pem: certificate.toString(),
    thumbprint: createHash('sha1').update(certificate.raw).digest('hex').toUpperCase(),
    keyHash: createHash('sha256').update(spki).digest('hex'),
  };
}

/**
 * Whether the holder of the certificate's key signed these bytes with SHA-256. RSA signatures can be PKCS#1 v1.5 or
 * PSS; P-256 signatures can be DER or `r` and `s` concatenated.
 */
export function isSignedBy(pem: string, bytes: Buffer, signature: Buffer): boolean {
  const key = new X509Certificate(pem).publicKey;
  const forms =
    key.asymmetricKeyType === 'rsa'
      ? [{ padding: constants.RSA_PKCS1_PADDING }, { padding: constants.RSA_PKCS1_PSS_PADDING }]
      : [{ dsaEncoding: 'der' as const }, { dsaEncoding: 'ieee-p1363' as const }];
  return forms.some((form) => verify('sha256', bytes, { key, ...form }, signature));
}
