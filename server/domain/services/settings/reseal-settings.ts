import { and, eq, isNotNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { serviceSettings } from '#db/schema/index.ts';
import type { Keys } from '#server/platform/keys.ts';
import { openServiceSecret, sealServiceSecret, secretFingerprint } from './service-secret.ts';

/** Encrypts the protected settings of all services again, with the keys `to`. Returns the number of secrets. */
export async function resealServiceSettings(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  const rows = await tx
    .select({ serviceId: serviceSettings.serviceId, version: serviceSettings.version, secret: serviceSettings.secret })
    .from(serviceSettings)
    .where(isNotNull(serviceSettings.secret));
  for (const { serviceId, version, secret } of rows) {
    if (secret === null) continue;
    const plain = openServiceSecret({ keys: from }, { serviceId, version, secret });
    await tx
      .update(serviceSettings)
      .set({
        secret: sealServiceSecret(to, { serviceId, version }, plain),
        secretFingerprint: secretFingerprint({ keys: to }, serviceId, JSON.parse(plain.toString())),
      })
      .where(and(eq(serviceSettings.serviceId, serviceId), eq(serviceSettings.version, version)));
    plain.fill(0);
  }
  return rows.length;
}
