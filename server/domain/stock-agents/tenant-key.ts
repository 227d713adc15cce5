import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import { cryptoProvider, X509CertificateGenerator } from '@peculiar/x509';
import { eq, isNotNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { stockAgents } from '#db/schema/index.ts';
import { readSealingCertificate, type SealingCertificate } from '#server/platform/cms.ts';
import type { Keys } from '#server/platform/keys.ts';
import { seal, unseal } from '#server/platform/keys.ts';

/** A key pair that protects the settings sent to a stock agent. */
export interface TenantKey {
  certificate: SealingCertificate;
  /** PKCS#8, DER. In plain text only until it is encrypted. */
  privateKey: Buffer;
}

const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2048,
};
const day = 24 * 3_600_000;

/**
 * Creates a tenant key with a self-signed certificate. Takes a tenth of a second, so call it outside transactions.
 */
export async function createTenantKey(now: Date): Promise<TenantKey> {
  cryptoProvider.set(webcrypto as Crypto);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ['Annex tenant'] }],
    notBefore: new Date(now.getTime() - day),
    // Nothing checks the expiry. An operator can replace the key; with `ANNEX_CUSTODY=vm`, a new transport certificate
    // also requires a new key.
    notAfter: new Date(now.getTime() + 20 * 365 * day),
    signingAlgorithm: algorithm,
    keys: keys as CryptoKeyPair,
  });
  const certificate = readSealingCertificate(made.toString('pem'));
  if (certificate === null) throw new Error('the tenant certificate cannot encrypt settings');
  return { certificate, privateKey: Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)) };
}

/** Authenticated data that binds an encrypted key to its VM, so that it cannot be decrypted for another VM. */
const boundTo = (vmId: string): string => `${vmId}/tenant-key`;

/** Encrypts the key for the database, and erases it from memory. */
export function sealTenantKey(keys: Keys, vmId: string, { privateKey }: TenantKey): Buffer {
  const sealed = seal(keys.tenant, privateKey, boundTo(vmId));
  privateKey.fill(0);
  return sealed;
}

export const openTenantKey = (keys: Keys, vmId: string, sealed: Buffer): Buffer =>
  unseal(keys.tenant, sealed, boundTo(vmId));

/** Encrypts every stored tenant key again, with the keys `to`. Returns the number of keys. */
export async function resealTenantKeys(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  const { vmId, tenantKey } = stockAgents;
  const rows = await tx.select({ vmId, tenantKey }).from(stockAgents).where(isNotNull(tenantKey));
  for (const row of rows) {
    const plain = openTenantKey(from, row.vmId, row.tenantKey ?? Buffer.alloc(0));
    await tx
      .update(stockAgents)
      .set({ tenantKey: seal(to.tenant, plain, boundTo(row.vmId)) })
      .where(eq(vmId, row.vmId));
    plain.fill(0);
  }
  return rows.length;
}
