import { and, asc, gt, isNotNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { secrets } from '#db/schema/index.ts';
import { type Keys, seal, unseal } from '#server/platform/keys.ts';
import { boundTo, fingerprintOf } from './custody.ts';
import { rekeyedEntries } from './setting-entries.ts';

const atOnce = 500;

/**
 * Reseals, with the keys `to`, every secret that has a sealed form, and renews its fingerprints. Returns the number of
 * secrets. Copies that are encrypted for VMs do not change.
 */
export async function resealSecrets(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  let [total, last] = [0, { vmId: '00000000-0000-0000-0000-000000000000', id: '00000000-0000-0000-0000-000000000000' }];
  for (;;) {
    const rows = await tx
      .select({
        vmId: secrets.vmId,
        id: secrets.id,
        name: secrets.name,
        sealed: secrets.sealed,
        entries: secrets.entries,
      })
      .from(secrets)
      .where(and(isNotNull(secrets.sealed), gt(sql`(${secrets.vmId}, ${secrets.id})`, sql`(${last.vmId}, ${last.id})`)))
      .orderBy(asc(secrets.vmId), asc(secrets.id))
      .limit(atOnce);
    const resealed = rows.map((row) => {
      const { vmId, id, name, sealed } = row;
      const plain = unseal(from.sealing, sealed ?? Buffer.alloc(0), boundTo(vmId, id));
      const value: unknown = JSON.parse(plain.toString());
      const fingerprint = fingerprintOf({ keys: to }, vmId, name, value);
      const entries = rekeyedEntries({ keys: from }, { keys: to }, row, value);
      const again = seal(to.sealing, plain, boundTo(vmId, id)).toString('base64');
      plain.fill(0);
      return { vm_id: vmId, id, sealed: again, fingerprint, entries };
    });
    await tx.execute(sql`
      update secrets s set sealed = decode(r.sealed, 'base64'), fingerprint = r.fingerprint, entries = r.entries
        from json_to_recordset(${JSON.stringify(resealed)}::json)
          as r(vm_id uuid, id uuid, sealed text, fingerprint text, entries json)
       where s.vm_id = r.vm_id and s.id = r.id`);
    total += rows.length;
    const end = rows.at(-1);
    if (end === undefined || rows.length < atOnce) return total;
    last = end;
  }
}
