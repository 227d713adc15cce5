import { constants, createDecipheriv, privateDecrypt } from 'node:crypto';
import { join } from 'node:path';
import { ContentInfo, EnvelopedData } from '@peculiar/asn1-cms';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import type { AgentLayout } from '../folder/layout.ts';
import { readText } from '../folder/write-file.ts';

const aes256Cbc = '2.16.840.1.101.3.4.1.42';

/**
 * Decrypts protected settings or secret parameters in memory with one of this machine's keys. Returns null if the
 * machine does not have the key. Throws if the format is not supported. The agent uses decrypted settings of extensions
 * only to mask them in what it reports.
 */
export function openSealed(layout: AgentLayout, thumbprint: string, base64: string): unknown {
  const text = openSealedText(layout, thumbprint, base64);
  return text === null ? null : JSON.parse(text);
}

/** Like `openSealed`, but returns the text of the JSON, in which numbers keep all their digits. */
export function openSealedText(layout: AgentLayout, thumbprint: string, base64: string): string | null {
  if (!/^[0-9A-F]{40}$/i.test(thumbprint)) return null;
  const key = readText(join(layout.certificates, `${thumbprint.toUpperCase()}.prv`));
  if (key === null) return null;
  const content = AsnConvert.parse(Buffer.from(base64, 'base64'), ContentInfo).content;
  const { recipientInfos, encryptedContentInfo } = AsnConvert.parse(content, EnvelopedData);
  const wrapped = [...recipientInfos].find(({ ktri }) => ktri !== undefined)?.ktri?.encryptedKey;
  const { algorithm, parameters } = encryptedContentInfo.contentEncryptionAlgorithm;
  const sealed = encryptedContentInfo.encryptedContent;
  const parts = sealed?.value === undefined ? sealed?.constructedValue : [sealed.value];
  if (wrapped === undefined || parts === undefined || algorithm !== aes256Cbc || !parameters) {
    throw new Error('their encryption is not supported by this agent');
  }
  const contentKey = privateDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(wrapped.buffer));
  const iv = Buffer.from(AsnConvert.parse(parameters, OctetString).buffer);
  const cipher = createDecipheriv('aes-256-cbc', contentKey, iv);
  const plain = Buffer.concat([...parts.map((part) => cipher.update(Buffer.from(part.buffer))), cipher.final()]);
  return plain.toString('utf8');
}
