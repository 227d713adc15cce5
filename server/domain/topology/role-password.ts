import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { vmRoles } from '#db/schema/index.ts';
import { type Keys, seal, unseal } from '#server/platform/keys.ts';

/** Authenticated data that binds an encrypted password to its role, so that it cannot be decrypted for another one. */
const boundTo = (vmId: string): string => `${vmId}/role-password`;

/** Returns a new random password. */
export const newPassword = (): string => randomBytes(18).toString('base64url');

/** Encrypts the password of a role for the database. */
export const sealPassword = (keys: Pick<Keys, 'sealing'>, vmId: string, password: string): Buffer =>
  seal(keys.sealing, Buffer.from(password), boundTo(vmId));

/** Decrypts the password of a role, for the provider. */
export const openPassword = (keys: Pick<Keys, 'sealing'>, vmId: string, sealed: Buffer): string =>
  unseal(keys.sealing, sealed, boundTo(vmId)).toString();

/** Encrypts the passwords of all roles again, with the keys `to`. Returns the number of passwords. */
export async function resealRolePasswords(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  const rows = await tx.select({ vmId: vmRoles.vmId, password: vmRoles.password }).from(vmRoles);
  for (const { vmId, password } of rows) {
    await tx
      .update(vmRoles)
      .set({ password: sealPassword(to, vmId, openPassword(from, vmId, password)) })
      .where(eq(vmRoles.vmId, vmId));
  }
  return rows.length;
}
